-- Whether the worker with this claim still holds the reply.
create or replace function knowledge.still_held(p_workspace_id uuid, p_reply_id uuid, p_claim_token text)
returns boolean language sql stable as $$
    select exists (select from knowledge.replies e
                    where e.workspace_id = p_workspace_id and e.reply_id = p_reply_id
                      and e.status = 'sending' and e.claim_token = p_claim_token)
$$;
