-- Records one fact in the transaction that makes it true, and publishes it on the topic of its source, so that the
-- pages that show the source or the journal are told. The caller has redacted `p_data`.
create or replace function ops.append_journal(
    p_workspace_id uuid, p_source text, p_action text, p_subject text default null,
    p_trace_id text default null, p_data jsonb default '{}'
) returns void language sql as $$
    insert into ops.journal (workspace_id, source, action, subject, trace_id, data)
    values (p_workspace_id, p_source, p_action, p_subject, p_trace_id, p_data);
    select bus.publish(p_workspace_id, p_source, jsonb_build_object('type', p_action, 'subject', p_subject))
$$;
