-- Changes the policy of a chat; what p_policy does not name stays. What may not be found any more leaves the index in
-- this transaction, and what may be found again is cut by jobs. Raises ZK001 for a value that cannot be (the column
-- names the field).
create or replace function knowledge.set_policy(p_workspace_id uuid, p_chat_id bigint, p_policy jsonb)
returns core.chat_policies language plpgsql as $$
declare
    of_chat constant bigint := knowledge.chat_now(p_workspace_id, p_chat_id);
    policy core.chat_policies := knowledge.policy_of(p_workspace_id, of_chat);
    could constant boolean := policy.allow_embedding;
    document content.documents;
begin
    policy := jsonb_populate_record(policy, p_policy - array['workspace_id', 'chat_id', 'updated_at']);
    policy.updated_at := platform.now();
    insert into core.chat_policies as p select policy.*
    on conflict (workspace_id, chat_id) do update
       set allow_url_fetch = excluded.allow_url_fetch, allow_file_download = excluded.allow_file_download,
           allow_embedding = excluded.allow_embedding, retention_days_raw = excluded.retention_days_raw,
           retention_days_documents = excluded.retention_days_documents, updated_at = excluded.updated_at;
    if could <> policy.allow_embedding then
        -- Chunks are stored under the lock of their document: that has ended, or begins after and sees the policy.
        perform from content.documents d
          where (d.workspace_id, d.chat_id) = (p_workspace_id, of_chat) order by d.id for update;
    end if;
    if could and not policy.allow_embedding then
        delete from kg.chunks c using content.documents d
         where (d.workspace_id, d.chat_id) = (p_workspace_id, of_chat)
           and (c.workspace_id, c.document_id) = (d.workspace_id, d.id);
    elsif not could and policy.allow_embedding then
        for document in
            select * from content.documents d
             where (d.workspace_id, d.chat_id, d.status) = (p_workspace_id, of_chat, 'done') order by d.id
        loop
            perform knowledge.ask_for_chunks(p_workspace_id, document, null);
        end loop;
    end if;
    perform ops.append_journal(p_workspace_id, 'knowledge', 'policy_changed', of_chat::text, null, to_jsonb(policy));
    return policy;
exception
    when check_violation or not_null_violation or invalid_text_representation or numeric_value_out_of_range then
        raise exception 'the policy cannot be: %', sqlerrm using errcode = 'ZK001', column = 'policy';
end
$$;
