"""maxapi against the MAX simulator."""

import asyncio

from checks import BASE, PNG, check, check_error, control, report
from maxapi import Bot
from maxapi.enums.update import UpdateType
from maxapi.exceptions.max import InvalidToken, MaxApiError, MaxConnection
from maxapi.client.default import DefaultConnectionProperties
from maxapi.enums.parse_mode import TextFormat
from maxapi.types.attachments.buttons.callback_button import CallbackButton
from maxapi.types.command import BotCommand
from maxapi.types.input_media import InputMediaBuffer
from maxapi.utils.inline_keyboard import InlineKeyboardBuilder

TOKEN = "maxapi-token"
CHANNEL = -70801090403050


def new_bot(token):
    bot = Bot(
        token,
        default_connection=DefaultConnectionProperties(max_retries=0),
        after_input_media_delay=0.001,
        after_upload_retry_delay=0.001,
    )
    bot.set_api_url(f"{BASE}/max")
    return bot


def has_code(status, code):
    return lambda error: error.code == status and error.raw["code"] == code


async def main():
    bot = new_bot(TOKEN)
    try:
        await check("the bot is decoded", bot.get_me(), lambda me: me.is_bot and me.user_id > 0)
        await check(
            "a text is sent",
            bot.send_message(chat_id=CHANNEL, text="<b>bold</b> plain", format=TextFormat.HTML),
            lambda sent: sent.message.body.text == "bold plain" and sent.message.body.mid.startswith("mid."),
        )
        await errors(bot)
        await media(bot)
        await edits(bot)
        await updates(bot)
    finally:
        await bot.close_session()


async def errors(bot):
    control("chats", {"provider": "max", "target": -1, "state": "unknown"})
    control("chats", {"provider": "max", "target": -2, "state": "blocked"})
    control("chats", {"provider": "max", "target": -3, "state": "flood"})
    await check_error(
        "an unknown chat is 404", bot.send_message(chat_id=-1, text="x"), MaxApiError, has_code(404, "chat.not.found")
    )
    await check_error(
        "a block is 403", bot.send_message(chat_id=-2, text="x"), MaxApiError, has_code(403, "chat.denied")
    )
    await check_error(
        "a flood is 429", bot.send_message(chat_id=-3, text="x"), MaxApiError, has_code(429, "too.many.requests")
    )
    await check_error(
        "a message without a recipient is 400", bot.send_message(text="x"), MaxApiError, has_code(400, "proto.payload")
    )
    control("faults", {"provider": "max", "method": "POST /messages", "status": 500, "times": 1})
    await check_error(
        "a fault is 500", bot.send_message(chat_id=CHANNEL, text="x"), MaxApiError, has_code(500, "internal.error")
    )
    control("faults", {"provider": "max", "method": "POST /messages", "drop": True, "times": 1})
    await check_error(
        "a dropped connection is a connection error", bot.send_message(chat_id=CHANNEL, text="x"), MaxConnection
    )
    control("tokens", {"provider": "max", "token": "revoked-token", "valid": False})
    revoked = new_bot("revoked-token")
    await check_error("a revoked token is invalid", revoked.get_me(), InvalidToken)
    await revoked.close_session()


async def media(bot):
    await check(
        "pictures are uploaded and sent as one message",
        bot.send_message(
            chat_id=CHANNEL,
            text="album",
            attachments=[InputMediaBuffer(PNG, filename="a"), InputMediaBuffer(PNG, filename="b")],
        ),
        lambda sent: [attachment.type for attachment in sent.message.body.attachments] == ["image", "image"],
    )
    control("limits", {"provider": "max", "not_ready_sends": 2})
    await check(
        "a file that is not ready at once is sent by repeating",
        bot.send_message(chat_id=CHANNEL, attachments=[InputMediaBuffer(b"%PDF-1.4 x", filename="a")]),
        lambda sent: sent.message.body.attachments[0].type == "file" and sent.message.body.attachments[0].size == 10,
    )


async def edits(bot):
    keyboard = InlineKeyboardBuilder()
    keyboard.row(CallbackButton(text="a", payload="b"))
    sent = await check(
        "a keyboard is sent",
        bot.send_message(chat_id=CHANNEL, text="old", attachments=[keyboard.as_markup()]),
        lambda sent: sent.message.body.attachments[0].payload.buttons[0][0].payload == "b",
    )
    mid = sent.message.body.mid
    await check("a message is edited", bot.edit_message(message_id=mid, text="new"), lambda done: done.success)
    await check("a message is read", bot.get_message(mid), lambda message: message.body.text == "new")
    await check(
        "messages are listed",
        bot.get_messages(chat_id=CHANNEL, count=1),
        lambda listed: listed.messages[0].body.mid == mid,
    )
    await check("a message is deleted", bot.delete_message(mid), lambda done: done.success)
    await check_error(
        "a deleted message is not found", bot.get_message(mid), MaxApiError, has_code(404, "not.found")
    )


async def updates(bot):
    await check("commands are set", bot.set_commands(BotCommand(name="start", description="go")), lambda done: done)
    await check("a chat is decoded", bot.get_chat_by_id(CHANNEL), lambda chat: chat.type == "channel")
    await check("the bot's rights are decoded", bot.get_me_from_chat(CHANNEL), lambda member: member.is_admin)
    control("updates", {"provider": "max", "token": TOKEN, "chat_id": 5, "text": "hi"})
    await check(
        "updates are polled",
        bot.get_updates(limit=10, timeout=0),
        lambda page: page["updates"][0]["message"]["body"]["text"] == "hi" and page["marker"] > 0,
    )
    url = "https://example.com/hook"
    await check(
        "a webhook is set",
        bot.subscribe_webhook(url, update_types=[UpdateType.MESSAGE_CREATED], secret="s3cret"),
        lambda done: done.success,
    )
    await check(
        "the webhook is told about",
        bot.get_subscriptions(),
        lambda listed: listed.subscriptions[0].url == url,
    )
    await check("a webhook is deleted", bot.unsubscribe_webhook(url), lambda done: done.success)
    report("all of it ran", True)


asyncio.run(main())
