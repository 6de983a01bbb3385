-- What XP becomes of something whose award has to be as it was before a change: an award that was not there is taken
-- back, one that was taken back is given again. The entry that the thing points to from then on, and what that did to
-- the total. Taken back is what the thing has now and not what the change gave: in between it may have been reopened,
-- and that undone.
create or replace function planner.award_to_keep(
    p_act planner.acts, p_change planner.changes, p_was_awarded boolean, p_entry_id bigint, out entry_id bigint,
    out xp int
) language plpgsql as $$
declare
    entry planner.xp_entries;
begin
    entry_id := p_entry_id;
    xp := 0;
    if not p_was_awarded and p_entry_id is not null then
        entry := planner.take_back_xp(p_act, p_entry_id);
        entry_id := null;
        xp := entry.amount;
    elsif p_was_awarded and p_entry_id is null then
        entry := planner.take_back_xp(p_act, (
            select e.entry_id from planner.xp_entries e
             where e.workspace_id = p_act.workspace_id and e.preview_id = p_change.preview_id
               and e.action_index = p_change.action_index
               and e.entity_id = p_change.entity_id and e.day is not distinct from p_change.day and e.amount < 0
               and e.entity = case p_change.entity when 'mark' then 'habit' else p_change.entity end));
        entry_id := entry.entry_id;
        xp := entry.amount;
    end if;
end
$$;
