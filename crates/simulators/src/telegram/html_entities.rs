//! Character references in HTML: four names and numbers, the closing `;` optional.

/// The code point of an entity at `at` and the position after it. Unknown names are literal text.
pub(super) fn decode_entity(source: &[u8], at: usize) -> Option<(u32, usize)> {
    let byte = |at: usize| source.get(at).copied().unwrap_or(0);
    if byte(at) != b'&' {
        return None;
    }
    let mut end = at + 1;
    let code = if byte(end) == b'#' {
        end += 1;
        let radix = if byte(end) == b'x' {
            end += 1;
            16
        } else {
            10
        };
        let mut code: u32 = 0;
        while let Some(digit) = char::from(byte(end)).to_digit(radix) {
            code = code.saturating_mul(radix).saturating_add(digit);
            end += 1;
        }
        if code == 0 || code >= 0x10_FFFF || end - at >= 10 {
            return None;
        }
        code
    } else {
        while byte(end).is_ascii_alphabetic() {
            end += 1;
        }
        match &source[at + 1..end] {
            b"lt" => u32::from('<'),
            b"gt" => u32::from('>'),
            b"amp" => u32::from('&'),
            b"quot" => u32::from('"'),
            _ => return None,
        }
    };
    Some((code, if byte(end) == b';' { end + 1 } else { end }))
}
