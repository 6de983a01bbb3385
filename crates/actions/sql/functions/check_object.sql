-- An optional JSON object from outside, with JSON's null as SQL's; its size is what the bus and its watchers can carry.
-- Raises ZA003 with the name of the field as its column.
create or replace function actions.check_object(p_field text, p_value jsonb, p_bytes_max int) returns jsonb
language plpgsql immutable as $$
begin
    if p_value is null or jsonb_typeof(p_value) = 'null' then
        return null;
    elsif jsonb_typeof(p_value) <> 'object' then
        raise exception '`%` is a JSON object', p_field using errcode = 'ZA003', column = p_field;
    elsif pg_column_size(p_value) > p_bytes_max then
        raise exception '`%` is larger than % bytes', p_field, p_bytes_max using errcode = 'ZA003', column = p_field;
    end if;
    return p_value;
end
$$;
