-- How long to wait after the attempt of this number failed; null after the last one. Eleven attempts over a day, with
-- jitter that is added and never subtracted: failures come in groups, and a group must spread out.
create or replace function webhooks.retry_wait(p_attempt int) returns interval language sql volatile as $$
    select ('{5 s,30 s,2 min,10 min,30 min,1 h,2 h,4 h,8 h,9 h}'::interval[])[p_attempt] * (1 + 0.2 * random())
$$;
