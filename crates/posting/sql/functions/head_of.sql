-- From which time on the queue of a channel is to be looked at.
create or replace function posting.head_of(p_head posting.queue_heads) returns timestamptz language sql stable as $$
    select case when p_head.whole_at > platform.now() - interval '1 minute' then p_head.head_at else '-infinity' end
$$;
