-- Who is told of alerts, as the policy of a workspace says: a chat in Telegram, an e-mail address, or both.
-- See ops.alert_targets.
create or replace function posting.alert_targets(p_workspace_id uuid)
returns table (kind text, address text, credential text) language sql stable as $$
    select 'telegram', p.alert_telegram_chat_id, b.secret_ref
      from posting.policies p
      left join posting.credential_bindings b
        on b.workspace_id = p.workspace_id and b.auth_ref = p.alert_telegram_auth_ref and b.platform = 'telegram'
     where p.workspace_id = p_workspace_id and p.alert_telegram_chat_id is not null
       and p.alert_telegram_auth_ref is not null
    union all
    select 'email', p.alert_email, null from posting.policies p
     where p.workspace_id = p_workspace_id and p.alert_email is not null
$$;
