-- When a delivery is tried again: the backoff of the policy with jitter added, never before what the provider asked for. An upload
-- that MAX is still processing gets a short wait first; a windowed channel waits for its window.
create or replace function posting.retry_at(p_policy posting.policies, p_channel posting.channels, p_attempt int, p_error jsonb, p_now timestamptz)
returns timestamptz language plpgsql as $$
declare
    seconds float8;
    asked float8 := coalesce((p_error->>'retry_after_ms')::float8 / 1000, 0);
    at timestamptz;
begin
    if p_error->>'code' = 'attachment.not.ready' and p_attempt <= 3 then
        seconds := least(5, power(2, p_attempt - 1));
    else
        seconds := least(p_policy.backoff_max_seconds, p_policy.backoff_base_seconds * power(2::float8, least(p_attempt - 1, 40)));
    end if;
    -- Added, never subtracted: failures come in groups, and a group must spread out.
    at := p_now + (greatest(seconds, asked) + least(seconds, 60) * 0.2 * random()) * interval '1 second';
    if p_channel.window_mode = 'windowed' then
        at := coalesce(posting.next_open_at(p_channel.posting_window, p_channel.timezone, at), at);
    end if;
    return at;
end
$$;
