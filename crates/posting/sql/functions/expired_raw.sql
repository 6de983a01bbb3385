-- The whole answers of providers that are past their retention, which is shorter than that of deliveries. Only of the
-- days that have just passed it: earlier ones were deleted before. Deleting one twice does no harm.
create or replace function posting.expired_raw(p_limit int default 1000)
returns table (workspace_id uuid, payload_ref text) language sql stable as $$
    select e.workspace_id, e.payload_ref
      from core.workspaces w
     cross join lateral (select coalesce((select p.raw_keep_days from posting.policies p
                                          where p.workspace_id = w.workspace_id), 14) as days) k
      join posting.events e on e.workspace_id = w.workspace_id
       and e.ts < platform.now() - k.days * interval '1 day' and e.ts > platform.now() - (k.days + 3) * interval '1 day'
     where e.payload_ref is not null and e.result = 'error'
     limit p_limit
$$;
