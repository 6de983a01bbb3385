-- What raw updates tell of chats, or given null of a person: what is theirs goes whole, also if it was not read yet.
-- Stays without names: who came and went, until it was read, because access is judged by it; and what other people
-- said, without what it quotes. The key of an update stays, so that a copy is still known as one.
create or replace function knowledge.forget_raw(p_workspace_id uuid, p_chat_ids bigint[], p_user_id bigint) returns void
language plpgsql as $$
declare
    is_named constant jsonpath := format('$.**.id == %s', coalesce(p_user_id, 0))::jsonpath;
    is_own constant jsonpath := format('$.*.from.id == %s', coalesce(p_user_id, 0))::jsonpath;
    tells_of_members constant jsonpath := 'exists($.chat_member) || exists($.my_chat_member)'
        ' || exists($.*.left_chat_member) || exists($.*.new_chat_members)';
begin
    update raw.telegram_updates r
       set body = case when r.processed_at is null and r.body @@ tells_of_members
                       then knowledge.without_names(r.body, p_user_id)
                       when p_user_id is null or r.body @@ is_own then '{}'
                       else knowledge.without_names(knowledge.without_quotes(r.body), p_user_id) end
     where r.workspace_id = p_workspace_id and r.body <> '{}'
       and case when p_user_id is null then r.chat_id = any (p_chat_ids) else r.body @@ is_named end;
end
$$;
