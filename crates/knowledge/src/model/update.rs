//! What an update of Telegram says, as `knowledge.store_facts` takes it. An update of a kind that is not known says nothing and is kept;
//! one whose identity cannot be read (chat, message, time) is refused with the name of the field, never with its content.

mod content;
mod rich;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableUpdate(String);

impl std::fmt::Display for UnreadableUpdate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the update cannot be read: {}", self.0)
    }
}

/// The field names are those of the SQL function.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UpdateFacts {
    pub update_id: i64,
    pub kind: String,
    /// When it was true: the time of the message, of its edit, or of the event.
    pub at: Option<String>,
    pub chat: Option<Value>,
    pub users: Vec<Value>,
    pub message: Option<Value>,
    pub members: Vec<Value>,
    pub migration: Option<Value>,
    pub pinned_message_id: Option<i32>,
    pub topic: Option<Value>,
    /// A button under an answer was pressed.
    pub press: Option<Value>,
    pub bot_added: bool,
    pub bot_removed: bool,
}

const MESSAGES: [&str; 4] = ["message", "edited_message", "channel_post", "edited_channel_post"];
const MEMBERS: [&str; 2] = ["chat_member", "my_chat_member"];

/// Service messages that change nothing here.
const OTHER_SERVICE: [&str; 14] = [
    "group_chat_created",
    "supergroup_chat_created",
    "channel_chat_created",
    "delete_chat_photo",
    "new_chat_photo",
    "message_auto_delete_timer_changed",
    "video_chat_started",
    "video_chat_ended",
    "video_chat_scheduled",
    "video_chat_participants_invited",
    "boost_added",
    "general_forum_topic_hidden",
    "checklist_tasks_done",
    "checklist_tasks_added",
];
const MEMBER_STATUSES: [&str; 6] = ["creator", "administrator", "member", "restricted", "left", "kicked"];

pub fn read(update: &Value) -> Result<UpdateFacts, UnreadableUpdate> {
    let update_id = update["update_id"].as_i64().ok_or_else(|| missing("update_id"))?;
    let kind = MESSAGES.iter().chain(&MEMBERS).find(|kind| update[**kind].is_object());
    let mut facts = UpdateFacts { update_id, kind: kind.copied().unwrap_or("unknown").to_owned(), ..UpdateFacts::default() };
    if update["callback_query"].is_object() {
        facts.read_press(&update["callback_query"]);
        return Ok(facts);
    }
    let Some(kind) = kind else { return Ok(facts) };
    let body = &update[*kind];
    let chat = &body["chat"];
    let chat_id = chat["id"].as_i64().ok_or_else(|| missing("chat.id"))?;
    let chat_type = chat["type"].as_str().filter(|word| matches!(*word, "private" | "group" | "supergroup" | "channel"));
    let chat_type = chat_type.ok_or_else(|| missing("chat.type"))?;
    facts.chat = Some(json!({
        "chat_id": chat_id, "type": chat_type, "title": chat["title"].as_str(), "username": chat["username"].as_str(),
        "is_forum": chat["is_forum"].as_bool().unwrap_or(false),
    }));
    let date = time(&body["date"]).ok_or_else(|| missing("date"))?;
    facts.at = Some(date.clone());
    facts.add_user(&body["from"]);
    if MEMBERS.contains(kind) {
        let (old, new) = (&body["old_chat_member"], &body["new_chat_member"]);
        facts.add_user(&new["user"]);
        facts.add_member(new, &date, kind)?;
        if *kind == "my_chat_member" {
            facts.bot_added = !is_member(old) && is_member(new);
            facts.bot_removed = !is_member(new);
        }
        return Ok(facts);
    }
    facts.read_message(kind, body, chat_id, chat_type, &date)?;
    Ok(facts)
}

impl UpdateFacts {
    /// The buttons under an answer say `useful:<turn>` and `useless:<turn>`; others are not ours.
    fn read_press(&mut self, query: &Value) {
        let pressed = query["data"].as_str().and_then(|data| data.split_once(':'));
        let (Some((word @ ("useful" | "useless"), turn)), Some(user)) = (pressed, query["from"]["id"].as_i64()) else { return };
        let (Ok(turn), Some(chat)) = (turn.parse::<i64>(), query["message"]["chat"]["id"].as_i64()) else { return };
        "callback_query".clone_into(&mut self.kind);
        self.chat = Some(json!({ "chat_id": chat }));
        self.press = Some(json!({ "turn_id": turn, "is_useful": word == "useful", "tg_user_id": user }));
    }

