-- Marks the previews whose time is over, of one workspace or of all. Returns how many there were; call again while it
-- is not zero.
create or replace function planner.expire_previews(p_workspace_id uuid default null, p_limit int default 1000)
returns int language plpgsql as $$
declare
    count_of int;
begin
    update planner.previews p set status = 'expired'
     where (p.workspace_id, p.preview_id) in (
            select x.workspace_id, x.preview_id from planner.previews x
             where x.status = 'pending' and x.expires_at <= platform.now()
               and (p_workspace_id is null or x.workspace_id = p_workspace_id)
             order by x.expires_at limit p_limit for update skip locked)
       and p.status = 'pending';
    get diagnostics count_of = row_count;
    return count_of;
end
$$;
