-- A document goes, and with it what answers quote of it: their text, their citations, and the replies that tell them.
-- What was not sent yet is not sent any more.
create or replace function knowledge.forget_answers() returns trigger language plpgsql as $$
declare
    turns bigint[];
begin
    select array_agg(distinct c.turn_id) into turns from audit.qa_citations c
     where (c.workspace_id, c.document_id) = (old.workspace_id, old.id);
    if turns is null then
        return old;
    end if;
    delete from knowledge.replies r
     where r.workspace_id = old.workspace_id and r.turn_id = any (turns) and r.status in ('queued', 'retry');
    update knowledge.replies r set text = '…'
     where r.workspace_id = old.workspace_id and r.turn_id = any (turns);
    update audit.qa_turns t set answer_text = 'Источник этого ответа забыт, и ответ вместе с ним.'
     where t.workspace_id = old.workspace_id and t.id = any (turns);
    delete from audit.qa_citations c where c.workspace_id = old.workspace_id and c.turn_id = any (turns);
    return old;
end
$$;
create or replace trigger answers_forgotten before delete on content.documents
    for each row execute function knowledge.forget_answers();