    fn read_message(
        &mut self,
        kind: &str,
        body: &Value,
        chat_id: i64,
        chat_type: &str,
        date: &str,
    ) -> Result<(), UnreadableUpdate> {
        let message_id = number32(&body["message_id"]).ok_or_else(|| missing("message_id"))?;
        let edited = match &body["edit_date"] {
            Value::Null => None,
            value => Some(time(value).ok_or_else(|| missing("edit_date"))?),
        };
        let at = edited.as_deref().unwrap_or(date);
        self.at = Some(at.to_owned());
        let is_post = kind.ends_with("channel_post");
        let sender_chat = body["sender_chat"]["id"].as_i64();
        let sender = user_of(body).filter(|_| !is_post);
        let service = self.read_service(body, chat_id, date);
        // Whoever writes in a group is in it. Not so for a post of a linked channel, or of whoever speaks as the group.
        if let Some(user) = sender
            && chat_type != "private"
            && service.is_none_or(|service| service != "left")
            && body["is_automatic_forward"].as_bool() != Some(true)
        {
            self.members
                .push(json!({ "tg_user_id": user, "status": "member", "is_member": true, "at": at, "source": "message" }));
        }
        let origin = content::forward_origin(body);
        self.add_user(&body["forward_origin"]["sender_user"]);
        self.add_user(&body["reply_to_message"]["from"]);
        let mut message = json!({
            "message_id": message_id, "date": date, "edit_date": edited,
            "kind": if service.is_some() { "service" } else if is_post { "channel_post" } else { "message" },
            "tg_user_id": sender, "sender_chat_id": sender_chat,
            "thread_id": number32(&body["message_thread_id"]).filter(|_| body["is_topic_message"] == true),
            "reply_to_message_id": number32(&body["reply_to_message"]["message_id"]),
            "reply_to_user_id": user_of(&body["reply_to_message"]),
            "media_group_id": body["media_group_id"].as_str(), "forward_origin": origin, "service": service,
        });
        for (field, value) in content::read(body) {
            message[field] = value;
        }
        self.message = Some(message);
        Ok(())
    }

    /// What a service message tells, with what it changes.
    fn read_service(&mut self, body: &Value, chat_id: i64, date: &str) -> Option<&'static str> {
        if let Some(joined) = body["new_chat_members"].as_array() {
            for user in joined {
                self.add_user(user);
                self.add_service_member(user, "member", true, date);
            }
            return Some("joined");
        }
        if body["left_chat_member"].is_object() {
            self.add_user(&body["left_chat_member"]);
            self.add_service_member(&body["left_chat_member"], "left", false, date);
            return Some("left");
        }
        if let Some(to) = body["migrate_to_chat_id"].as_i64() {
            self.migration = Some(json!({ "from_chat_id": chat_id, "to_chat_id": to }));
            return Some("migrated");
        }
        if let Some(from) = body["migrate_from_chat_id"].as_i64() {
            self.migration = Some(json!({ "from_chat_id": from, "to_chat_id": chat_id }));
            return Some("migrated");
        }
        if let Some(pinned) = number32(&body["pinned_message"]["message_id"]) {
            self.pinned_message_id = Some(pinned);
            return Some("pinned");
        }
        let topics = [
            ("forum_topic_created", "created"),
            ("forum_topic_edited", "edited"),
            ("forum_topic_closed", "closed"),
            ("forum_topic_reopened", "reopened"),
        ];
        for (field, state) in topics {
            if body[field].is_object() {
                let thread = number32(&body["message_thread_id"])?;
                self.topic = Some(json!({ "thread_id": thread, "name": body[field]["name"].as_str(), "state": state }));
                return Some("topic");
            }
        }
        if body["new_chat_title"].is_string() {
            return Some("title");
        }
        OTHER_SERVICE.iter().any(|field| !body[*field].is_null()).then_some("other")
    }

    fn add_service_member(&mut self, user: &Value, status: &str, is_member: bool, date: &str) {
        if let Some(user) = user["id"].as_i64() {
            self.members
                .push(json!({ "tg_user_id": user, "status": status, "is_member": is_member, "at": date, "source": "service" }));
        }
    }

    fn add_member(&mut self, member: &Value, date: &str, source: &str) -> Result<(), UnreadableUpdate> {
        let user = member["user"]["id"].as_i64().ok_or_else(|| missing("new_chat_member.user.id"))?;
        let status = member["status"].as_str().filter(|status| MEMBER_STATUSES.contains(status));
        let status = status.ok_or_else(|| missing("new_chat_member.status"))?;
        self.members.push(json!({
            "tg_user_id": user, "status": status, "is_member": is_member(member), "at": date, "source": source,
        }));
        Ok(())
    }

    fn add_user(&mut self, user: &Value) {
        let Some(id) = user["id"].as_i64() else { return };
        if self.users.iter().any(|known| known["tg_user_id"] == id) {
            return;
        }
        let text = |field: &str| user[field].as_str();
        self.users.push(json!({
            "tg_user_id": id, "is_bot": user["is_bot"].as_bool().unwrap_or(false), "first_name": text("first_name"),
            "last_name": text("last_name"), "username": text("username"), "language_code": text("language_code"),
        }));
    }
}

/// Somebody who may only read is still a member; somebody restricted may have left.
fn is_member(member: &Value) -> bool {
    match member["status"].as_str() {
        Some("creator" | "administrator" | "member") => true,
        Some("restricted") => member["is_member"].as_bool().unwrap_or(false),
        _ => false,
    }
}

/// The person who sent a message. What is sent for a chat has a person only as a stand-in.
fn user_of(message: &Value) -> Option<i64> {
    message["from"]["id"].as_i64().filter(|_| message["sender_chat"]["id"].as_i64().is_none())
}

fn missing(field: &str) -> UnreadableUpdate {
    UnreadableUpdate(format!("`{field}` is missing or not what it should be"))
}

fn number32(value: &Value) -> Option<i32> {
    value.as_i64().and_then(|number| i32::try_from(number).ok())
}

/// Seconds since 1970, as Telegram writes times.
fn time(value: &Value) -> Option<String> {
    let seconds = value.as_i64().filter(|seconds| *seconds >= 0)?;
    Timestamp::from_second(seconds).ok().map(|time| time.to_string())
}
