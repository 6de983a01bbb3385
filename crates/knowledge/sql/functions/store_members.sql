-- Who came, went or showed to be there. Guarantees: the latest event decides, whatever the order in which events come;
-- an event that comes again changes nothing; a message shows that its sender was there and not in which rank, and
-- undoes nothing of the same second: a person who leaves may have spoken just before.
create or replace function knowledge.store_members(p_workspace_id uuid, p_chat_id bigint, p_members jsonb) returns void
language sql as $$
    insert into tg.chat_member_events (workspace_id, chat_id, tg_user_id, status, is_member, at, source)
    select p_workspace_id, p_chat_id, m.tg_user_id, m.status, m.is_member, m.at, m.source
      from jsonb_to_recordset(p_members)
           as m (tg_user_id bigint, status text, is_member boolean, at timestamptz, source text)
     where m.source <> 'message'
       and not knowledge.is_forgotten(p_workspace_id, p_chat_id, null, m.tg_user_id, m.at)
    on conflict on constraint member_event_is_there_once do nothing;

    insert into tg.chat_memberships_current as c
        (workspace_id, chat_id, tg_user_id, status, is_member, changed_at, proved_at)
    select distinct on (m.tg_user_id)
           p_workspace_id, p_chat_id, m.tg_user_id, m.status, m.is_member, m.at, m.at
      from jsonb_to_recordset(p_members)
           as m (tg_user_id bigint, status text, is_member boolean, at timestamptz, source text)
     where m.source <> 'message'
     order by m.tg_user_id, m.at desc
    on conflict (workspace_id, chat_id, tg_user_id) do update
       set status = excluded.status, is_member = excluded.is_member, changed_at = excluded.changed_at,
           proved_at = greatest(c.proved_at, excluded.proved_at)
     where excluded.changed_at >= c.changed_at;

    insert into tg.chat_memberships_current as c
        (workspace_id, chat_id, tg_user_id, status, is_member, changed_at, proved_at)
    select distinct on (m.tg_user_id)
           p_workspace_id, p_chat_id, m.tg_user_id, m.status, m.is_member, m.at, m.at
      from jsonb_to_recordset(p_members)
           as m (tg_user_id bigint, status text, is_member boolean, at timestamptz, source text)
     where m.source = 'message'
     order by m.tg_user_id, m.at desc
    on conflict (workspace_id, chat_id, tg_user_id) do update
       set status = case when c.is_member then c.status else excluded.status end, is_member = true,
           changed_at = excluded.changed_at, proved_at = greatest(c.proved_at, excluded.proved_at)
     where excluded.changed_at > c.changed_at;
$$;
