-- Says something in a chat. Public, as start_action is.
-- Guarantee: messages of a chat have numbers without holes, in the order in which they become visible. Sending the same
-- id again changes nothing and publishes nothing; without an id every call is a new message.
-- Returns {outcome: created | unchanged, message}.
-- Raises ZA005 for the same id with another content, ZA003 (with the field as its column) for what can be no message.
create or replace function actions.add_message(
    p_workspace_id uuid, p_chat_id text, p_role text, p_text text, p_message_id text default null,
    p_metadata jsonb default null
) returns jsonb language plpgsql as $$
declare
    given constant jsonb := actions.check_object('metadata', p_metadata, 16384);
    id constant text := coalesce(p_message_id, platform.new_id()::text);
    message actions.messages;
    next_seq bigint;
begin
    if actions.is_id(id) is not true then
        raise exception '`messageId` has 1 to 128 characters that can be seen' using errcode = 'ZA003',
            column = 'messageId';
    elsif (p_role in ('user', 'bot', 'system')) is not true then
        raise exception '`role` is user, bot or system' using errcode = 'ZA003', column = 'role';
    elsif (char_length(p_text) between 1 and 8000) is not true then
        raise exception '`text` has 1 to 8000 characters' using errcode = 'ZA003', column = 'text';
    end if;
    -- The chat is held from here on: its messages take turns, and a repeat finds the first one whole. Not by the lock
    -- of its row: a transaction that waits for one has its id already, and the bus tells messages in the order of those
    -- ids.
    perform pg_advisory_xact_lock(hashtextextended('actions.chat:' || p_workspace_id || ':' || p_chat_id, 0));
    select * into message from actions.messages m
     where m.workspace_id = p_workspace_id and m.chat_id = p_chat_id and m.message_id = id;
    if found then
        if (message.role, message.text, message.metadata) is distinct from (p_role, p_text, given) then
            raise exception 'message % has another content', id using errcode = 'ZA005';
        end if;
        return jsonb_build_object('outcome', 'unchanged', 'message', actions.chat_message(message));
    end if;
    perform actions.open_chat(p_workspace_id, p_chat_id);
    update actions.chats c set last_seq = c.last_seq + 1, active_at = greatest(c.active_at, platform.now())
     where c.workspace_id = p_workspace_id and c.chat_id = p_chat_id
    returning c.last_seq into next_seq;
    insert into actions.messages (workspace_id, chat_id, seq, message_id, role, text, metadata)
    values (p_workspace_id, p_chat_id, next_seq, id, p_role, p_text, given)
    returning * into message;
    perform bus.publish(p_workspace_id, actions.topic(p_chat_id),
        jsonb_build_object('type', 'message', 'message', actions.chat_message(message)));
    return jsonb_build_object('outcome', 'created', 'message', actions.chat_message(message));
end
$$;
