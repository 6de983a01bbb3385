-- The turn of the person, and whether this preview may be applied under this key now.
-- Guarantee: the key is looked up first, so that a retry of a success gets the answer of the first call, however late
-- it comes; a call that comes while the first one runs waits for it here.
-- Returns {replay: the answer of the first call} or {actions, undoes, xp}: the plan, and the XP before it.
-- Raises ZG011 when the key belongs to another preview, ZG012 when the person has no such preview, ZG013 when it was
-- applied, ZG014 when it expired, ZG015 (its detail lists them) when something it saw has changed since, and for an
-- undo what plan_undo raises.
create or replace function planner.begin_apply(p_workspace_id uuid, p_person_id bigint, p_preview_id uuid, p_key text)
returns jsonb language plpgsql as $$
declare
    preview planner.previews;
    changed jsonb;
begin
    perform planner.take_turn(p_workspace_id, p_person_id);
    select * into preview from planner.previews p
     where p.workspace_id = p_workspace_id and p.person_id = p_person_id and p.idempotency_key = p_key;
    if found and preview.preview_id = p_preview_id then
        return jsonb_build_object('replay', preview.result);
    elsif found then
        raise exception 'Idempotency key already used for another preview' using errcode = 'ZG011',
            hint = 'make a new key for each preview; repeat a key only to retry the same apply';
    end if;
    select * into preview from planner.previews p
     where p.workspace_id = p_workspace_id and p.person_id = p_person_id and p.preview_id = p_preview_id
       -- One that is being applied does not expire on the way.
       for update;
    if not found then
        raise exception 'Preview not found' using errcode = 'ZG012',
            hint = 'call preview_actions and apply the preview_id that it returns';
    elsif preview.status = 'applied' then
        raise exception 'Preview already applied' using errcode = 'ZG013',
            hint = 'its changes are made; for more changes call preview_actions again';
    elsif preview.status = 'expired' or preview.expires_at <= platform.now() then
        raise exception 'Preview expired' using errcode = 'ZG014',
            hint = 'a preview lives for 5 minutes; call preview_actions again';
    end if;
    changed := planner.changed_since(preview.seen, planner.look_at(p_workspace_id, p_person_id, preview.seen));
    if changed is not null then
        raise exception 'Preview stale' using errcode = 'ZG015', detail = changed::text,
            hint = 'what it names has changed since; read it again and call preview_actions again';
    end if;
    if preview.undoes is not null then
        perform planner.plan_undo(p_workspace_id, p_person_id, preview.undoes);
    end if;
    return jsonb_build_object('actions', preview.actions, 'undoes', preview.undoes,
                              'xp', planner.total_xp(p_workspace_id, p_person_id));
end
$$;
