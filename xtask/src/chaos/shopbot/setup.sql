-- The workspace of a chaos run of the shop bot: two bots that talk as long and as fast as anybody likes and give up on no answer, and
-- two rules by which an answer says which message it belongs to, and as which turn of the chat it was counted.
select core.create_workspace('chaos');

insert into core.bots (workspace_id, provider, name, secret_ref, serves)
select workspace_id, p.provider, p.provider, 'env:CHAOS_' || upper(p.provider) || '_TOKEN', 'shopbot'
  from core.workspaces, (values ('max'), ('telegram')) p (provider) where name = 'chaos';

insert into shopbot.bots (workspace_id, bot_id, provider, turns_max, fallbacks_max, state_timeout_seconds, rate_rps, chat_rps, attempts_max)
select workspace_id, bot_id, provider, 100000000, 100000000, 604800, null, null, 100
  from core.bots where workspace_id = (select workspace_id from core.workspaces where name = 'chaos');

insert into core.workspace_endpoints (workspace_id, kind, secret_hash, bot_id)
select workspace_id, 'bot_webhook', encode(sha256(convert_to('chaos-' || provider || '-secret', 'UTF8')), 'hex'), bot_id
  from core.bots where workspace_id = (select workspace_id from core.workspaces where name = 'chaos');

-- Only a rule of a state can capture, so a chat is opened with a word that leads into one, and stays there.
select shopbot.save_rules(workspace_id, '[
    {"rule_id": "hello", "intent": "chaos", "pattern": {"keywords": ["hello"], "mode": "contains"}, "max_turns": 100000000,
     "response_template": "{{turns}}: hello", "next_state": "talking"},
    {"rule_id": "echo", "intent": "chaos", "state": "talking", "capture": "said", "pattern": {"keywords": [], "mode": "contains"},
     "max_turns": 100000000, "response_template": "{{turns}}: {{said}}"}]'::jsonb, 'chaos')
  from core.workspaces where name = 'chaos';

create schema chaos;

-- A lease is a minute long, and then every kill would silence its chats for a minute: here it is three seconds. Nothing else is
-- different for who holds it, except that it may go on although the lease is over, which is what a checker wants to see.
create function chaos.shorten_lease() returns trigger language plpgsql as $$
begin
    new.claimed_until := least(new.claimed_until, new.updated_at + interval '3 seconds');
    return new;
end
$$;
create trigger chaos_leases before update on shopbot.bot_outbox for each row
    when (old.status <> 'sending' and new.status = 'sending') execute function chaos.shorten_lease();

-- Every change of a status, written down by us and not by the functions under test. Under the lock of the row, so the
-- numbers of one answer are in the order of its changes.
create table chaos.moves (
    n bigint generated always as identity primary key, answer_id uuid not null, from_status text, to_status text not null, attempt int not null,
    unknown int not null, provider_message_id text, at timestamptz not null default clock_timestamp());
create function chaos.note() returns trigger language plpgsql security definer as $$
begin
    insert into chaos.moves (answer_id, from_status, to_status, attempt, unknown, provider_message_id)
    values (new.answer_id, case when tg_op = 'UPDATE' then old.status end, new.status, new.attempt, new.unknown_outcomes, new.provider_message_id);
    return null;
end
$$;
create trigger chaos_made after insert on shopbot.bot_outbox for each row execute function chaos.note();
create trigger chaos_moved after update on shopbot.bot_outbox for each row
    when (old.status is distinct from new.status) execute function chaos.note();
