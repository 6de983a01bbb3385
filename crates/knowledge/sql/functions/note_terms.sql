-- Notes which terms came or went with chunks, to be counted by a job (knowledge.count_terms).
create or replace function knowledge.note_terms() returns trigger language plpgsql as $$
declare
    changed kg.chunk_terms := case tg_op when 'DELETE' then old else new end;
begin
    insert into kg.term_changes (workspace_id, terms, delta)
    select changed.workspace_id, array_agg(split_part(entry, ':', 1)::int), case tg_op when 'DELETE' then -1 else 1 end
      from unnest(string_to_array(split_part(substr(changed.weights::text, 2), '}', 1), ',')) entry
     where entry <> '' having count(*) > 0;
    return null;
end
$$;
create or replace trigger terms_noted after insert or delete on kg.chunk_terms
    for each row execute function knowledge.note_terms();
