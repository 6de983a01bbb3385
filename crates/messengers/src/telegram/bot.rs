//! What a bot asks of Telegram beside sending: who it is, how its updates come, who is in a chat, and the files that people shared.

use bytes::Bytes;
use kernel::{AdapterError, ErrorKind, Secret};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Telegram, classify, request::TelegramCall};
use crate::answer::{self, Repeat, TOO_LARGE, of_channel};

/// The kinds of updates that are asked for; member events come only when they are.
const ALLOWED_UPDATES: [&str; 7] =
    ["message", "edited_message", "channel_post", "edited_channel_post", "my_chat_member", "chat_member", "callback_query"];
/// How large a file Telegram gives to a bot.
const FILE_BYTES_MAX: usize = 20 << 20;
const FILE_TOO_LARGE: &str = "the file is larger than 20 MB, which Telegram gives to no bot";
/// A path that Telegram gives is short.
const PATH_BYTES_MAX: usize = 500;
/// Answers with a hundred updates are larger than others.
const UPDATES_BYTES_MAX: usize = 32 << 20;

/// Where a file can be downloaded from, for an hour or more.
#[derive(Clone, Debug)]
pub struct FilePlace {
    pub path: String,
    pub bytes: Option<u64>,
}

/// How the updates of a bot come, as Telegram says.
#[derive(Clone, Debug, Default)]
pub struct WebhookInfo {
    /// Empty while there is no webhook.
    pub url: String,
    pub pending: i64,
    /// When the last delivery failed, in seconds since 1970, and why.
    pub last_error_at: Option<i64>,
    pub last_error: Option<String>,
}

/// What a webhook is set to.
#[derive(Clone, Debug)]
pub struct WebhookTarget<'a> {
    pub url: &'a str,
    pub secret: &'a Secret,
}

impl Telegram {
    /// The name by which people mention the bot, without the `@`.
    pub async fn get_username(&self, token: &Secret) -> Result<Option<String>, AdapterError> {
        let me = self.ask(token, TelegramCall::new("getMe")).await?;
        Ok(me["username"].as_str().map(ToOwned::to_owned))
    }

    pub async fn get_webhook_info(&self, token: &Secret) -> Result<WebhookInfo, AdapterError> {
        let info = self.ask(token, TelegramCall::new("getWebhookInfo")).await?;
        Ok(WebhookInfo {
            url: info["url"].as_str().unwrap_or_default().to_owned(),
            pending: info["pending_update_count"].as_i64().unwrap_or_default(),
            last_error_at: info["last_error_date"].as_i64(),
            last_error: info["last_error_message"].as_str().map(|text| kernel::redact::snippet(text, 300)),
        })
    }

    /// Updates that wait are kept.
    pub async fn set_webhook(&self, token: &Secret, target: &WebhookTarget<'_>) -> Result<(), AdapterError> {
        let mut call = TelegramCall::new("setWebhook");
        call.set("url", target.url);
        call.set("secret_token", target.secret.expose());
        call.set("allowed_updates", json!(ALLOWED_UPDATES));
        call.set("drop_pending_updates", false);
        self.ask(token, call).await.map(drop)
    }

    /// Updates that wait are kept.
    pub async fn delete_webhook(&self, token: &Secret) -> Result<(), AdapterError> {
        let mut call = TelegramCall::new("deleteWebhook");
        call.set("drop_pending_updates", false);
        self.ask(token, call).await.map(drop)
    }

    /// The updates from `offset` on, which confirms those before it. Waits up to `seconds` for the first.
    pub async fn get_updates(&self, token: &Secret, offset: i64, seconds: u32) -> Result<Vec<Value>, AdapterError> {
        let mut call = TelegramCall::new("getUpdates");
        call.set("offset", offset);
        call.set("limit", 100);
        call.set("timeout", seconds);
        call.set("allowed_updates", json!(ALLOWED_UPDATES));
        let large = Self { client: self.client.with_body_bytes_max(UPDATES_BYTES_MAX), base_url: self.base_url.clone() };
        match large.ask(token, call).await? {
            Value::Array(updates) => Ok(updates),
            other => Err(classify::unreadable(&other, Repeat::Harmless)),
        }
    }

