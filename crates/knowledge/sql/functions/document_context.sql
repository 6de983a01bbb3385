-- The line that is indexed with each chunk of a document: its own facts, never the text of another message.
create or replace function knowledge.document_context(p_document content.documents) returns text
language sql stable as $$
    select left(concat_ws(' · ', p_document.title,
        (select c.title from tg.chats c where (c.workspace_id, c.chat_id) = (p_document.workspace_id,
            p_document.chat_id)),
        p_document.author, left(p_document.doc_date, 10)), 400)
$$;
