//! Characters of texts that people read.

/// Whether a character turns the direction of the text around it: what is shown then is not what was written.
pub fn is_turning(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
}
