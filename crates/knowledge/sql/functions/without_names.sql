-- A value of Telegram without the names of a person or, given null, of every person and chat in it. Who it is about
-- stays, by number, so that an update which was not read yet still tells who came and went.
create or replace function knowledge.without_names(p_value jsonb, p_user_id bigint) returns jsonb
language plpgsql immutable as $$
declare
    names constant text[] := '{first_name,last_name,username,title,language_code}';
begin
    if p_value is null then
        return null;
    elsif jsonb_typeof(p_value) = 'array' then
        return (select coalesce(jsonb_agg(knowledge.without_names(e.value, p_user_id) order by e.n), '[]')
                  from jsonb_array_elements(p_value) with ordinality e (value, n));
    elsif jsonb_typeof(p_value) <> 'object' then
        return p_value;
    end if;
    if p_value ? 'id' and (p_user_id is null or p_value -> 'id' = to_jsonb(p_user_id)) then
        p_value := p_value - names;
    end if;
    return (select coalesce(jsonb_object_agg(e.key, knowledge.without_names(e.value, p_user_id)), '{}')
              from jsonb_each(p_value) e);
end
$$;
