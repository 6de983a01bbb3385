-- WF10: takes an update of Telegram. Raw update, key and job are written in one transaction.
-- Guarantee: the same update_id of a bot again gives the same job and changes nothing. An update that cannot be read
-- (p_unread, p_problem) is kept with the reason and has no job.
create or replace function knowledge.take_update(
    p_workspace_id uuid, p_bot_id uuid, p_update_id bigint, p_chat_id bigint, p_body jsonb, p_unread bytea,
        p_problem text,
    p_trace_id text
) returns table (job_id bigint, raw_id bigint, is_new boolean) language plpgsql as $$
begin
    -- Two copies of one update take turns, before this transaction has an id.
    perform pg_advisory_xact_lock(hashtextextended(format('%s %s', p_bot_id, p_update_id), 10));
    select k.job_id, k.raw_id, false into job_id, raw_id, is_new from raw.telegram_update_keys k
     where (k.workspace_id, k.bot_id, k.update_id) = (p_workspace_id, p_bot_id, p_update_id);
    if found then
        return next;
        return;
    end if;
    insert into raw.telegram_updates (workspace_id, bot_id, update_id, chat_id, body, unread, problem, trace_id)
    values (p_workspace_id, p_bot_id, p_update_id, p_chat_id, p_body, p_unread, p_problem, p_trace_id)
    returning id into raw_id;
    is_new := true;
    if p_unread is not null or p_update_id is null then
        perform ops.record_error(p_workspace_id, 'knowledge', 'WF10', 'read_update', null, p_trace_id, 200,
                                 coalesce(p_problem, 'the update has no update_id'), false,
                                 jsonb_build_object('raw_id', raw_id));
    else
        job_id := ops.enqueue_job(p_workspace_id, 'knowledge.process_update',
                                  jsonb_build_object('raw_id', raw_id), null, null, p_trace_id);
        insert into raw.telegram_update_keys values (p_workspace_id, p_bot_id, p_update_id, raw_id, job_id);
    end if;
    return next;
end
$$;
