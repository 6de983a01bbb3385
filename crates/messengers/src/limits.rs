//! What each provider takes in one message; how large a file a bot gets is said by `Telegram::allow_file`. SQL judges posts and keyboards before they
//! are sent by the same numbers (`posting.provider_limits`, `posting.is_buttons`, `shopbot.is_quick_replies`); tests of those modules compare them
//! with these.

use serde::Serialize;

/// What a provider takes in one message.
#[derive(Debug, Serialize)]
pub struct ProviderLimits {
    /// Telegram counts code points after parsing, MAX UTF-16 units before it.
    pub text_chars_max: u32,
    /// Of the text as it is sent, with its markup.
    pub text_bytes_max: Option<u32>,
    /// Of a text that stands with media, where that is not the limit of any text.
    pub caption_chars_max: Option<u32>,
    /// MAX counts the keyboard among the items.
    pub album_items_max: u32,
    pub media_bytes_max: MediaBytesMax,
    /// With a space between them.
    pub html_tags: &'static str,
}

/// By the kind of the media.
#[derive(Debug, Serialize)]
pub struct MediaBytesMax {
    pub image: u64,
    pub video: u64,
    pub audio: u64,
    pub file: u64,
}

/// A keyboard that every provider takes.
#[derive(Debug)]
pub struct KeyboardLimits {
    pub rows_max: usize,
    /// Of buttons that answer; MAX takes three that open an address.
    pub row_max: usize,
    pub text_chars_max: usize,
    /// Telegram's; MAX takes more.
    pub payload_bytes_max: usize,
    pub url_chars_max: usize,
}

pub const KEYBOARD: KeyboardLimits =
    KeyboardLimits { rows_max: 30, row_max: 7, text_chars_max: 128, payload_bytes_max: 64, url_chars_max: 2048 };

const TELEGRAM: ProviderLimits = ProviderLimits {
    text_chars_max: 4096,
    text_bytes_max: Some(32_768),
    caption_chars_max: Some(1024),
    album_items_max: 10,
    media_bytes_max: MediaBytesMax { image: 10 << 20, video: 50 << 20, audio: 50 << 20, file: 50 << 20 },
    html_tags: "a b strong i em s strike del u ins tg-spoiler tg-emoji tg-time span pre code blockquote",
};

const MAX: ProviderLimits = ProviderLimits {
    text_chars_max: 4000,
    text_bytes_max: None,
    caption_chars_max: None,
    album_items_max: 12,
    media_bytes_max: MediaBytesMax { image: 50_000_000, video: 250_000_000, audio: 256_000_000, file: 4_000_000_000 },
    html_tags: "a b strong i em s del u ins mark pre code blockquote h1 h2 h3 h4",
};

/// The limits of a provider; nothing for a name that is not in [`crate::PROVIDERS`].
pub fn of(provider: &str) -> Option<&'static ProviderLimits> {
    match provider {
        "telegram" => Some(&TELEGRAM),
        "max" => Some(&MAX),
        _ => None,
    }
}
