-- Publishes on the topic `jobs` that jobs of these workspaces changed: one message for each workspace, however many
-- jobs it has. The jobs of the system workspace are on no page, so nothing is published for them.
create or replace function ops.tell_jobs(p_workspace_ids uuid[]) returns void language sql as $$
    select bus.publish(w.id, 'jobs', '{}') from (select distinct unnest(p_workspace_ids) as id) w
     where w.id <> '00000000-0000-0000-0000-000000000000'
$$;
