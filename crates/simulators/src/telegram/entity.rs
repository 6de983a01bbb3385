//! Message entities: what the markup of a text means, in UTF-16 units, in the order and nesting the server gives.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Blockquote,
    ExpandableBlockquote,
    Pre,
    Code,
    TextLink,
    TextMention,
    Mention,
    Hashtag,
    Cashtag,
    BotCommand,
    Url,
    Email,
    PhoneNumber,
    Bold,
    Italic,
    Underline,
    Strikethrough,
    Spoiler,
    CustomEmoji,
    DateTime,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Entity {
    #[serde(rename = "type")]
    pub(super) kind: Kind,
    pub(super) offset: usize,
    pub(super) length: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user: Option<MentionedUser>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) custom_emoji_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unix_time: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) date_time_format: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct MentionedUser {
    pub(super) id: i64,
    pub(super) is_bot: bool,
    pub(super) first_name: String,
}

/// A text without its markup.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Formatted {
    pub(super) text: String,
    pub(super) entities: Vec<Entity>,
}

impl Kind {
    /// Which of two entities of the same range comes first.
    const fn priority(self) -> u8 {
        match self {
            Self::Blockquote | Self::ExpandableBlockquote => 0,
            Self::Pre => 10,
            Self::Code => 20,
            Self::TextLink | Self::TextMention => 49,
            Self::Mention | Self::Hashtag | Self::Cashtag | Self::BotCommand | Self::Url | Self::Email | Self::PhoneNumber => 50,
            Self::Bold => 90,
            Self::Italic => 91,
            Self::Underline => 92,
            Self::Strikethrough => 93,
            Self::Spoiler => 94,
            Self::CustomEmoji | Self::DateTime => 99,
        }
    }

    const fn is_style(self) -> bool {
        matches!(self, Self::Bold | Self::Italic | Self::Underline | Self::Strikethrough | Self::Spoiler)
    }

    const fn is_verbatim(self) -> bool {
        matches!(self, Self::Pre | Self::Code)
    }
}

impl Entity {
    pub(super) const fn new(kind: Kind, offset: usize, length: usize) -> Self {
        Self {
            kind,
            offset,
            length,
            url: None,
            language: None,
            user: None,
            custom_emoji_id: None,
            unix_time: None,
            date_time_format: None,
        }
    }

    pub(super) fn mention(user_id: i64, offset: usize, length: usize) -> Self {
        let user = MentionedUser { id: user_id, is_bot: false, first_name: format!("User {user_id}") };
        Self { user: Some(user), ..Self::new(Kind::TextMention, offset, length) }
    }

    pub(super) const fn end(&self) -> usize {
        self.offset + self.length
    }
}

pub(super) fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Puts entities into the order in which the server lists them.
pub(super) fn sort(entities: &mut [Entity]) {
    entities.sort_by_key(|entity| (entity.offset, std::cmp::Reverse(entity.length), entity.kind.priority()));
}

/// Styles may surround code but not cover it: they are cut where a verbatim entity stands.
pub(super) fn cut_styles_at_code(entities: &mut Vec<Entity>) {
    let code: Vec<(usize, usize)> =
        entities.iter().filter(|entity| entity.kind.is_verbatim()).map(|entity| (entity.offset, entity.end())).collect();
    if code.is_empty() || !entities.iter().any(|entity| entity.kind.is_style()) {
        return;
    }
    let mut kept = Vec::with_capacity(entities.len());
    for entity in entities.drain(..) {
        if !entity.kind.is_style() {
            kept.push(entity);
            continue;
        }
        let mut start = entity.offset;
        for &(from, to) in code.iter().filter(|(from, to)| *from < entity.end() && *to > entity.offset) {
            if from > start {
                kept.push(Entity::new(entity.kind, start, from - start));
            }
            start = start.max(to);
        }
        if start < entity.end() {
            kept.push(Entity::new(entity.kind, start, entity.end() - start));
        }
    }
    *entities = kept;
    sort(entities);
}
