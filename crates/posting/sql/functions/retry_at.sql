-- When a delivery is tried again: after the backoff of the policy, never before what the provider asked for. An upload
-- that the provider still processes gets a short wait first; a windowed channel waits for its window.
create or replace function posting.retry_at(
    p_policy posting.policies, p_channel posting.channels, p_attempt int, p_error jsonb, p_now timestamptz
) returns timestamptz language plpgsql as $$
declare
    asked constant float8 := coalesce((p_error->>'retry_after_ms')::float8 / 1000, 0);
    is_short constant boolean := p_error->>'kind' = 'not_ready' and p_attempt <= 3;
    at constant timestamptz := p_now + case
        when is_short then platform.backoff(p_attempt, 1, 5, asked)
        else platform.backoff(p_attempt, p_policy.backoff_base_seconds, p_policy.backoff_max_seconds, asked) end;
begin
    return case when p_channel.window_mode = 'windowed'
                then coalesce(posting.next_open_at(p_channel.posting_window, p_channel.timezone, at), at) else at end;
end
$$;
