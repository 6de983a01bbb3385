-- Nothing is sent by this bot before p_until: its provider asked for that, or refuses its token. The journal says when
-- a bot that was open is closed.
create or replace function shopbot.close_bot(
    p_workspace_id uuid, p_bot_id uuid, p_until timestamptz, p_why text default null
) returns void language plpgsql as $$
declare
    was timestamptz;
begin
    select b.closed_until into was from shopbot.bots b
     where b.workspace_id = p_workspace_id and b.bot_id = p_bot_id for no key update;
    update shopbot.bots b set closed_until = greatest(b.closed_until, p_until)
     where b.workspace_id = p_workspace_id and b.bot_id = p_bot_id;
    if coalesce(was, '-infinity') <= platform.now() then
        perform ops.append_journal(p_workspace_id, 'shopbot', 'bot_closed',
                                   shopbot.bot_subject(p_workspace_id, p_bot_id), null,
                                   jsonb_build_object('until', p_until, 'why', p_why));
    end if;
end
$$;
