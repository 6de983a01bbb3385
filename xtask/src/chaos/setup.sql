-- The workspace of a chaos run: leases of two and three seconds and short pauses, so that everything that can expire does. `{…}` is
-- filled in by the harness.
select core.create_workspace('chaos');

insert into core.workspace_endpoints (workspace_id, kind, secret_hash, ingress_rps)
select workspace_id, 'webhook_push', encode(sha256('{secret}'), 'hex'), 10000 from core.workspaces where name = 'chaos';

-- A worker that is silent for three seconds is dead here: we have killed or stopped it.
alter table posting.policies drop constraint policy_sending_lease_outlasts_a_send;
insert into posting.policies (workspace_id, attempts_max, backoff_base_seconds, backoff_max_seconds, pause_on_permanent_seconds,
                              disable_after_permanent_streak, sending_lease_seconds, claimed_lease_seconds)
select workspace_id, 6, 1, 1, 1, 1000, 3, 2 from core.workspaces where name = 'chaos'
on conflict (workspace_id) do update
   set (attempts_max, backoff_base_seconds, backoff_max_seconds, pause_on_permanent_seconds, disable_after_permanent_streak,
        sending_lease_seconds, claimed_lease_seconds) = (6, 1, 1, 1, 1000, 3, 2);

insert into posting.credential_bindings (workspace_id, auth_ref, platform, secret_ref)
select workspace_id, 'chaos', p.platform, 'env:CHAOS_' || upper(p.platform) || '_TOKEN'
  from core.workspaces, (values ('telegram'), ('max')) p (platform) where name = 'chaos';

insert into posting.platform_limits (workspace_id, platform, rate_group, rate_rps)
select workspace_id, p.platform, 'chaos', {group_rate} from core.workspaces, (values ('telegram'), ('max')) p (platform) where name = 'chaos';

insert into posting.channels (workspace_id, channel_id, platform, target_id, auth_ref, rate_group, rate_rps, max_parallel, settings, route_filter)
select w.workspace_id, g.channel_id, g.platform, g.target_id, 'chaos', 'chaos', g.rate_rps, g.max_parallel, g.settings, g.route_filter
  from core.workspaces w, jsonb_to_recordset('{channels}') g (channel_id text, platform text, target_id text, rate_rps numeric, max_parallel int,
                                                              settings jsonb, route_filter jsonb)
 where w.name = 'chaos';

-- Every change of a status, written down by us and not by the functions under test. Under the lock of the row, so the
-- numbers of one delivery are in the order of its changes.
create schema chaos;
create table chaos.transitions (
    n bigint generated always as identity primary key, delivery_id uuid not null, from_status text, to_status text not null, attempt int not null,
    at timestamptz not null default clock_timestamp());
create function chaos.note() returns trigger language plpgsql security definer as $$
begin
    insert into chaos.transitions (delivery_id, from_status, to_status, attempt)
    values (new.delivery_id, case when tg_op = 'UPDATE' then old.status end, new.status, new.attempt);
    return null;
end
$$;
create trigger chaos_made after insert on posting.deliveries for each row execute function chaos.note();
create trigger chaos_moved after update on posting.deliveries for each row
    when (old.status is distinct from new.status) execute function chaos.note();
