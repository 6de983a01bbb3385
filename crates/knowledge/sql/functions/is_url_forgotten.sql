-- Whether a page was forgotten after a message was sent: an edit of the message does not bring it back, a later message
-- that links it does.
create or replace function knowledge.is_url_forgotten(p_workspace_id uuid, p_normalized_url text, p_date timestamptz)
returns boolean language sql stable as $$
    select exists (select from tg.forgotten f
                    where (f.workspace_id, f.kind, f.chat_id, f.subject)
                          = (p_workspace_id, 'url', 0, hashtextextended(p_normalized_url, 0))
                      and p_date <= f.at)
$$;
