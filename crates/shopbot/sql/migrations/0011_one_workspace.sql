-- Answers are claimed in one workspace; the successors have no default for it, which a replacement could not take away.
drop function if exists shopbot.claim_answers(text, int, interval, uuid);
drop function if exists shopbot.next_answer_at(uuid);
-- The platform looks for the trouble of every module: ops.check_alerts('shopbot').
drop function if exists shopbot.check_alerts();
-- Rules are saved together, also when it is one: shopbot.save_rules.
drop function if exists shopbot.save_rule(uuid, jsonb);
