-- Tells whoever watches the topic, from inside the transaction that changed something: it is heard exactly if
-- the transaction commits.
create or replace function bus.publish(p_workspace_id uuid, p_topic text, p_payload jsonb)
returns void language sql as $$
    insert into bus.messages (workspace_id, topic, payload) values (p_workspace_id, p_topic, p_payload)
$$;