    /// The membership of a person in a chat, as a `ChatMember`; nothing for somebody whom the chat does not know.
    pub async fn get_chat_member(&self, token: &Secret, chat_id: i64, user_id: i64) -> Result<Option<Value>, AdapterError> {
        let mut call = TelegramCall::new("getChatMember");
        call.set("chat_id", chat_id);
        call.set("user_id", user_id);
        match self.ask(token, call).await {
            Ok(member) => Ok(Some(member)),
            Err(error) if classify::is_unknown_member(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Shows for some seconds that the bot is writing.
    pub async fn send_typing(&self, token: &Secret, chat_id: i64, thread_id: Option<i64>) -> Result<(), AdapterError> {
        let mut call = TelegramCall::new("sendChatAction");
        call.set("chat_id", chat_id);
        call.set("action", "typing");
        if let Some(thread_id) = thread_id {
            call.set("message_thread_id", thread_id);
        }
        self.ask(token, call).await.map(drop)
    }

    /// Whether Telegram gives a file of this size to a bot: what it does not need not be asked for. The error has the kind `too_large`.
    pub fn allow_file(bytes: u64) -> Result<(), AdapterError> {
        if bytes > FILE_BYTES_MAX as u64 { Err(answer::refused(TOO_LARGE, "file_too_big", FILE_TOO_LARGE)) } else { Ok(()) }
    }

    pub async fn get_file(&self, token: &Secret, file_id: &str) -> Result<FilePlace, AdapterError> {
        let mut call = TelegramCall::new("getFile");
        call.set("file_id", file_id);
        let file = self.ask(token, call).await.map_err(|mut error| {
            if error.kind == ErrorKind::TooLarge {
                FILE_TOO_LARGE.clone_into(&mut error.message);
            }
            error
        })?;
        let path = file["file_path"].as_str().filter(|path| is_path(path)).map(ToOwned::to_owned);
        let path = path.ok_or_else(|| classify::unreadable(&file, Repeat::Harmless))?;
        Ok(FilePlace { path, bytes: file["file_size"].as_u64() })
    }

    /// The bytes of a file, if Telegram gives so many.
    pub async fn download(&self, token: &Secret, place: &FilePlace) -> Result<Bytes, AdapterError> {
        place.bytes.map_or(Ok(()), Self::allow_file)?;
        let url = format!("{}/file/bot{}/{}", self.base_url, token.expose(), place.path);
        let client = self.client.with_body_bytes_max(FILE_BYTES_MAX);
        let reply = client.send(client.request(Method::GET, &url)).await.map_err(|error| {
            let mut error = AdapterError::from(error);
            if error.outcome_unknown() {
                error.kind = ErrorKind::Timeout;
            }
            error
        })?;
        match reply.status {
            200 => Ok(reply.body),
            404 => Err(answer::refused(of_channel(ErrorKind::NotFound), "404", "the file is not at its path any more")),
            _ => Err(answer::foreign(&reply, Repeat::Harmless)),
        }
    }

    async fn ask(&self, token: &Secret, call: TelegramCall) -> Result<Value, AdapterError> {
        self.make(token, &call, Repeat::Harmless).await
    }
}

/// A path comes from a provider and becomes a part of an address: nothing in it leads elsewhere.
fn is_path(path: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_part = |part: &str| !part.is_empty() && part != "." && part != ".." && part.chars().all(is_plain);
    path.len() <= PATH_BYTES_MAX && path.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_nowhere_else() {
        for good in ["photos/file_0.jpg", "documents/file_1.pdf", "voice/file_2.oga", "file"] {
            assert!(is_path(good), "{good}");
        }
        for bad in ["", "/etc/passwd", "a//b", "../x", "a/../b", "a?b", "a#b", "a b", "a%2fb", "http://x/y"] {
            assert!(!is_path(bad), "{bad}");
        }
    }
}
