-- What modules had of their own and is now one function in this schema.
drop function if exists actions.stamp(timestamptz);
drop function if exists planner.stamp(timestamptz);
drop function if exists posting.id_at(timestamptz);
drop function if exists posting.redact_text(text);
drop function if exists posting.safe_error(jsonb);
drop function if exists posting.snippet(text, int);
drop function if exists shopbot.short_error(jsonb);
