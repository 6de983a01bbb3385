-- WF30: an address in its normal form, once in a workspace, and the job that fetches it for one audience. Returns the
-- address, and no job where the policy of the chat allows no fetching.
create or replace function knowledge.take_url(
    p_workspace_id uuid, p_normalized_url text, p_ctx jsonb, p_trace_id text
) returns table (url_id bigint, fetch_job_id bigint) language plpgsql as $$
declare
    audience record;
begin
    select * into audience from knowledge.given_audience(p_workspace_id, p_ctx);
    insert into content.urls as u (workspace_id, normalized_url) values (p_workspace_id, p_normalized_url)
    -- The row is locked either way: it does not go while a job for it is made.
    on conflict on constraint url_is_there_once do update set normalized_url = excluded.normalized_url
    returning u.id into url_id;
    if (knowledge.policy_of(p_workspace_id, audience.chat_id)).allow_url_fetch then
        fetch_job_id := ops.enqueue_job(
            p_workspace_id, 'knowledge.fetch_url', jsonb_build_object('url_id', url_id, 'ctx', p_ctx), null,
            format('url %s chat %s version %s', url_id, audience.chat_id, audience.version_id), p_trace_id);
    end if;
    return next;
end
$$;
