-- Accepts one post: receipt, message, one delivery for every channel that its tags lead to, and their events, in one
-- transaction. Callable by any client. p_kind is `push` (an endpoint's request) or `pull` (an item of a source).
-- p_payload_hash is the hash of what was sent, where the payload has changed since: look_at_post has it.
-- Guarantees: a request is accepted once (its repeat is told so and makes nothing); a channel does not get the same
-- content again while a copy is under way or within its dedup window; what a provider is bound to refuse ends as
-- failed_permanent at once and is never sent; what is sent is fixed here and does not change between retries.
-- Raises ZD001 (a payload that cannot be a post, its column names the field) and ZD004 (unknown endpoint).
create or replace function posting.enqueue_messages_and_deliveries(
    p_workspace_id uuid, p_endpoint_id uuid, p_kind text, p_raw_payload_json jsonb, p_now_ts timestamptz default null,
    p_payload_hash text default null
) returns jsonb language plpgsql
set plan_cache_mode = force_generic_plan set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    now_ts constant timestamptz := coalesce(p_now_ts, platform.now());
    run_id constant uuid := coalesce((p_raw_payload_json->>'run_id')::uuid, platform.new_id());
    trace constant text := left(coalesce(p_raw_payload_json->>'trace_id', gen_random_uuid()::text), 100);
    source_ref constant text := left(p_raw_payload_json->>'source_ref', 512);
    new_message_id uuid := platform.new_id();
    payload jsonb;
    hash text;
    tags text[];
    due_at timestamptz;
    message posting.messages;
    first_copy posting.ingress_receipts;
    counts jsonb;
begin
    payload := posting.normalize_payload(p_raw_payload_json);
    tags := posting.message_tags(p_raw_payload_json, payload);
    due_at := posting.scheduled_for(p_raw_payload_json);
    hash := posting.content_hash(payload);
    if p_endpoint_id is not null then
        first_copy := posting.take_receipt(p_workspace_id, p_endpoint_id, source_ref,
            coalesce(p_payload_hash, posting.request_hash(p_raw_payload_json)), new_message_id, now_ts);
        if first_copy.receipt_id is not null then
            return posting.tell_duplicate(first_copy, p_raw_payload_json, tags, now_ts);
        end if;
    end if;

    -- The upsert also makes two requests with the same content take turns, so that the second sees the deliveries of
    -- the first.
    insert into posting.messages as m (workspace_id, message_id, content_hash, payload, tags, source, source_ref,
                                       first_seen_trace_id, first_ingest_run_id, last_seen_at, last_ingest_run_id,
                                       created_at)
    values (p_workspace_id, new_message_id, hash, payload, tags, p_raw_payload_json->'source', source_ref,
            trace, run_id, now_ts, run_id, now_ts)
    on conflict (workspace_id, hash_version, content_hash) where hash_version > 0 do update
       set last_seen_at = now_ts, last_ingest_run_id = excluded.last_ingest_run_id, seen_count = m.seen_count + 1
    returning * into message;
    if message.message_id <> new_message_id then
        if p_endpoint_id is not null then
            update posting.ingress_receipts r set message_id = message.message_id
             where r.workspace_id = p_workspace_id and r.endpoint_id = p_endpoint_id and r.message_id = new_message_id;
        end if;
        if message.tags <> tags then
            insert into posting.events (workspace_id, message_id, ts, action, result, meta)
            values (p_workspace_id, message.message_id, now_ts, 'message_tag_mismatch', 'ok',
                    jsonb_build_object('trace_id', trace, 'first_seen', to_jsonb(message.tags), 'now', to_jsonb(tags)));
        end if;
    end if;
    if payload ? 'media' then
        update posting.media_origin o set last_seen_at = now_ts
         where o.workspace_id = p_workspace_id
           and o.blob_ref in (select m->>'blob_ref' from jsonb_array_elements(payload->'media') m);
    end if;

    counts := posting.fan_out(message, due_at, trace, now_ts);
    if p_kind in ('push', 'webhook_push') then
        insert into posting.ingest_runs (workspace_id, run_id, kind, endpoint_id, started_at, finished_at, stats_json)
        values (p_workspace_id, run_id, 'push', p_endpoint_id, now_ts, now_ts,
                jsonb_build_object('accepted', 1, 'deliveries', counts))
        on conflict do nothing;
    end if;
    perform bus.publish(p_workspace_id, 'posting', jsonb_build_object('message_id', message.message_id));
    return jsonb_build_object('outcome', 'accepted', 'message_id', message.message_id, 'run_id', run_id,
                              'trace_id', trace, 'deliveries', counts, 'tags', to_jsonb(message.tags));
end
$$;
