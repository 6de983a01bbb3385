//! The methods by name. Names are matched without regard to case.

use super::call::{Call, Outcome};
use super::{album, callbacks, edit, files, me, media, members, polling, send, webhook};

const METHODS: [&str; 24] = [
    "sendMessage",
    "sendPhoto",
    "sendVideo",
    "sendDocument",
    "sendAudio",
    "sendAnimation",
    "sendVoice",
    "sendMediaGroup",
    "editMessageText",
    "editMessageCaption",
    "editMessageMedia",
    "editMessageReplyMarkup",
    "deleteMessage",
    "deleteMessages",
    "answerCallbackQuery",
    "sendChatAction",
    "getMe",
    "getChat",
    "getChatMember",
    "setWebhook",
    "deleteWebhook",
    "getWebhookInfo",
    "getUpdates",
    "getFile",
];

pub(super) fn find(name: &str) -> Option<&'static str> {
    METHODS.into_iter().find(|known| known.eq_ignore_ascii_case(name))
}

pub(super) async fn run(call: &mut Call) -> Outcome {
    match call.method {
        "getUpdates" => polling::get_updates(call).await,
        _ => run_at_once(call),
    }
}

/// Everything but the long poll ends without waiting. A webhook's answer may hold such a call too.
pub(super) fn run_at_once(call: &mut Call) -> Outcome {
    match call.method {
        "sendMessage" => send::send_message(call),
        "sendMediaGroup" => album::send_media_group(call),
        "sendChatAction" => me::send_chat_action(call),
        "editMessageText" => edit::edit_message_text(call),
        "editMessageCaption" => edit::edit_message_caption(call),
        "editMessageMedia" => edit::edit_message_media(call),
        "editMessageReplyMarkup" => edit::edit_message_reply_markup(call),
        "deleteMessage" => edit::delete_message(call),
        "deleteMessages" => edit::delete_messages(call),
        "answerCallbackQuery" => callbacks::answer_callback_query(call),
        "getMe" => me::get_me(call),
        "getChat" => me::get_chat(call),
        "getChatMember" => members::get_chat_member(call),
        "getFile" => files::get_file(call),
        "setWebhook" => webhook::set_webhook(call),
        "deleteWebhook" => webhook::delete_webhook(call),
        "getWebhookInfo" => webhook::get_webhook_info(call),
        _ => media::send_media(call),
    }
}
