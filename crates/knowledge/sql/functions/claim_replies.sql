-- Takes up to p_limit replies that are due, for the holder of p_claim_token, with all that is needed to send them. The
-- attempt counts from here. Guarantee: a reply has at most one claim.
create or replace function knowledge.claim_replies(
    p_workspace_id uuid, p_claim_token text, p_limit int, p_lease interval
) returns table (
    reply_id uuid, provider text, secret_ref text, chat_id bigint, thread_id int, reply_to_message_id int, text text,
    buttons jsonb, turn_id bigint, claim_token text
) language sql as $$
    with due as (
        select r.reply_id from knowledge.replies r
          join core.bots b on b.workspace_id = r.workspace_id and b.bot_id = r.bot_id and b.enabled
         where r.workspace_id = p_workspace_id and r.status in ('queued', 'retry')
           and r.next_attempt_at <= platform.now()
           -- The parts of an answer one after the other.
           and not exists (select from knowledge.replies p
                            where (p.workspace_id, p.turn_id) = (r.workspace_id, r.turn_id) and p.part < r.part
                              and p.status <> 'sent')
         order by r.next_attempt_at, r.reply_id limit p_limit for no key update of r skip locked
    )
    update knowledge.replies r
       set status = 'sending', attempt = r.attempt + 1, claim_token = p_claim_token,
           claimed_until = platform.now() + p_lease
      from due, core.bots b
     where r.workspace_id = p_workspace_id and r.reply_id = due.reply_id
       and b.workspace_id = r.workspace_id and b.bot_id = r.bot_id
    returning r.reply_id, b.provider, b.secret_ref, r.chat_id, r.thread_id, r.reply_to_message_id, r.text, r.buttons,
              r.turn_id, r.claim_token
$$;
