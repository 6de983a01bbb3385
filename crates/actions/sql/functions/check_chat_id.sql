-- Raises ZA003 with the column chatId for what can be no chat id.
create or replace function actions.check_chat_id(p_chat_id text) returns void language plpgsql immutable as $$
begin
    if actions.is_id(p_chat_id) is not true then
        raise exception '`chatId` has 1 to 128 characters that can be seen' using errcode = 'ZA003', column = 'chatId';
    end if;
end
$$;
