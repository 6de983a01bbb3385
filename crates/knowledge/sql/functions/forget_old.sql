-- Retention: for each chat what its policy does not keep any longer, and what belongs to no chat. Returns how many
-- rows went; call again while it is not zero.
create or replace function knowledge.forget_old(p_limit int) returns int language plpgsql as $$
declare
    gone int := 0;
    part int;
    counts jsonb;
    chat record;
begin
    for chat in
        select c.workspace_id, c.chat_id from tg.chats c
        union select r.workspace_id, r.chat_id from raw.telegram_updates r
               where r.chat_id is not null and r.received_at < platform.now() - interval '1 day'
    loop
        counts := knowledge.prune(chat.workspace_id, chat.chat_id, p_limit);
        gone := gone + (select coalesce(sum(value::int), 0) from jsonb_each_text(counts) where key <> 'chunks');
        exit when gone >= p_limit;
    end loop;
    delete from raw.telegram_updates r
     where r.ctid = any (array(select x.ctid from raw.telegram_updates x
                                where x.chat_id is null
                                    and x.received_at < platform.now() - interval '90 days' limit p_limit));
    get diagnostics part = row_count;
    gone := gone + part;
    return gone;
end
$$;
