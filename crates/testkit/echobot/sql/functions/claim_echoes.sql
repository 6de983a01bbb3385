-- Takes up to p_limit echoes that are due, for the holder of p_claim_token, with all that is needed to send them. The
-- attempt counts from here. Guarantee: an echo has at most one claim.
create or replace function echobot.claim_echoes(
    p_workspace_id uuid, p_claim_token text, p_limit int, p_lease interval
) returns table (echo_id uuid, provider text, secret_ref text, chat_id text, text text, claim_token text)
language sql as $$
    with due as (
        select e.echo_id from echobot.echoes e
          join core.bots b on b.workspace_id = e.workspace_id and b.bot_id = e.bot_id and b.enabled
         where e.workspace_id = p_workspace_id and e.status in ('queued', 'retry')
           and e.next_attempt_at <= platform.now()
         order by e.next_attempt_at, e.echo_id limit p_limit for no key update of e skip locked
    )
    update echobot.echoes e
       set status = 'sending', attempt = e.attempt + 1, claim_token = p_claim_token,
           claimed_until = platform.now() + p_lease
      from due, core.bots b
     where e.workspace_id = p_workspace_id and e.echo_id = due.echo_id
       and b.workspace_id = e.workspace_id and b.bot_id = e.bot_id
    returning e.echo_id, b.provider, b.secret_ref, e.chat_id, e.text, e.claim_token
$$;
