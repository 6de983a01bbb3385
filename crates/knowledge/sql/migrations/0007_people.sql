-- As whom the assistant of a person asks: a token names a person of the workspace, and this says who that is in Telegram.
create table knowledge.people (
    workspace_id uuid not null,
    person       text not null
                 constraint person_is_a_name check (char_length(person) between 1 and 64 and person ~ '[^[:space:]]'),
    tg_user_id   bigint not null,
    tied_at      timestamptz not null default platform.now(),
    primary key (workspace_id, person),
    foreign key (workspace_id, tg_user_id) references core.tenant_users
);
comment on table knowledge.people is
    'The Telegram user of a person that tokens name: their assistants search and ask as that user in private.';
create index people_by_user on knowledge.people (workspace_id, tg_user_id);

select platform.protect('knowledge.people');
