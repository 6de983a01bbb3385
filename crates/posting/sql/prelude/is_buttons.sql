-- Whether this is a keyboard of buttons that open an address. What every provider takes passes, and rows of up to
-- eight, which Telegram takes: MAX refuses rows of more than three itself.
create or replace function posting.is_buttons(p_buttons jsonb) returns boolean
language sql immutable parallel safe as $$
    select case
        when jsonb_typeof(p_buttons) is distinct from 'array' or jsonb_array_length(p_buttons) > 30 then false else
        not exists (select from jsonb_array_elements(p_buttons) r (row_of)
                     where jsonb_typeof(row_of) <> 'array'
                        or case when jsonb_typeof(row_of) = 'array'
                                then jsonb_array_length(row_of) not between 1 and 8 end)
        and not exists (select from jsonb_array_elements(p_buttons) r (row_of),
                               jsonb_array_elements(case when jsonb_typeof(row_of) = 'array' then row_of
                                                         else '[]' end) b (button)
                         where jsonb_typeof(button) <> 'object'
                            or jsonb_typeof(button->'text') is distinct from 'string'
                            or char_length(button->>'text') not between 1 and 128
                            or coalesce(button->>'url', '') !~* '^https?://\S+$' or char_length(button->>'url') > 2048
                            or exists (select from jsonb_object_keys(case
                                                                     when jsonb_typeof(button) = 'object' then button
                                                                          else '{}' end) k
                                        where k not in ('text', 'url')))
    end
$$;
