-- WF20: stores what an update says, in one transaction. p_facts is what the program read from it, p_payload the
-- message without what it quotes of others. Guarantees: again, or in another order, it leads to the same rows; of a
-- chat that is not registered and of people who are not on the allowlist nothing is kept but the chat's name; what was
-- forgotten does not come back. Returns chat_id, message_id, message_fk, message_version_id, created_jobs, and kept.
create or replace function knowledge.store_facts(
    p_workspace_id uuid, p_bot_id uuid, p_facts jsonb, p_payload jsonb, p_trace_id text
) returns jsonb language plpgsql as $$
declare
    chat jsonb := p_facts -> 'chat';
    message jsonb := nullif(p_facts -> 'message', 'null');
    of_chat bigint := (p_facts #>> '{chat,chat_id}')::bigint;
    said jsonb := jsonb_build_object('chat_id', of_chat, 'message_id', message -> 'message_id', 'message_fk', null,
                                     'message_version_id', null,
                                     'created_jobs', jsonb_build_object('url_jobs', '[]'::jsonb, 'file_jobs',
                                         '[]'::jsonb),
                                     'kept', false);
    was_forgotten boolean;
    -- People in it who were forgotten.
    gone bigint[];
    person bigint;
    told constant timestamptz := coalesce((p_facts ->> 'at')::timestamptz, platform.now());
    pinned constant int := (p_facts ->> 'pinned_message_id')::int;
    audience record;
begin
    if of_chat is null then
        return said;
    end if;
    if nullif(p_facts -> 'press', 'null') is not null then
        perform knowledge.record_press(p_workspace_id, of_chat, (p_facts #>> '{press,tg_user_id}')::bigint,
                                       (p_facts #>> '{press,turn_id}')::bigint,
                                       (p_facts #>> '{press,is_useful}')::boolean);
        return said;
    end if;
    -- Nothing is stored while something is forgotten (knowledge.forget) or a chat moves; /forget itself is both.
    if message #>> '{command,name}' = 'forget' or nullif(p_facts -> 'migration', 'null') is not null then
        perform pg_advisory_xact_lock(hashtextextended(p_workspace_id::text, 12));
    else
        perform pg_advisory_xact_lock_shared(hashtextextended(p_workspace_id::text, 12));
    end if;
    was_forgotten := message is not null and knowledge.is_forgotten(
        p_workspace_id, of_chat, (message ->> 'message_id')::int, (message ->> 'tg_user_id')::bigint,
        (message ->> 'date')::timestamptz);
    insert into tg.chats as c (workspace_id, chat_id, type, title, username, is_forum, bot_is_here, told_at)
    values (p_workspace_id, of_chat, chat ->> 'type', case when not was_forgotten then chat ->> 'title' end,
            case when not was_forgotten then chat ->> 'username' end,
            coalesce((chat ->> 'is_forum')::boolean, false), not coalesce((p_facts ->> 'bot_removed')::boolean, false),
            told)
    on conflict (workspace_id, chat_id) do update
       set type = excluded.type, title = excluded.title, username = excluded.username, is_forum = excluded.is_forum,
           bot_is_here = excluded.bot_is_here, told_at = excluded.told_at, seen_at = platform.now()
     where not was_forgotten and (c.told_at is null or c.told_at <= excluded.told_at);
    if nullif(p_facts -> 'migration', 'null') is not null then
        perform knowledge.migrate_chat(p_workspace_id, (p_facts #>> '{migration,from_chat_id}')::bigint,
                                       (p_facts #>> '{migration,to_chat_id}')::bigint);
    end if;
    perform knowledge.obey_more(p_workspace_id, p_bot_id, p_facts);
    perform knowledge.obey(p_workspace_id, p_bot_id, p_facts);
    if message is not null then
        perform knowledge.refuse_stranger(p_workspace_id, p_bot_id, p_facts);
    end if;

    select * into audience
      from knowledge.audience_of(p_workspace_id, of_chat, chat ->> 'type', (message ->> 'tg_user_id')::bigint);
    if audience.visibility is null then
        return said;
    end if;
    if was_forgotten then
        -- That a person came or went is still true: access is judged by it.
        perform knowledge.store_members(p_workspace_id, knowledge.chat_now(p_workspace_id, of_chat), (
            select coalesce(jsonb_agg(m), '[]') from jsonb_array_elements(p_facts -> 'members') m
             where m ->> 'source' <> 'message'));
        return said || '{"forgotten": true}';
    end if;
    gone := array_remove(knowledge.people_forgotten(p_workspace_id, p_payload, p_facts -> 'users'),
                         (message ->> 'tg_user_id')::bigint);
    if gone <> '{}' then
        if (message #>> '{forward_origin,tg_user_id}')::bigint = any (gone) then
            message := message || jsonb_build_object(
                'forward_origin', (message -> 'forward_origin') - '{name,signature}'::text[]);
        end if;
        foreach person in array gone loop
            p_payload := knowledge.without_names(p_payload, person);
            message := knowledge.without_names(message, person);
        end loop;
    end if;
    insert into tg.users as u (workspace_id, tg_user_id, is_bot, first_name, last_name, username, language_code)
    select distinct on (p.tg_user_id) p_workspace_id, p.tg_user_id, coalesce(p.is_bot, false), p.first_name,
        p.last_name,
           p.username, p.language_code
      from jsonb_to_recordset(p_facts -> 'users')
           as p (tg_user_id bigint, is_bot boolean, first_name text, last_name text, username text, language_code text)
     where p.tg_user_id <> all (gone) and p.first_name is not null
     order by p.tg_user_id
    on conflict (workspace_id, tg_user_id) do update
       set first_name = excluded.first_name, last_name = excluded.last_name, username = excluded.username,
           language_code = coalesce(excluded.language_code, u.language_code), seen_at = platform.now();
    perform knowledge.store_members(
        p_workspace_id, knowledge.chat_now(p_workspace_id, of_chat), p_facts -> 'members');
    if nullif(p_facts -> 'topic', 'null') is not null then
        perform knowledge.store_topic(p_workspace_id, of_chat, p_facts -> 'topic', told);
    end if;
    if pinned is not null then
        perform knowledge.await_turn_at_message(p_workspace_id, of_chat, pinned);
        update tg.messages set is_pinned = true
         where (workspace_id, chat_id, message_id) = (p_workspace_id, of_chat, pinned);
    end if;
    if message is not null then
        said := said || '{"kept": true}' || knowledge.store_message(
            p_workspace_id, p_bot_id, of_chat, audience.visibility, audience.dm_owner_user_id,
            message || jsonb_build_object('update_id', p_facts -> 'update_id', 'pins_message_id', pinned), p_payload,
            p_trace_id);
        perform knowledge.take_question(p_workspace_id, p_bot_id, p_facts, (said ->> 'message_fk')::bigint,
                                        (said ->> 'message_version_id')::bigint, p_trace_id);
    end if;
    perform bus.publish(p_workspace_id, 'knowledge', jsonb_build_object('type', 'update'));
    return said;
end
$$;
