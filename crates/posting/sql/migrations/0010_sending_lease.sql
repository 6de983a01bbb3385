-- A send that is under way is not to be taken over: the dispatcher trusts its lease for five minutes (Deliveries::LEASE),
-- and a policy that gave it less would have a long send repeated beside itself.
-- The owner of the table sees no workspace's rows while row security is forced on it.
alter table posting.policies no force row level security;
update posting.policies set sending_lease_seconds = 300 where sending_lease_seconds < 300;
alter table posting.policies force row level security;
alter table posting.policies
    drop constraint policy_sending_lease_bounded,
    add constraint policy_sending_lease_outlasts_a_send check (sending_lease_seconds between 300 and 86400);
