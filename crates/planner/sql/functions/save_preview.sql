-- Keeps a preview: the plan, what it saw, and the answer that was given. The fields of p_preview are those of
-- begin_preview (preview_id, expires_at) and {undoes, actions, seen, body, xp, would_fail}.
create or replace function planner.save_preview(
    p_workspace_id uuid, p_person_id bigint, p_preview jsonb, p_trace_id text default null
) returns void language sql as $$
    insert into planner.previews
        (workspace_id, preview_id, person_id, undoes, actions, seen, body, xp, would_fail, expires_at)
    values (p_workspace_id, (p_preview->>'preview_id')::uuid, p_person_id, (p_preview->>'undoes')::uuid,
            p_preview->'actions', p_preview->'seen', p_preview->>'body', (p_preview->>'xp')::int,
            p_preview->>'would_fail', (p_preview->>'expires_at')::timestamptz);
    select ops.append_journal(p_workspace_id, 'planner', 'preview_made', p_preview->>'preview_id', p_trace_id,
        jsonb_build_object('person_id', p_person_id, 'actions', jsonb_array_length(p_preview->'actions'),
                           'undoes', p_preview->'undoes'))
$$;
