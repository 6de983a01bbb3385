//! Texts that people read and names that they mistype.

/// Whether a character turns the direction of the text around it: what is shown then is not what was written.
pub fn is_turning(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}

/// A name that is as near as one that somebody mistyped.
const NEAR: f64 = 0.75;

/// A part of a name: `key` for `idempotency_key`.
const PART: f64 = 0.9;
/// No known name is as long; comparing more would cost as much as somebody cares to send.
const COMPARED_CHARS_MAX: usize = 64;

/// The known name that was probably meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name: String = name.chars().take(COMPARED_CHARS_MAX).collect();
    let likeness = |known: &str| {
        let is_part = known.split('_').any(|part| part == name);
        strsim::jaro_winkler(known, &name).max(if is_part { PART } else { 0.0 })
    };
    let near = known.into_iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
    (likeness(near) >= NEAR).then_some(near)
}
