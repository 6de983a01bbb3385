-- What names an action: its id, and its chat and type where they are given.
-- Raises ZA003 with the name of the field as its column.
create or replace function actions.check_ids(p_action_id text, p_chat_id text, p_action_type text)
returns void language plpgsql as $$
begin
    if actions.is_id(p_action_id) is not true then
        raise exception '`actionId` has 1 to 128 characters that can be seen' using errcode = 'ZA003',
            column = 'actionId';
    elsif p_action_type is not null and not (actions.is_id(p_action_type) and char_length(p_action_type) <= 64) then
        raise exception '`actionType` has 1 to 64 characters that can be seen' using errcode = 'ZA003',
            column = 'actionType';
    elsif p_chat_id is not null then
        perform actions.check_chat_id(p_chat_id);
    end if;
end
$$;
