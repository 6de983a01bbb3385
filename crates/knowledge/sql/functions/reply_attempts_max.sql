-- After so many attempts a reply is dead, whether they failed or their outcome is not known.
create or replace function knowledge.reply_attempts_max() returns int language sql immutable parallel safe as $$
    select 8
$$;
