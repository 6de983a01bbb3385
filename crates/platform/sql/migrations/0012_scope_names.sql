-- Which scopes there are is for the modules to say; what is stored has the form of a name: `posting:write`, or `write` for a bundle.
-- A name of another form never granted anything, so that a token loses no right with it.
-- The owner of the table sees no workspace's rows while row security is forced on it.
alter table core.api_tokens no force row level security;
update core.api_tokens
   set scopes = array(select name from unnest(scopes) name where name ~ '^[a-z][a-z0-9_]*(:[a-z][a-z0-9_]*)?$')
 where exists (select from unnest(scopes) name where (name ~ '^[a-z][a-z0-9_]*(:[a-z][a-z0-9_]*)?$') is not true);
alter table core.api_tokens force row level security;
-- Joined and split again it is the same list, so that no name is null or has a space in it.
alter table core.api_tokens add constraint token_scopes_are_names
    check (array_to_string(scopes, ' ') ~ '^([a-z][a-z0-9_]*(:[a-z][a-z0-9_]*)?( [a-z][a-z0-9_]*(:[a-z][a-z0-9_]*)?)*)?$'
           and string_to_array(array_to_string(scopes, ' '), ' ') = scopes);
comment on column core.api_tokens.scopes is 'What it may do: scopes of modules (posting:write) and bundles (read, write, console). A name that no module asks for grants nothing.';
