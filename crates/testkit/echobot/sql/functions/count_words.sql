-- Counts the words of an echo. Safe to repeat.
create or replace function echobot.count_words(p_workspace_id uuid, p_echo_id uuid) returns void language sql as $$
    update echobot.echoes e
       set words = cardinality(regexp_split_to_array(btrim(e.text), '\s+'))
     where e.workspace_id = p_workspace_id and e.echo_id = p_echo_id
$$;
