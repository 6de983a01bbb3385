-- Every id of one chat: what it is now, and the groups that it was. Messages stay under the id that they were sent to.
create or replace function knowledge.chats_of(p_workspace_id uuid, p_chat_id bigint) returns bigint[]
language sql stable as $$
    select array[n.id] || array(select c.chat_id from tg.chats c
                                 where c.workspace_id = p_workspace_id and c.migrated_to = n.id order by 1)
      from (select knowledge.chat_now(p_workspace_id, p_chat_id)) n (id)
$$;
