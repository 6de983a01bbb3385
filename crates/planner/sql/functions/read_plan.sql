-- The plan of a preview, for the words of a refusal; null when the person has no such preview.
create or replace function planner.read_plan(p_workspace_id uuid, p_person_id bigint, p_preview_id uuid)
returns jsonb language sql stable as $$
    select p.actions from planner.previews p
     where p.workspace_id = p_workspace_id and p.person_id = p_person_id and p.preview_id = p_preview_id
$$;
