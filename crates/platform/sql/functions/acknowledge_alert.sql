-- Somebody has taken an alert on: no reminders until it clears, though growth is still told. All its subjects, or
-- the one that is named.
-- Returns how many subjects that were; none when there is no such alert now.
create or replace function ops.acknowledge_alert(
    p_workspace_id uuid, p_module text, p_alert text, p_subject text, p_by text, p_reason text
) returns int language plpgsql as $$
declare
    subjects text[];
begin
    with taken as (
        update ops.alerts a
           set acknowledged_by = coalesce(a.acknowledged_by, p_by),
               acknowledged_at = coalesce(a.acknowledged_at, platform.now())
         where a.workspace_id = p_workspace_id and a.module = p_module and a.alert = p_alert and a.cleared_at is null
           and (p_subject is null or a.subject = p_subject)
        returning a.subject
    )
    select array_agg(t.subject order by t.subject) into subjects from taken t;
    if subjects is null then
        return 0;
    end if;
    perform ops.announce_alert(p_workspace_id, p_module, p_alert, 'acknowledged',
                               jsonb_build_object('subjects', subjects[1:20], 'by', p_by, 'reason', p_reason));
    return cardinality(subjects);
end
$$;
