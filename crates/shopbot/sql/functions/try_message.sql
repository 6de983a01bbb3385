-- What the bot would make of a message, with a state that the caller keeps ({state, context, expires_at}, `{}` at
-- first). Changes nothing. Returns the decision as JSON; its state_after, context and expires_at are the state of the
-- next call. p_bot_id is the bot; null: the first of the workspace in this messenger. Raises ZD004 when there is no
-- such bot.
create or replace function shopbot.try_message(
    p_workspace_id uuid, p_provider text, p_state jsonb, p_message jsonb, p_now timestamptz default null,
    p_bot_id uuid default null
) returns jsonb language plpgsql stable as $$
declare
    bot shopbot.bots;
begin
    select * into bot from shopbot.bots b
     where b.workspace_id = p_workspace_id and b.provider = p_provider
       and b.bot_id = coalesce(p_bot_id, shopbot.first_bot(p_workspace_id, p_provider));
    if not found then
        raise exception 'there is no % bot in this workspace', p_provider using errcode = 'ZD004';
    end if;
    return to_jsonb(shopbot.decide(bot, jsonb_populate_record(null::shopbot.bot_state, p_state), p_message,
                                   coalesce(p_now, platform.now())));
end
$$;
