-- Claims and starts in one statement: what a dispatcher of ours calls. Each row is something to send now. What was claimed for a
-- slot still ahead is in `waiting`, with its times in `slots`; if there is nothing but that, it comes on a row that has
-- no delivery.
create or replace function posting.dispatch(p_workspace_id uuid, p_run_id text, p_limit int, p_heads jsonb)
returns table (sending posting.sendings, waiting uuid[], slots timestamptz[]) language plpgsql as $$
declare
    ids uuid[];
    is_any boolean;
begin
    select array_agg(c.delivery_id) filter (where c.not_before <= platform.now()),
           array_agg(c.delivery_id) filter (where c.not_before > platform.now()),
           array_agg(c.not_before) filter (where c.not_before > platform.now())
      into ids, waiting, slots
      from posting.claim_due(p_workspace_id, p_run_id, p_limit, p_heads) c;
    if ids is not null then
        for sending in select * from posting.start_sending(p_workspace_id, p_run_id, p_limit, ids) loop
            return next;
            is_any := true;
        end loop;
    end if;
    if is_any is null and waiting is not null then
        sending := null;
        return next;
    end if;
end
$$;
