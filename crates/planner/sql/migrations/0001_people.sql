create table planner.people (
    workspace_id uuid not null references core.workspaces,
    person_id    bigint generated always as identity,
    name         text not null constraint person_name_readable check (planner.is_line(name, 64)),
    time_zone    text not null default 'UTC' constraint person_zone_short check (char_length(time_zone) between 1 and 64),
    created_at   timestamptz not null default platform.now(),
    primary key (workspace_id, person_id),
    constraint person_name_is_used_once unique (workspace_id, name)
);
comment on table planner.people is 'Whose goals they are. A token names its person, who begins with the first call.';
comment on column planner.people.time_zone is 'Where the person''s day begins: today, streaks and XP by day follow it.';

select platform.protect('planner.people');
