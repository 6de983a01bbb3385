-- WF60: forgets what is older than the policy of its chat allows, up to p_limit of each kind; of a supergroup also what
-- was said in the group that it was. Raw updates and documents have clocks of their own. Returns counts; call again
-- while one of them is p_limit.
create or replace function knowledge.prune(p_workspace_id uuid, p_chat_id bigint, p_limit int) returns jsonb
language plpgsql as $$
declare
    chats constant bigint[] := knowledge.chats_of(p_workspace_id, p_chat_id);
    policy core.chat_policies := knowledge.policy_of(p_workspace_id, chats[1]);
    old_fks bigint[];
    lone bigint[];
    raws int;
    counts jsonb;
begin
    delete from raw.telegram_updates r
     where r.workspace_id = p_workspace_id and r.id = any (array(
           select x.id from raw.telegram_updates x
            where x.workspace_id = p_workspace_id and x.chat_id = any (chats)
              and x.received_at < platform.now() - policy.retention_days_raw * interval '1 day'
            order by x.received_at limit p_limit));
    get diagnostics raws = row_count;
    select array_agg(m.id) into old_fks from (
        select m.id from tg.messages m
         where m.workspace_id = p_workspace_id and m.chat_id = any (chats)
           and m.date < platform.now() - policy.retention_days_documents * interval '1 day'
         order by m.date limit p_limit) m;
    if old_fks is not null then
        counts := knowledge.forget_messages(p_workspace_id, old_fks, null, 'retention', p_chat_id, null);
    end if;
    -- Pages that no message ever shared go by their own age.
    select array_agg(d.id) into lone from (
        select d.id from content.documents d
         where d.workspace_id = p_workspace_id and d.chat_id = any (chats) and d.doc_type <> 'message'
           and d.created_at < platform.now() - policy.retention_days_documents * interval '1 day'
           and not exists (select from content.document_sources s
                            where (s.workspace_id, s.document_id) = (d.workspace_id, d.id))
         limit p_limit) d;
    if lone is not null then
        perform knowledge.drop_unreferenced(p_workspace_id, lone);
    end if;
    return coalesce(counts, '{"messages": 0, "documents": 0, "chunks": 0}')
        || jsonb_build_object('raw_updates', raws, 'lone_documents', coalesce(cardinality(lone), 0));
end
$$;
