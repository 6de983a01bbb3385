-- The snapshot of a chat: its active actions and, with `p_recent`, those that ended within that time, both by their
-- last change, newest first. How many are listed is the caller's to say: the contract has the number; the default is
-- for callers that are older than it. Guarantee: the cursor comes from the same snapshot as the rows, and everything
-- that the rows do not show comes after it. A watcher that subscribes from the cursor misses nothing, and may hear
-- again of what it has already.
create or replace function actions.read_actions(
    p_workspace_id uuid, p_chat_id text, p_recent interval default null, p_limit int default 200
) returns jsonb language sql stable as $$
    select jsonb_build_object(
        'cursor', bus.position(),
        'actions', coalesce((
            select jsonb_agg(actions.bot_action(x) order by x.updated_at desc, x.action_id)
              from (select a.* from actions.actions a
                     where a.workspace_id = p_workspace_id and a.chat_id = p_chat_id and a.status = 'processing'
                     order by a.updated_at desc, a.action_id limit p_limit) x), '[]'),
        'recent', coalesce((
            select jsonb_agg(actions.bot_action(x) order by x.updated_at desc, x.action_id)
              from (select a.* from actions.actions a
                     where a.workspace_id = p_workspace_id and a.chat_id = p_chat_id and a.status <> 'processing'
                       and a.ended_at >= platform.now() - p_recent
                     order by a.updated_at desc, a.action_id limit p_limit) x), '[]'))
$$;
