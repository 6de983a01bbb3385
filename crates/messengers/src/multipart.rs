//! A file as a part of a multipart body, the same for both providers.
//!
//! Guarantees: the bytes are shared rather than copied, and the name cannot end the header that it stands in.

use bytes::Bytes;
use reqwest::multipart::Part;

/// What a file without a name is called: a part without a name is not taken for a file.
const NAME_DEFAULT: &str = "file";

pub(crate) fn part(name: &str, content_type: &str, bytes: &Bytes) -> Part {
    let new = || Part::stream_with_length(bytes.clone(), bytes.len() as u64).file_name(plain(name));
    // A content type that is none is left out: the provider looks at the bytes anyway.
    new().mime_str(content_type).unwrap_or_else(|_| new())
}

/// The name without control characters. A line break would start a header of its own choosing.
fn plain(name: &str) -> String {
    let name: String = name.chars().map(|letter| if letter.is_control() { '_' } else { letter }).collect();
    if name.is_empty() { NAME_DEFAULT.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(plain("a\r\nX-Evil: 1\".png"), "a__X-Evil: 1\".png");
        assert_eq!(plain("отчёт.pdf"), "отчёт.pdf");
        assert_eq!(plain(""), "file");
    }
}
