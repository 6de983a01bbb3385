"""aiogram against the Telegram simulator."""

import asyncio

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.exceptions import (
    TelegramBadRequest,
    TelegramConflictError,
    TelegramForbiddenError,
    TelegramMigrateToChat,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
    TelegramUnauthorizedError,
)
from aiogram.types import BufferedInputFile, InlineKeyboardButton, InlineKeyboardMarkup, InputMediaDocument
from checks import BASE, PNG, check, check_error, control, report

TOKEN = "2001:aiogram-token"
CHANNEL = -1002000000001


def new_bot(token):
    return Bot(token, session=AiohttpSession(api=TelegramAPIServer.from_base(f"{BASE}/telegram")))


async def main():
    async with new_bot(TOKEN) as bot:
        await check("getMe is decoded", bot.get_me(), lambda me: me.id == 2001 and me.can_join_groups)
        await check(
            "MarkdownV2 is parsed",
            bot.send_message(CHANNEL, "*bold* ||hidden||", parse_mode="MarkdownV2"),
            lambda message: message.text == "bold hidden"
            and [entity.type for entity in message.entities] == ["bold", "spoiler"],
        )
        await errors(bot)
        await media(bot)
        await edits(bot)
        await people(bot)
        await updates(bot)


async def errors(bot):
    control("chats", {"provider": "telegram", "target": -11, "state": "unknown"})
    control("chats", {"provider": "telegram", "target": 12, "state": "blocked"})
    control("chats", {"provider": "telegram", "target": -13, "state": "flood", "seconds": 9})
    control("chats", {"provider": "telegram", "target": -14, "state": "migrated", "to": -1008})
    await check_error(
        "an unknown chat is a bad request",
        bot.send_message(-11, "x"),
        TelegramBadRequest,
        lambda error: error.message == "Bad Request: chat not found",
    )
    await check_error(
        "a block is forbidden",
        bot.send_message(12, "x"),
        TelegramForbiddenError,
        lambda error: error.message == "Forbidden: bot was blocked by the user",
    )
    await check_error(
        "a flood tells its seconds", bot.send_message(-13, "x"), TelegramRetryAfter, lambda error: error.retry_after == 9
    )
    await check_error(
        "a migration tells the new id",
        bot.send_message(-14, "x"),
        TelegramMigrateToChat,
        lambda error: error.migrate_to_chat_id == -1008,
    )
    await check_error(
        "broken markup is a bad request about entities",
        bot.send_message(CHANNEL, "a.b", parse_mode="MarkdownV2"),
        TelegramBadRequest,
        lambda error: "can't parse entities: Character '.' is reserved" in error.message,
    )
    control("faults", {"provider": "telegram", "target": CHANNEL, "status": 502, "times": 1})
    await check_error("a fault of the server is a server error", bot.send_message(CHANNEL, "x"), TelegramServerError)
    control("faults", {"provider": "telegram", "target": CHANNEL, "drop": "before", "times": 1})
    await check_error("a dropped connection is a network error", bot.send_message(CHANNEL, "x"), TelegramNetworkError)
    control("tokens", {"provider": "telegram", "token": "2002:revoked", "valid": False})
    async with new_bot("2002:revoked") as revoked:
        await check_error("a revoked token is unauthorized", revoked.get_me(), TelegramUnauthorizedError)
    await check_error("an unknown method is not found", bot.get_my_commands(), TelegramNotFound)


async def media(bot):
    photo = await check(
        "a picture is uploaded",
        bot.send_photo(CHANNEL, BufferedInputFile(PNG, "a.png"), caption="c"),
        lambda message: message.photo[-1].width == 1,
    )
    if photo:
        await check(
            "a file is downloaded",
            bot.download(photo.photo[-1].file_id),
            lambda data: data.read() == PNG,
        )
    await check(
        "an album of documents is sent",
        bot.send_media_group(
            CHANNEL,
            [
                InputMediaDocument(media=BufferedInputFile(b"one", "1.txt")),
                InputMediaDocument(media=BufferedInputFile(b"two", "2.txt"), caption="last"),
            ],
        ),
        lambda messages: [message.document.file_name for message in messages] == ["1.txt", "2.txt"]
        and messages[0].media_group_id == messages[1].media_group_id,
    )


async def edits(bot):
    keyboard = InlineKeyboardMarkup(inline_keyboard=[[InlineKeyboardButton(text="a", url="https://example.com")]])
    message = await check(
        "a keyboard is sent",
        bot.send_message(CHANNEL, "old", reply_markup=keyboard),
        lambda message: message.reply_markup.inline_keyboard[0][0].text == "a",
    )
    await check(
        "a text is edited",
        bot.edit_message_text("new", chat_id=CHANNEL, message_id=message.message_id),
        lambda edited: edited.text == "new" and edited.edit_date,
    )
    await check("a message is deleted", bot.delete_message(CHANNEL, message.message_id), lambda done: done is True)


async def people(bot):
    for status in ["creator", "administrator", "member", "restricted", "left", "kicked"]:
        control("members", {"provider": "telegram", "target": CHANNEL, "user_id": 7, "status": status})
        await check(
            f"a person who is {status} is decoded",
            bot.get_chat_member(CHANNEL, 7),
            lambda member, status=status: member.status == status and member.user.id == 7,
        )


async def updates(bot):
    await check("getChat is decoded", bot.get_chat("@aiogram_news"), lambda chat: chat.username == "aiogram_news")
    await check(
        "the bot's rights are decoded",
        bot.get_chat_member(CHANNEL, 2001),
        lambda member: member.status == "administrator" and member.can_post_messages,
    )
    update = {"callback_query": {"id": "77", "from": {"id": 5, "is_bot": False, "first_name": "A"}, "chat_instance": "1", "data": "b"}}
    control("updates", {"provider": "telegram", "token": TOKEN, "update": update})
    await check("updates are polled", bot.get_updates(), lambda found: found[0].callback_query.data == "b")
    await check("a callback is answered", bot.answer_callback_query("77", text="ok"), lambda done: done is True)
    await check("a webhook is set", bot.set_webhook("https://example.com/hook"), lambda done: done is True)
    await check(
        "the webhook is told about", bot.get_webhook_info(), lambda info: info.url == "https://example.com/hook"
    )
    await check_error("polling conflicts with a webhook", bot.get_updates(), TelegramConflictError)
    await check("a webhook is deleted", bot.delete_webhook(), lambda done: done is True)
    report("all of it ran", True)


asyncio.run(main())
