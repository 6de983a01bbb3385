"""python-telegram-bot against the Telegram simulator."""

import asyncio

from checks import BASE, PNG, check, check_error, control, report
from telegram import Bot, InlineKeyboardButton, InlineKeyboardMarkup, InputMediaPhoto
from telegram.error import BadRequest, ChatMigrated, Conflict, Forbidden, InvalidToken, NetworkError, RetryAfter
from telegram.request import HTTPXRequest

TOKEN = "1001:ptb-token"
CHANNEL = -1001000000001
# Longer than a busy machine takes.
REQUEST = {"httpx_kwargs": {"trust_env": False}} | dict.fromkeys(
    ["connect_timeout", "read_timeout", "write_timeout", "pool_timeout", "media_write_timeout"], 60
)


async def main():
    bot = Bot(
        TOKEN,
        base_url=f"{BASE}/telegram/bot",
        base_file_url=f"{BASE}/telegram/file/bot",
        request=HTTPXRequest(**REQUEST),
    )
    async with bot:
        await check("getMe is decoded", bot.get_me(), lambda me: me.id == 1001 and me.is_bot)
        await check(
            "a text is sent with its entities",
            bot.send_message(CHANNEL, "<b>bold</b> plain", parse_mode="HTML"),
            lambda message: message.text == "bold plain" and message.entities[0].type == "bold",
        )
        await errors(bot)
        await media(bot)
        await edits(bot)
        await people(bot)
        await updates(bot)


async def errors(bot):
    control("chats", {"provider": "telegram", "target": -1, "state": "unknown"})
    control("chats", {"provider": "telegram", "target": -2, "state": "kicked"})
    control("chats", {"provider": "telegram", "target": -3, "state": "flood", "seconds": 7})
    control("chats", {"provider": "telegram", "target": -4, "state": "migrated", "to": -1009})
    await check_error(
        "an unknown chat is a BadRequest",
        bot.send_message(-1, "x"),
        BadRequest,
        lambda error: error.message == "Chat not found",
    )
    await check_error(
        "a kick is Forbidden",
        bot.send_message(-2, "x"),
        Forbidden,
        lambda error: "bot was kicked from the channel chat" in error.message,
    )
    await check_error(
        "a flood is RetryAfter with its seconds",
        bot.send_message(-3, "x"),
        RetryAfter,
        lambda error: int(getattr(error.retry_after, "total_seconds", lambda: error.retry_after)()) == 7,
    )
    await check_error(
        "a migration is ChatMigrated with the new id",
        bot.send_message(-4, "x"),
        ChatMigrated,
        lambda error: error.new_chat_id == -1009,
    )
    await check_error(
        "broken markup is a BadRequest about entities",
        bot.send_message(CHANNEL, "<b>x", parse_mode="HTML"),
        BadRequest,
        lambda error: error.message.startswith("Can't parse entities"),
    )
    await check_error(
        "a long text is a BadRequest",
        bot.send_message(CHANNEL, "x" * 4097),
        BadRequest,
        lambda error: error.message == "Message is too long",
    )
    control("faults", {"provider": "telegram", "drop": True, "times": 1})
    await check_error("a dropped connection is a NetworkError", bot.send_message(CHANNEL, "x"), NetworkError)
    revoked = Bot("1002:revoked", base_url=f"{BASE}/telegram/bot", request=HTTPXRequest(**REQUEST))
    control("tokens", {"provider": "telegram", "token": "1002:revoked", "valid": False})
    await check_error("a revoked token is InvalidToken", revoked.initialize(), InvalidToken)


async def media(bot):
    photo = await check(
        "a picture is uploaded",
        bot.send_photo(CHANNEL, PNG, caption="c", filename="a.png"),
        lambda message: message.photo[-1].width == 1 and message.caption == "c",
    )
    if photo:
        file = await bot.get_file(photo.photo[-1].file_id)
        await check("a file is downloaded", file.download_as_bytearray(), lambda data: bytes(data) == PNG)
    await check(
        "a document is uploaded",
        bot.send_document(CHANNEL, b"%PDF-1.4", filename="a.pdf"),
        lambda message: message.document.file_name == "a.pdf" and message.document.mime_type == "application/pdf",
    )
    await check(
        "an album is sent",
        bot.send_media_group(CHANNEL, [InputMediaPhoto(PNG, caption="first"), InputMediaPhoto(PNG)]),
        lambda messages: len(messages) == 2
        and messages[0].media_group_id == messages[1].media_group_id
        and messages[0].caption == "first",
    )


async def edits(bot):
    keyboard = InlineKeyboardMarkup([[InlineKeyboardButton("a", callback_data="b")]])
    message = await check(
        "a keyboard is sent",
        bot.send_message(CHANNEL, "old", reply_markup=keyboard),
        lambda message: message.reply_markup.inline_keyboard[0][0].callback_data == "b",
    )
    await check("a text is edited", message.edit_text("new"), lambda edited: edited.text == "new")
    await check_error(
        "an edit without a change is a BadRequest",
        message.edit_text("new"),
        BadRequest,
        lambda error: error.message.startswith("Message is not modified"),
    )
    await check("a message is deleted", message.delete(), lambda done: done is True)
    await check_error(
        "a deleted message is not there",
        message.delete(),
        BadRequest,
        lambda error: error.message == "Message to delete not found",
    )


async def people(bot):
    for status in ["creator", "administrator", "member", "restricted", "left", "kicked"]:
        control("members", {"provider": "telegram", "target": CHANNEL, "user_id": 7, "status": status})
        await check(
            f"a person who is {status} is decoded",
            bot.get_chat_member(CHANNEL, 7),
            lambda member, status=status: member.status == status and member.user.id == 7,
        )


async def updates(bot):
    await check("getChat is decoded", bot.get_chat(CHANNEL), lambda chat: chat.type == "channel")
    await check(
        "the bot's rights are decoded",
        bot.get_chat_member(CHANNEL, 1001),
        lambda member: member.status == "administrator" and member.can_post_messages,
    )
    control("updates", {"provider": "telegram", "token": TOKEN, "chat_id": 5, "text": "/start"})
    await check(
        "updates are polled",
        bot.get_updates(),
        lambda found: found[0].message.text == "/start" and found[0].message.entities[0].type == "bot_command",
    )
    await check("a webhook is set", bot.set_webhook("https://example.com/hook", secret_token="abc"), lambda done: done)
    await check(
        "the webhook is told about",
        bot.get_webhook_info(),
        lambda info: info.url == "https://example.com/hook" and info.pending_update_count == 1,
    )
    await check_error("polling conflicts with a webhook", bot.get_updates(), Conflict)
    await check("a webhook is deleted", bot.delete_webhook(), lambda done: done)
    report("all of it ran", True)


asyncio.run(main())
