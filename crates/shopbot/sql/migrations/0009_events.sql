insert into ops.event_types values
    ('bot.escalated', 'a bot handed a conversation over to a person'),
    ('bot.scenario_finished', 'a customer came to the end of a scenario; the event has the captured answers');
-- What a scenario that has just come to its end was: {intent, answers}.
alter type shopbot.decisions add attribute finished jsonb;
