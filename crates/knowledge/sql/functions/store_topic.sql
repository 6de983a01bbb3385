-- What a service message tells of a topic of a forum: its name, and whether it is closed. Guarantee: the latest one of
-- each decides, whatever the order in which they come; a new name says nothing of the state.
create or replace function knowledge.store_topic(
    p_workspace_id uuid, p_chat_id bigint, p_topic jsonb, p_told_at timestamptz
) returns void language sql as $$
    insert into tg.topics as t (workspace_id, chat_id, thread_id, name, is_closed, named_at, state_at)
    values (p_workspace_id, p_chat_id, (p_topic ->> 'thread_id')::int, p_topic ->> 'name',
            p_topic ->> 'state' = 'closed', case when p_topic ->> 'name' is not null then p_told_at end,
            case when p_topic ->> 'state' <> 'edited' then p_told_at end)
    on conflict (workspace_id, chat_id, thread_id) do update
       set name = case when excluded.named_at >= coalesce(t.named_at, excluded.named_at)
                       then excluded.name else t.name end,
           named_at = greatest(t.named_at, excluded.named_at),
           is_closed = case when excluded.state_at >= coalesce(t.state_at, excluded.state_at)
                            then excluded.is_closed else t.is_closed end,
           state_at = greatest(t.state_at, excluded.state_at), seen_at = platform.now()
$$;
