//! Who is what in a chat, as the test says; and getChatMember, which tells it.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::sync::lock;

use super::Telegram;
use super::bots::User;
use super::call::{Call, Outcome, success};
use super::chats::{Access, ChatKind, Intent};
use super::errors::Refusal;

const MEMBERS_MAX: usize = 1_000_000;
const ADMIN_RIGHTS: [&str; 12] = [
    "can_be_edited",
    "can_manage_chat",
    "can_delete_messages",
    "can_manage_video_chats",
    "can_restrict_members",
    "can_promote_members",
    "can_change_info",
    "can_invite_users",
    "can_post_stories",
    "can_edit_stories",
    "can_delete_stories",
    "can_send_welcome_messages",
];
const RESTRICTABLE: [&str; 16] = [
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
    "can_change_info",
    "can_invite_users",
    "can_pin_messages",
    "can_manage_topics",
    "can_react_to_messages",
    "can_edit_tag",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Creator,
    Administrator,
    Member,
    Restricted,
    Left,
    Kicked,
    /// Telegram does not know this user, or does not show it to this bot.
    Unknown,
}

/// A member as a test wants it.
pub(crate) struct MemberWish {
    pub(crate) target: String,
    pub(crate) user_id: i64,
    pub(crate) status: Status,
    /// Fields of the user beside the usual ones.
    pub(crate) user: Option<serde_json::Map<String, Value>>,
}

type Entry = (Status, Option<serde_json::Map<String, Value>>);

#[derive(Default)]
pub(super) struct Members(HashMap<(i64, i64), Entry>);

impl Telegram {
    pub(crate) fn set_member(&self, wish: MemberWish) -> Result<Value, String> {
        let mut state = lock(&self.state);
        let chat_id = state.chats.resolve(&wish.target).map_err(|_| "target: neither a chat id nor an @name".to_owned())?;
        if state.members.0.len() >= MEMBERS_MAX {
            return Err("target: there are too many members".to_owned());
        }
        state.members.0.insert((chat_id, wish.user_id), (wish.status, wish.user));
        Ok(json!({"chat_id": chat_id, "user_id": wish.user_id}))
    }
}

/// Who was not set is a member; the bot itself is an administrator where it may post.
pub(super) fn get_chat_member(call: &Call) -> Outcome {
    let user_id = call.params.int("user_id").filter(|id| *id > 0);
    let user_id = user_id.ok_or_else(|| Refusal::bad_request("invalid user_id specified"))?;
    let mut state = lock(&call.world.telegram.state);
    let chat_id = state.chats.resolve(call.target.as_deref().unwrap_or_default())?;
    let entry = state.chats.open(chat_id, Intent::Read)?;
    let (kind, access) = (entry.chat.kind, entry.access);
    let is_self = user_id == call.bot.user.id;
    let (status, more) = state.members.0.get(&(chat_id, user_id)).cloned().unwrap_or_else(|| {
        let is_plain = !is_self || access == Access::NoRights || kind == ChatKind::Private;
        (if is_plain { Status::Member } else { Status::Administrator }, None)
    });
    let mut user = user(user_id, is_self.then_some(&*call.bot.user));
    if let (Some(user), Some(more)) = (user.as_object_mut(), more) {
        user.extend(more);
    }
    match status {
        Status::Creator => success(&json!({"status": "creator", "user": user, "is_anonymous": false})),
        Status::Administrator => success(&administrator(&user, kind)),
        Status::Member => success(&json!({"status": "member", "user": user})),
        Status::Restricted => success(&restricted(&user)),
        Status::Left => success(&json!({"status": "left", "user": user})),
        Status::Kicked => success(&json!({"status": "kicked", "user": user, "until_date": 0})),
        Status::Unknown => Err(Refusal::bad_request("user not found")),
    }
}

fn user(user_id: i64, bot: Option<&User>) -> Value {
    match bot {
        Some(bot) => json!(bot),
        None => json!({"id": user_id, "is_bot": false, "first_name": format!("User {user_id}")}),
    }
}

fn administrator(user: &Value, kind: ChatKind) -> Value {
    let mut member = json!({"status": "administrator", "user": user, "is_anonymous": false});
    for right in ADMIN_RIGHTS {
        member[right] = json!(matches!(right, "can_manage_chat" | "can_delete_messages" | "can_invite_users"));
    }
    if kind == ChatKind::Channel {
        member["can_post_messages"] = json!(true);
        member["can_edit_messages"] = json!(true);
        member["can_manage_direct_messages"] = json!(false);
    }
    member
}

/// Still in the chat, and allowed nothing, for good.
fn restricted(user: &Value) -> Value {
    let mut member = json!({"status": "restricted", "user": user, "is_member": true, "until_date": 0});
    for right in RESTRICTABLE {
        member[right] = json!(false);
    }
    member
}
