-- In how many chunks of the workspace each term is; term 0 counts the chunks. Terms that are nowhere are left out.
create or replace function knowledge.look_up_terms(p_workspace_id uuid, p_terms int[])
returns table (term int, chunks bigint) language sql stable as $$
    select f.term, f.chunks from kg.term_frequencies f
     where f.workspace_id = p_workspace_id and f.term = any (p_terms || 0)
$$;
