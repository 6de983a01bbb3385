//! The bot about itself and about chats: getMe, getChat, sendChatAction.

use serde_json::json;

use crate::sync::lock;

use super::call::{Call, Outcome, success};
use super::chats::Intent;
use super::errors::Refusal;

const ACTIONS: [&str; 11] = [
    "typing",
    "upload_photo",
    "record_video",
    "upload_video",
    "record_voice",
    "upload_voice",
    "upload_document",
    "choose_sticker",
    "find_location",
    "record_video_note",
    "upload_video_note",
];

pub(super) fn get_me(call: &Call) -> Outcome {
    let mut me = serde_json::to_value(&*call.bot.user).unwrap_or_default();
    // The full set: strict clients fail when one is absent.
    for (name, value) in [
        ("can_join_groups", true),
        ("can_read_all_group_messages", false),
        ("supports_guest_queries", false),
        ("supports_inline_queries", false),
        ("supports_join_request_queries", false),
        ("can_connect_to_business", false),
        ("has_main_web_app", false),
        ("has_topics_enabled", false),
        ("allows_users_to_create_topics", false),
        ("can_manage_bots", false),
    ] {
        me[name] = json!(value);
    }
    success(&me)
}

pub(super) fn get_chat(call: &Call) -> Outcome {
    let mut state = lock(&call.world.telegram.state);
    let chat_id = state.chats.resolve(call.target.as_deref().unwrap_or_default())?;
    let entry = state.chats.open(chat_id, Intent::Read)?;
    let mut full = serde_json::to_value(&*entry.chat).unwrap_or_default();
    full["accent_color_id"] = json!(0);
    full["max_reaction_count"] = json!(11);
    full["accepted_gift_types"] = json!({
        "unlimited_gifts": false,
        "limited_gifts": false,
        "unique_gifts": false,
        "premium_subscription": false,
        "gifts_from_channels": false,
    });
    success(&full)
}

pub(super) fn send_chat_action(call: &Call) -> Outcome {
    let action = call.params.text("action").unwrap_or_default();
    if !ACTIONS.contains(&action.as_ref()) {
        return Err(Refusal::bad_request("wrong parameter action in request"));
    }
    let mut state = lock(&call.world.telegram.state);
    let chat_id = state.chats.resolve(call.target.as_deref().unwrap_or_default())?;
    state.chats.open(chat_id, Intent::Write("text messages"))?;
    success(&true)
}
