-- Their successors have one parameter more, with a default: both together could not be told apart.
drop function if exists shopbot.claim_answers(text, int, interval);
drop function if exists shopbot.next_answer_at();
