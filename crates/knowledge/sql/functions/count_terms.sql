-- Counts the terms of up to p_limit chunks that came or went. Guarantee: each change is counted once; two calls at the
-- same time wait for each other. Returns how many changes were counted.
create or replace function knowledge.count_terms(p_workspace_id uuid, p_limit int) returns int language plpgsql as $$
declare
    counted int;
begin
    perform pg_advisory_xact_lock(hashtextextended(p_workspace_id::text, 13));
    with taken as (
        delete from kg.term_changes c
         where c.workspace_id = p_workspace_id
           and c.id = any (array(select x.id from kg.term_changes x where x.workspace_id = p_workspace_id
                                  order by x.id limit p_limit))
        returning c.terms, c.delta
    ), sums as (
        select t.term, sum(taken.delta) as delta
          from taken cross join lateral unnest(taken.terms || 0) t (term) group by t.term having sum(taken.delta) <> 0
    ), gone as (
        delete from kg.term_frequencies f using sums s
         where (f.workspace_id, f.term) = (p_workspace_id, s.term) and f.chunks + s.delta <= 0
    ), changed as (
        update kg.term_frequencies f set chunks = f.chunks + s.delta from sums s
         where (f.workspace_id, f.term) = (p_workspace_id, s.term) and f.chunks + s.delta > 0
    ), added as (
        insert into kg.term_frequencies (workspace_id, term, chunks)
        select p_workspace_id, s.term, s.delta from sums s
         where s.delta > 0 and not exists (select from kg.term_frequencies k
                                            where (k.workspace_id, k.term) = (p_workspace_id, s.term))
    )
    select count(*) into counted from taken;
    return counted;
end
$$;
