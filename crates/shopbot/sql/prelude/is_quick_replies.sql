-- Whether these are quick replies that both messengers take: at most 30 rows of 1 to 7 buttons {"text", "payload"?}.
-- What comes back when a button is pressed (its payload, or its text when it has none) has at most 64 bytes: Telegram's
-- limit. Guarantee: never null and never an error.
create or replace function shopbot.is_quick_replies(p_buttons jsonb)
returns boolean language sql immutable parallel safe as $$
    select case when jsonb_typeof(p_buttons) is distinct from 'array' or jsonb_array_length(p_buttons) > 30 then false
        else
        not exists (select from jsonb_array_elements(p_buttons) r (row_of)
                     where jsonb_typeof(row_of) <> 'array'
                        or case when jsonb_typeof(row_of) = 'array'
                            then jsonb_array_length(row_of) not between 1 and 7 end)
        and not exists (select from jsonb_array_elements(p_buttons) r (row_of),
                               jsonb_array_elements(case when jsonb_typeof(row_of) = 'array' then row_of
                                                    else '[]' end) b (button)
                         where case when jsonb_typeof(button) = 'object' then
                                   button - '{text,payload}'::text[] <> '{}'
                                   or jsonb_typeof(button->'text') is distinct from 'string'
                                   or jsonb_typeof(coalesce(button->'payload', '""')) <> 'string'
                                   or char_length(button->>'text') not between 1 and 128
                                   or octet_length(coalesce(button->>'payload', button->>'text')) not between 1 and 64
                               else true end)
    end
$$;
