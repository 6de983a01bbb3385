//! What this module refuses, with its codes and its words in both languages.

use std::time::Duration;

use kernel::{Kind, Problem};
use platform::DbError;

use super::Lang;

/// Why a request was refused. The words of the specification are the Russian ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// An update came before its start, or the id is wrong.
    UnknownAction(String),
    /// An id stands for one operation, in one chat.
    OtherChat(String),
    OtherType(String),
    OtherMessage(String),
    /// The field that can never be accepted as it is.
    Field(String),
    /// Of another token, or of nobody: the answer is the same.
    OtherWorkspace,
    /// Come back after this.
    TooManyStreams(Duration),
    /// The stream cannot be joined now; come back after this.
    NoStream(Duration),
}

impl Refusal {
    pub fn field(name: &str) -> Self {
        Self::Field(name.to_owned())
    }

    /// What one of our SQL functions refused about this id, or the error as it was.
    pub fn from_db(error: DbError, id: &str) -> Result<Self, DbError> {
        let DbError::Refused { code, field, .. } = &error else { return Err(error) };
        let id = id.to_owned();
        match (code.as_str(), field) {
            ("ZA001", _) => Ok(Self::OtherChat(id)),
            ("ZA002", _) => Ok(Self::OtherType(id)),
            ("ZA003", Some(field)) => Ok(Self::Field(field.clone())),
            ("ZA004", _) => Ok(Self::UnknownAction(id)),
            ("ZA005", _) => Ok(Self::OtherMessage(id)),
            _ => Err(error),
        }
    }

    pub fn problem(&self, lang: Lang) -> Problem {
        let message = self.message(lang);
        match self {
            Self::UnknownAction(id) => {
                Problem::new(404, Kind::NotFound, "actions.unknown_action", message).with("actionId", id.as_str())
            }
            Self::OtherChat(id) => Problem::conflict("actions.other_chat", message).with("actionId", id.as_str()),
            Self::OtherType(id) => Problem::conflict("actions.other_type", message).with("actionId", id.as_str()),
            Self::OtherMessage(id) => Problem::conflict("actions.other_message", message).with("messageId", id.as_str()),
            Self::Field(field) => Problem::validation(field, message),
            Self::OtherWorkspace => Problem::new(404, Kind::NotFound, "not_found", message),
            Self::TooManyStreams(after) => {
                Problem::new(429, Kind::RateLimit, "actions.too_many_streams", message).retry_after(*after)
            }
            Self::NoStream(after) => Problem::new(503, Kind::Unavailable, "actions.stream", message).retry_after(*after),
        }
    }

    fn message(&self, lang: Lang) -> String {
        match (self, lang) {
            (Self::UnknownAction(id), Lang::Ru) => format!("Действие с actionId '{id}' не найдено. Сначала вызовите start."),
            (Self::UnknownAction(id), Lang::En) => format!("Unknown actionId '{id}'. Call start first."),
            (Self::OtherChat(id), Lang::Ru) => format!("Действие с actionId '{id}' уже начато в другом чате."),
            (Self::OtherChat(id), Lang::En) => format!("The action with actionId '{id}' was started in another chat."),
            (Self::OtherType(id), Lang::Ru) => format!("Действие с actionId '{id}' уже начато с другим actionType."),
            (Self::OtherType(id), Lang::En) => format!("The action with actionId '{id}' was started with another actionType."),
            (Self::OtherMessage(id), Lang::Ru) => format!("Сообщение с messageId '{id}' уже есть, и содержание у него другое."),
            (Self::OtherMessage(id), Lang::En) => format!("The message with messageId '{id}' exists and says something else."),
            (Self::Field(field), lang) => field_rule(field, lang),
            (Self::OtherWorkspace, Lang::Ru) => "Рабочее пространство не найдено.".to_owned(),
            (Self::OtherWorkspace, Lang::En) => "There is no such workspace.".to_owned(),
            (Self::TooManyStreams(_), Lang::Ru) => {
                "Слишком много открытых потоков для этого токена или адреса: закройте лишние или вернитесь позже.".to_owned()
            }
            (Self::TooManyStreams(_), Lang::En) => {
                "Too many open streams for this token or address: close some, or come back later.".to_owned()
            }
            (Self::NoStream(_), Lang::Ru) => "Сейчас к потоку не присоединиться: вернитесь чуть позже.".to_owned(),
            (Self::NoStream(_), Lang::En) => "The stream cannot be joined right now: come back in a moment.".to_owned(),
        }
    }
}

/// What a field has to be.
fn field_rule(field: &str, lang: Lang) -> String {
    let (ru, en) = match field {
        "chatId" | "actionId" | "messageId" => ("от 1 до 128 видимых символов", "1 to 128 characters that can be seen"),
        "actionType" => ("от 1 до 64 видимых символов", "1 to 64 characters that can be seen"),
        "payload" => ("объект JSON не больше 32 КБ и не глубже 32 уровней", "a JSON object of at most 32 KB and 32 levels"),
        "metadata" => ("объект JSON не больше 16 КБ и не глубже 32 уровней", "a JSON object of at most 16 KB and 32 levels"),
        "text" => ("от 1 до 8000 символов", "1 to 8000 characters"),
        "status" => ("processing, done или error", "processing, done or error"),
        "role" => ("user, bot или system", "user, bot or system"),
        "limit" => ("число от 1 до 200", "a number from 1 to 200"),
        "before" => ("значение `next` предыдущей страницы", "the `next` of the page before"),
        "recent" => ("число минут от 1 до 60", "a number of minutes from 1 to 60"),
        _ => ("другое значение", "another value"),
    };
    match lang {
        Lang::Ru => format!("Поле `{field}`: нужно {ru}."),
        Lang::En => format!("`{field}` has to be {en}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_before_its_start_is_refused_in_the_words_of_the_specification() {
        let refusal = Refusal::UnknownAction("uuid-123".into());
        let problem = refusal.problem(Lang::Ru);
        assert_eq!((problem.status, problem.code), (404, "actions.unknown_action"));
        assert_eq!(problem.message, "Действие с actionId 'uuid-123' не найдено. Сначала вызовите start.");
        assert_eq!(refusal.problem(Lang::En).message, "Unknown actionId 'uuid-123'. Call start first.");
    }
}
