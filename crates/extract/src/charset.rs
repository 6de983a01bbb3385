//! Bytes to characters, by what they say of themselves and then by what they look like.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// As much of a page as browsers search for a declaration, and some more for pages that begin with scripts.
const DECLARATION_BYTES: usize = 4096;

/// The text. A charset that was declared counts, unless the bytes are well-formed UTF-8, which happens to no other text by chance.
pub(crate) fn decode(bytes: &[u8], declared: Option<&str>) -> String {
    if let Some((encoding, skip)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[skip..]).0.into_owned();
    }
    if let Some(encoding) = utf_16(bytes) {
        return encoding.decode_without_bom_handling(bytes).0.into_owned();
    }
    if !is_7_bit_charset(declared)
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return text.to_owned();
    }
    let declared = declared.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    if let Some(encoding) = declared.filter(|encoding| *encoding != UTF_8) {
        let (text, _, is_damaged) = encoding.decode(bytes);
        if !is_damaged {
            return text.into_owned();
        }
    }
    // Declared UTF-8 that is not quite UTF-8 is UTF-8 cut in the middle, more often than anything else.
    let (text, _, _) = UTF_8.decode(bytes);
    if declared == Some(UTF_8) && damage(&text) < 0.01 {
        return text.into_owned();
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Allow).decode(bytes).0.into_owned()
}

/// The charset in a content type or in a tag of an HTML page or XML document.
pub(crate) fn declared<'a>(bytes: &'a [u8], mime: Option<&'a str>) -> Option<String> {
    let in_mime = mime.and_then(|mime| label_after(mime, "charset="));
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION_BYTES)]).to_ascii_lowercase();
    in_mime.or_else(|| label_after(&head, "charset=")).or_else(|| label_after(&head, "encoding="))
}

fn label_after(text: &str, key: &str) -> Option<String> {
    let start = text.to_ascii_lowercase().find(key)? + key.len();
    let rest = text.get(start..)?.trim_start_matches([' ', '"', '\'']);
    let label: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':')).collect();
    Encoding::for_label(label.as_bytes()).map(|_| label)
}

/// Charsets that write other letters in seven bits, which looks like UTF-8.
fn is_7_bit_charset(declared: Option<&str>) -> bool {
    declared.is_some_and(|label| label.to_ascii_lowercase().starts_with("iso-2022"))
}

/// UTF-16 without a mark: every other byte of Latin or Cyrillic text is 0 or 4.
fn utf_16(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = &bytes[..bytes.len().min(2000) & !1];
    if sample.len() < 8 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let high = |offset: usize| sample.iter().skip(offset).step_by(2).filter(|byte| matches!(byte, 0 | 4)).count();
    let zeros = sample.split(|byte| *byte == 0).count() - 1;
    let half = sample.len() / 2;
    let (even, odd) = (high(0), high(1));
    // Without a zero it may be a text of control characters, and is not for us to say.
    if zeros == 0 || zeros > half + half / 10 {
        return None;
    }
    match (even * 10 > half * 9, odd * 10 > half * 9) {
        (true, false) => Some(UTF_16BE),
        (false, true) => Some(UTF_16LE),
        _ => None,
    }
}

/// The share of characters that could not be read.
#[expect(clippy::cast_precision_loss, reason = "a share of at most some millions")]
fn damage(text: &str) -> f64 {
    let lost = text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
    lost as f64 / text.chars().count().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Защита уступила всего триста очков, заняв шестое место в лиге.";

    #[test]
    fn a_text_is_read_in_whatever_charset_it_is() {
        let (cp1251, _, _) = encoding_rs::WINDOWS_1251.encode(TEXT);
        let (koi8, _, _) = encoding_rs::KOI8_R.encode(TEXT);
        let utf_16: Vec<u8> = TEXT.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let marked: Vec<u8> = std::iter::once(0xfeff).chain(TEXT.encode_utf16()).flat_map(u16::to_be_bytes).collect();
        for bytes in [TEXT.as_bytes(), &cp1251, &koi8, &utf_16, &marked] {
            assert_eq!(decode(bytes, None), TEXT);
        }
        assert_eq!(decode(&cp1251, Some("windows-1251")), TEXT);
        assert_eq!(decode(TEXT.as_bytes(), Some("windows-1251")), TEXT, "what is UTF-8 is UTF-8");
    }

    #[test]
    fn a_declaration_is_found_in_the_content_type_and_in_tags() {
        assert_eq!(declared(b"", Some("text/html; charset=\"KOI8-R\"")).as_deref(), Some("KOI8-R"));
        assert_eq!(declared(b"<meta charset='windows-1251'>", None).as_deref(), Some("windows-1251"));
        assert_eq!(declared(b"<meta charset=nonsense>", None), None);
    }
}
