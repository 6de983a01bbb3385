-- Where whoever watches a chat hears of it.
create or replace function actions.topic(p_chat_id text) returns text language sql immutable parallel safe as $$
    select 'chat:' || p_chat_id
$$;
