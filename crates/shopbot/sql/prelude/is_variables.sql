-- Whether these are variables of a bot: an object of texts of at most 500 characters under plain names, none of which
-- means something already.
-- Guarantee: never null and never an error.
create or replace function shopbot.is_variables(p_variables jsonb)
returns boolean language sql immutable parallel safe as $$
    select case when jsonb_typeof(p_variables) is distinct from 'object' then false else
        not exists (select from jsonb_each(p_variables) v
                     where v.key !~ '^[a-z][a-z0-9_]{0,39}$' or v.key in ('customer_name', 'turns')
                        or jsonb_typeof(v.value) <> 'string' or char_length(v.value #>> '{}') > 500)
    end
$$;
