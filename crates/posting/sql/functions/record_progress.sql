-- One step of a series was acknowledged: kept before the next one begins, so that a retry sends only what is left.
-- Returns false when the lease is lost: then the caller stops. A step that is recorded already changes nothing: a
-- caller whose answer was lost asks again.
create or replace function posting.record_progress(
    p_workspace_id uuid, p_delivery_id uuid, p_claim_token text, p_steps_done int, p_provider_message_ids text[]
) returns boolean language plpgsql as $$
begin
    update posting.deliveries d
       set render_meta = (select jsonb_set(d.render_meta, '{series_progress}', jsonb_build_object(
                                     'sent_items', greatest(p_steps_done, s.steps_done),
                                     'provider_message_ids', case when s.steps_done < p_steps_done
                                         then s.ids || to_jsonb(p_provider_message_ids) else s.ids end))
                            from (select coalesce((d.render_meta #>> '{series_progress,sent_items}')::int, 0),
                                         coalesce(d.render_meta #> '{series_progress,provider_message_ids}', '[]')
                                 ) s (steps_done, ids)),
           updated_at = platform.now()
     where d.workspace_id = p_workspace_id and d.delivery_id = p_delivery_id and d.status = 'sending'
       and d.claim_token = p_claim_token;
    return found;
end
$$;
