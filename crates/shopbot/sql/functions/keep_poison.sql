-- Keeps an update that could not be handled, so that it can be acknowledged, and publishes that it came. The caller has
-- redacted p_problem and p_body; p_body_hash is of the whole body as it came: a repeat adds to the count and not to the
-- table. Returns how often it was seen.
create or replace function shopbot.keep_poison(
    p_workspace_id uuid, p_provider text, p_endpoint_id uuid, p_problem text, p_body_hash text, p_body text,
    p_bot_id uuid default null
) returns bigint language sql as $$
    select bus.publish(p_workspace_id, 'shopbot', jsonb_build_object('provider', p_provider, 'outcome', 'poison'));
    insert into shopbot.bot_poison as p (workspace_id, provider, bot_id, endpoint_id, problem, body_hash, body)
    values (p_workspace_id, p_provider, coalesce(p_bot_id, shopbot.first_bot(p_workspace_id, p_provider)),
            p_endpoint_id,
            left(p_problem, 500), p_body_hash, left(p_body, 16384))
    on conflict on constraint poison_is_kept_once do update
       set seen_count = p.seen_count + 1, last_seen_at = platform.now()
    returning p.seen_count
$$;
