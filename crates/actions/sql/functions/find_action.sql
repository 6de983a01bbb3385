-- The action with this id, locked, so that whoever starts or changes it takes turns. Whoever names its chat or type has
-- to name the right ones: an id stands for one operation.
-- Raises ZA001 for another chat, ZA002 for another type. No row when there is none.
create or replace function actions.find_action(
    p_workspace_id uuid, p_action_id text, p_chat_id text, p_action_type text
)
returns setof actions.actions language plpgsql as $$
declare
    action actions.actions;
begin
    -- They wait here and not at the row or its key: a transaction that waits there has its id already, and the bus
    -- tells changes in the order of those ids.
    perform pg_advisory_xact_lock(hashtextextended('actions.action:' || p_workspace_id || ':' || p_action_id, 0));
    select * into action from actions.actions a
     where a.workspace_id = p_workspace_id and a.action_id = p_action_id
       for no key update;
    if not found then
        return;
    elsif p_chat_id <> action.chat_id then
        raise exception 'action % belongs to another chat', p_action_id using errcode = 'ZA001';
    elsif p_action_type <> action.action_type then
        raise exception 'action % has another type', p_action_id using errcode = 'ZA002';
    end if;
    return next action;
end
$$;
