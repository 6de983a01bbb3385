-- Retention, in bounded batches: actions that have ended long ago, old messages, and chats in which nothing is left.
-- What is processing is never forgotten. At most p_limit rows of all kinds and workspaces together go in one call,
-- because a transaction that takes long holds back what everybody hears. Returns how many went; call again while it is
-- not zero.
create or replace function actions.forget(
    p_limit int default 1000, p_actions_keep interval default '30 days', p_messages_keep interval default '1 year'
) returns int language plpgsql as $$
declare
    now_ts constant timestamptz := platform.now();
    gone int := 0;
    count_of int;
    workspace record;
begin
    delete from actions.actions a
     where (a.workspace_id, a.action_id) in (
            select x.workspace_id, x.action_id from actions.actions x
             where x.status <> 'processing' and x.ended_at < now_ts - p_actions_keep
             order by x.ended_at limit p_limit for update skip locked);
    get diagnostics count_of = row_count;
    gone := gone + count_of;
    for workspace in select w.workspace_id from core.workspaces w order by w.workspace_id loop
        exit when gone >= p_limit;
        delete from actions.messages m
         where m.workspace_id = workspace.workspace_id
           and (m.chat_id, m.seq) in (
                select x.chat_id, x.seq from actions.messages x
                 where x.workspace_id = workspace.workspace_id and x.created_at < now_ts - p_messages_keep
                 order by x.created_at limit p_limit - gone);
        get diagnostics count_of = row_count;
        gone := gone + count_of;
        -- A chat that is held has somebody in it.
        delete from actions.chats c
         where c.workspace_id = workspace.workspace_id
           and c.chat_id in (
                select x.chat_id from actions.chats x
                 where x.workspace_id = workspace.workspace_id and x.active_at < now_ts - p_messages_keep
                   and not exists (select from actions.messages m where m.workspace_id = x.workspace_id
                                   and m.chat_id = x.chat_id)
                   and not exists (select from actions.actions a where a.workspace_id = x.workspace_id
                                   and a.chat_id = x.chat_id)
                 order by x.active_at limit p_limit - gone for update skip locked);
        get diagnostics count_of = row_count;
        gone := gone + count_of;
    end loop;
    return gone;
end
$$;
