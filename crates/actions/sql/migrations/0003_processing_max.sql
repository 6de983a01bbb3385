-- How long an action may take is for whoever starts it to say: a default here would not know the setting.
drop function if exists actions.start_action(uuid, text, text, text, text, jsonb, interval, text);
