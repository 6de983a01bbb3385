-- What a filter may say to match this type of event: the type itself, all of its kind, everything.
create or replace function ops.event_patterns(p_event_type text) returns text[]
language sql immutable parallel safe as $$
    select array['*', split_part(p_event_type, '.', 1) || '.*', p_event_type]
$$;
