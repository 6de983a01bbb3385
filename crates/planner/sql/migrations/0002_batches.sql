-- A preview that is applied becomes the record of its batch, under the same id, and stays. Its result and key are
-- forgotten when their time is over; a preview that was never applied goes a day after it expired.
create table planner.previews (
    workspace_id    uuid not null,
    preview_id      uuid not null,
    person_id       bigint not null,
    undoes          uuid,
    actions         jsonb not null constraint preview_actions_are_a_list check (jsonb_typeof(actions) = 'array'),
    seen            jsonb not null constraint preview_seen_is_a_list check (jsonb_typeof(seen) = 'array'),
    body            text not null,
    xp              int not null,
    would_fail      text,
    created_at      timestamptz not null default platform.now(),
    expires_at      timestamptz not null,
    -- From here on what changes.
    status          text not null default 'pending' constraint preview_status_known check (status in ('pending', 'applied', 'expired')),
    applied_at      timestamptz,
    last_change_id  bigint,
    idempotency_key text constraint preview_key_short check (char_length(idempotency_key) between 1 and 255),
    result          text,
    undone_by       uuid,
    primary key (workspace_id, preview_id),
    constraint preview_has_a_person foreign key (workspace_id, person_id) references planner.people,
    constraint preview_undoes_a_batch foreign key (workspace_id, undoes) references planner.previews,
    constraint preview_is_undone_by_a_batch foreign key (workspace_id, undone_by) references planner.previews,
    constraint preview_key_is_used_once unique (workspace_id, person_id, idempotency_key),
    constraint preview_applied_iff_it_has_its_time check ((status = 'applied') = (applied_at is not null)),
    constraint preview_applied_iff_it_changed_something check ((status = 'applied') = (last_change_id is not null)),
    constraint preview_key_has_a_result check ((idempotency_key is null) = (result is null)),
    constraint preview_result_only_when_applied check (result is null or status = 'applied'),
    constraint preview_undone_only_when_applied check (undone_by is null or status = 'applied')
) with (fillfactor = 70);
comment on table planner.previews is 'What would be changed, for five minutes; once applied, what was: the batch. One row for both, so that a preview is applied once.';
comment on column planner.previews.undoes is 'The batch that this one reverses.';
comment on column planner.previews.actions is 'The plan: checked and in its normal form, `$ref`s as they were written.';
comment on column planner.previews.seen is 'The version of everything the plan names, as it was at the preview.';
comment on column planner.previews.body is 'The answer that was given to the preview.';
comment on column planner.previews.would_fail is 'Why applying will fail: an action cannot follow an earlier one of the same batch.';
comment on column planner.previews.last_change_id is 'The last change of the batch: the order of batches, and where history goes on.';
comment on column planner.previews.result is 'The answer that was given to apply, byte for byte; a retry with the key gets it again.';
comment on column planner.previews.undone_by is 'The batch that reversed this one.';
create unique index batch_is_undone_once on planner.previews (workspace_id, undoes) where status = 'applied' and undoes is not null;
create index previews_by_undone on planner.previews (workspace_id, undoes) where undoes is not null;
create index previews_by_undoing on planner.previews (workspace_id, undone_by) where undone_by is not null;
create index batches_in_order on planner.previews (workspace_id, person_id, last_change_id) where status = 'applied';
create index previews_by_person on planner.previews (workspace_id, person_id, created_at);
-- Upkeep looks over all workspaces.
create index previews_overdue on planner.previews (expires_at) where status <> 'applied';
create index results_by_time on planner.previews (applied_at) where result is not null;

create trigger preview_edge after update on planner.previews for each row
    when (old.status <> new.status and (old.status, new.status) not in (('pending', 'applied'), ('pending', 'expired')))
    execute function platform.refuse_edge();

-- The foreign keys to previews are checked at the commit: a preview tries its actions before it has a row, and takes them back.
create table planner.changes (
    workspace_id uuid not null,
    change_id    bigint generated always as identity,
    preview_id   uuid not null,
    action_index int not null constraint change_index_not_negative check (action_index >= 0),
    person_id    bigint not null,
    action       text not null,
    entity       text not null constraint change_entity_known check (entity in ('goal', 'step', 'habit', 'mark', 'order')),
    entity_id    bigint not null,
    day          date,
    before       jsonb,
    after        jsonb,
    created_at   timestamptz not null default platform.now(),
    primary key (workspace_id, change_id),
    constraint change_belongs_to_a_batch foreign key (workspace_id, preview_id) references planner.previews deferrable initially deferred,
    constraint change_has_a_person foreign key (workspace_id, person_id) references planner.people,
    constraint change_changes_something check (before is not null or after is not null),
    constraint change_of_a_mark_has_its_day check ((entity = 'mark') = (day is not null))
);
comment on table planner.changes is 'What each action did to each thing it touched: the whole row before and after. Never changed; what undo reads.';
comment on column planner.changes.entity_id is 'The id of the goal, step or habit; of a mark that of its habit; of an order that of the goal whose steps it lists.';
create index changes_by_entity on planner.changes (workspace_id, entity, entity_id, change_id);
create index changes_by_batch on planner.changes (workspace_id, preview_id, change_id);
create index changes_by_person on planner.changes (workspace_id, person_id, change_id);

create table planner.xp_entries (
    workspace_id uuid not null,
    entry_id     bigint generated always as identity,
    person_id    bigint not null,
    amount       int not null constraint xp_amount_is_something check (amount <> 0),
    entity       text not null constraint xp_entity_known check (entity in ('goal', 'step', 'habit')),
    entity_id    bigint not null,
    day          date,
    takes_back   bigint,
    preview_id   uuid not null,
    action_index int not null,
    created_at   timestamptz not null default platform.now(),
    primary key (workspace_id, entry_id),
    constraint xp_has_a_person foreign key (workspace_id, person_id) references planner.people,
    constraint xp_belongs_to_a_batch foreign key (workspace_id, preview_id) references planner.previews deferrable initially deferred,
    constraint xp_takes_back_an_entry foreign key (workspace_id, takes_back) references planner.xp_entries,
    constraint xp_is_taken_back_once unique (workspace_id, takes_back),
    constraint xp_of_a_habit_has_its_day check ((entity = 'habit') = (day is not null))
);
comment on table planner.xp_entries is 'The ledger of XP: a total is the sum of its entries. Never changed; what is taken back is an entry of its own.';
comment on column planner.xp_entries.takes_back is 'The entry whose amount this one takes back, exactly.';
create index xp_by_person on planner.xp_entries (workspace_id, person_id, entry_id) include (amount, entity);
create index xp_by_time on planner.xp_entries (workspace_id, person_id, created_at);
create index xp_by_batch on planner.xp_entries (workspace_id, preview_id, action_index);

select platform.append_only('planner.changes'), platform.append_only('planner.xp_entries');
select platform.protect('planner.previews'), platform.protect('planner.changes'), platform.protect('planner.xp_entries');

create type planner.acts as (workspace_id uuid, person_id bigint, preview_id uuid, action_index int, action text);
comment on type planner.acts is 'One action of a batch as it is carried out: for whom, in which batch, the how manieth, and its name.';
