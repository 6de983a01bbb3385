create table actions.actions (
    workspace_id uuid not null,
    action_id    text not null constraint action_id_plain check (actions.is_id(action_id)),
    chat_id      text not null,
    action_type  text not null constraint action_type_plain check (actions.is_id(action_type) and char_length(action_type) <= 64),
    created_at   timestamptz not null default platform.now(),
    -- Fixed when the action starts: a repeated start is no heartbeat.
    deadline     timestamptz not null,
    -- From here on what changes.
    status       text not null default 'processing' constraint action_status_known check (status in ('processing', 'done', 'error')),
    display_text text constraint action_text_short check (char_length(display_text) between 1 and 2000),
    payload      jsonb constraint action_payload_is_a_bounded_object check (
                     jsonb_typeof(payload) = 'object' and pg_column_size(payload) <= 32768),
    updated_at   timestamptz not null default platform.now(),
    ended_at     timestamptz,
    late_at      timestamptz,
    primary key (workspace_id, action_id),
    constraint action_is_in_a_chat foreign key (workspace_id, chat_id) references actions.chats,
    constraint action_ended_iff_it_has_its_time check ((status = 'processing') = (ended_at is null)),
    constraint action_is_late_only_after_its_end check (late_at is null or ended_at is not null),
    constraint action_deadline_follows_its_start check (deadline > created_at)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
comment on table actions.actions is 'What bots do right now, and for a while what they did. An action is active until its end is told or its deadline passes.';
comment on column actions.actions.updated_at is 'Grows with every change, also when two are made at the same time: watchers tell new from old by it.';
comment on column actions.actions.late_at is 'When another ending came after the first one, which won. The journal has it once.';
create index actions_active on actions.actions (workspace_id, chat_id) where status = 'processing';
create index actions_ended on actions.actions (workspace_id, chat_id, ended_at) where status <> 'processing';
-- The watchdog looks over all workspaces.
create index actions_overdue on actions.actions (deadline) where status = 'processing';
create index actions_forgettable on actions.actions (ended_at) where status <> 'processing';

create trigger action_edge after update on actions.actions for each row
    when (old.status <> new.status and (old.status, new.status) not in (('processing', 'done'), ('processing', 'error')))
    execute function platform.refuse_edge();

select platform.protect('actions.actions');
