-- A token may be one person's: what is theirs alone, such as goals, is found by this name.
alter table core.api_tokens add person text
    constraint token_person_plain check (char_length(person) between 1 and 64 and person ~ '[^[:space:]]' and person !~ '[[:cntrl:]\u2028\u2029]');
comment on column core.api_tokens.person is 'Whose token it is, by the name they have in their workspace; null for a program.';
-- The functions that make and find tokens have got another signature.
drop function if exists core.create_token(uuid, text, text, text[], timestamptz);
drop function if exists core.find_token(text);
