-- Retention, in bounded batches: previews that were not applied, a day after they expired; answers and keys of batches
-- after p_results_keep. Batches, changes and XP are the person's own history and stay. Returns how many rows it
-- touched; call again while it is not zero.
create or replace function planner.forget(p_limit int default 1000, p_results_keep interval default '7 days')
returns int language plpgsql as $$
declare
    gone int := 0;
    count_of int;
begin
    if p_results_keep < interval '24 hours' then
        raise exception 'results are kept for 24 hours at least' using errcode = 'ZG002';
    end if;
    delete from planner.previews p
     where (p.workspace_id, p.preview_id) in (
            select x.workspace_id, x.preview_id from planner.previews x
             where x.status <> 'applied' and x.expires_at < platform.now() - interval '1 day'
             order by x.expires_at limit p_limit for update skip locked);
    get diagnostics count_of = row_count;
    gone := gone + count_of;
    update planner.previews p set result = null, idempotency_key = null
     where (p.workspace_id, p.preview_id) in (
            select x.workspace_id, x.preview_id from planner.previews x
             where x.result is not null and x.applied_at < platform.now() - p_results_keep
             order by x.applied_at limit p_limit for update skip locked);
    get diagnostics count_of = row_count;
    return gone + count_of;
end
$$;
