-- An optional JSON object from outside, with JSON's null as SQL's. Its size is what the bus and its watchers can carry,
-- as it is stored and as it is written: a number of five characters may be written with three hundred. Its depth leaves
-- room for the lists that it is told in. Raises ZA003 with the name of the field as its column.
create or replace function actions.check_object(p_field text, p_value jsonb, p_bytes_max int) returns jsonb
language plpgsql immutable as $$
begin
    if p_value is null or jsonb_typeof(p_value) = 'null' then
        return null;
    elsif jsonb_typeof(p_value) <> 'object' then
        raise exception '`%` is a JSON object', p_field using errcode = 'ZA003', column = p_field;
    elsif greatest(pg_column_size(p_value), octet_length(p_value::text)) > p_bytes_max then
        raise exception '`%` is larger than % bytes', p_field, p_bytes_max using errcode = 'ZA003', column = p_field;
    elsif jsonb_path_exists(p_value, 'strict $.**{33}') then
        raise exception '`%` is more than 32 levels deep', p_field using errcode = 'ZA003', column = p_field;
    end if;
    return p_value;
end
$$;
