-- A group that became a supergroup takes its documents along, and the index of their words with them: it is found in
-- the audience of the new chat in the same transaction.
create or replace function knowledge.follow_chat() returns trigger language plpgsql as $$
begin
    update kg.chunk_terms t set chat_id = new.chat_id
      from kg.chunks c
     where (c.workspace_id, c.document_id) = (new.workspace_id, new.id)
       and (t.workspace_id, t.chunk_id) = (c.workspace_id, c.id);
    return null;
end
$$;
create or replace trigger terms_follow after update of chat_id on content.documents
    for each row when (old.chat_id <> new.chat_id) execute function knowledge.follow_chat();
