// The shop bot as one writes it with grammY: a session per chat, and handlers that answer by the rules.
import { sequentialize } from '@grammyjs/runner'
import { Bot, session } from 'grammy'
import { shopkeeper } from './rules.mjs'

export function createBot ({ token, apiRoot, storage, shop, isWebhookReply }) {
  const bot = new Bot(token, {
    // Known beforehand, as its checklist recommends, so that no process asks for it.
    botInfo: {
      id: Number.parseInt(token),
      is_bot: true,
      first_name: 'Bench',
      username: 'bench_bot',
      can_join_groups: false,
      can_read_all_group_messages: false,
      supports_inline_queries: false
    },
    client: { apiRoot, canUseWebhookReply: method => isWebhookReply && method === 'sendMessage' }
  })
  // With a webhook reply the provider has its 200 before the session is written, and may bring the next message of the chat.
  if (isWebhookReply) bot.use(sequentialize(ctx => ctx.chatId?.toString()))
  bot.use(session({ initial: () => ({ state: 'default', vars: {} }), storage }))

  const keeper = shopkeeper(shop)
  const reply = (ctx, { text, buttons }) => ctx.reply(text, buttons.length === 0 ? undefined : { reply_markup: keyboard(buttons) })
  const people = bot.chatType('private')
  people.command('start', ctx => {
    ctx.session = { state: 'default', vars: {} }
    return reply(ctx, keeper.greeting)
  })
  people.on('message:text', ctx => reply(ctx, keeper.answer(ctx.session, ctx.message.text)))
  people.on('callback_query:data', async ctx => {
    await ctx.answerCallbackQuery()
    await reply(ctx, keeper.answer(ctx.session, ctx.callbackQuery.data))
  })
  people.on('message', ctx => reply(ctx, keeper.unsupported))
  return bot
}

function keyboard (rows) {
  return { inline_keyboard: rows.map(row => row.map(({ text, payload }) => ({ text, callback_data: payload ?? text }))) }
}
