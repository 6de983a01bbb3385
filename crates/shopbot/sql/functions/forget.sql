-- Retention, in bounded batches: messages with their answers, conversations that have long been over, updates that
-- could not be read. What is not yet answered is never forgotten; logs go by partition. Returns how many rows went;
-- call again while it is not zero.
create or replace function shopbot.forget(p_limit int default 1000) returns int language plpgsql
set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    now_ts constant timestamptz := platform.now();
    gone int := 0;
    count_of int;
    bot record;
begin
    for bot in select b.workspace_id, b.bot_id, b.provider, now_ts - b.keep_days * interval '1 day' as since
        from shopbot.bots b
                order by b.workspace_id, b.bot_id
    loop
        with old as (
            select i.workspace_id, i.bot_id, i.chat_id, i.provider_message_id
              from shopbot.bot_inbox i
             where i.workspace_id = bot.workspace_id and i.ts < bot.since and i.bot_id = bot.bot_id
               and not exists (select from shopbot.bot_outbox o
                                where o.workspace_id = i.workspace_id and o.bot_id = i.bot_id and o.chat_id = i.chat_id
                                  and o.inbound_provider_message_id = i.provider_message_id and o.phase = 'open')
             order by i.ts limit p_limit
        ), answers as (
            delete from shopbot.bot_outbox o using old
             where o.workspace_id = old.workspace_id and o.bot_id = old.bot_id and o.chat_id = old.chat_id
               and o.inbound_provider_message_id = old.provider_message_id and o.phase <> 'open'
        )
        delete from shopbot.bot_inbox i using old
         where i.workspace_id = old.workspace_id and i.bot_id = old.bot_id and i.chat_id = old.chat_id
           and i.provider_message_id = old.provider_message_id;
        get diagnostics count_of = row_count;
        gone := gone + count_of;
        delete from shopbot.bot_state s
         where s.ctid = any (array(select x.ctid from shopbot.bot_state x
                                    where x.workspace_id = bot.workspace_id and x.bot_id = bot.bot_id
                                      and x.expires_at < bot.since
                                      and x.updated_at < bot.since limit p_limit for update skip locked));
        get diagnostics count_of = row_count;
        gone := gone + count_of;
        -- What belongs to no bot any more goes with any bot of its messenger. Ids begin with their time, so the oldest
        -- are first in the key.
        delete from shopbot.bot_poison p
         where p.workspace_id = bot.workspace_id
           and p.id = any (array(
                   select x.id from shopbot.bot_poison x
                    where x.workspace_id = bot.workspace_id and x.id < platform.id_at(bot.since)
                      and x.last_seen_at < bot.since and x.provider = bot.provider
                      and (x.bot_id = bot.bot_id
                           or not exists (select from shopbot.bots o
                                           where o.workspace_id = x.workspace_id and o.bot_id = x.bot_id))
                    order by x.id limit p_limit));
        get diagnostics count_of = row_count;
        gone := gone + count_of;
    end loop;
    return gone;
end
$$;
