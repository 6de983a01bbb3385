//! How things are written.

pub use platform::console::shell_word;

/// A distance in time, in its largest whole unit: `59 s`, `3 min`, `47 h`, `2 d`. The script says the same.
pub fn age(seconds: u64) -> String {
    let (unit, word) = match seconds {
        0..60 => (1, "s"),
        60..3600 => (60, "min"),
        3600..172_800 => (3600, "h"),
        _ => (86_400, "d"),
    };
    format!("{}\u{a0}{word}", seconds / unit)
}

/// How long something took: `212 ms`, `4.1 s`, `3 min`.
pub fn took(milliseconds: u64) -> String {
    match milliseconds {
        0..1000 => format!("{milliseconds}\u{a0}ms"),
        1000..60_000 => format!("{}.{}\u{a0}s", milliseconds / 1000, milliseconds % 1000 / 100),
        _ => age(milliseconds / 1000),
    }
}

/// A number with its thousands apart, by a narrow space that does not break: `10 000`.
pub fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    if value < 0 {
        text.push('\u{2212}');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A value as it is written in the query of an address.
pub fn query_value(value: &str) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push('%');
            text.push(char::from(HEX[usize::from(byte >> 4)]));
            text.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
    text
}

/// Points of a line through `values` in a box of 240 by 40, zero on the ground. One value makes no line.
pub(super) fn polyline(values: &[i64]) -> Vec<String> {
    if values.len() < 2 {
        return Vec::new();
    }
    let top = values.iter().copied().max().unwrap_or(0).max(1);
    let steps = values.len() - 1;
    let tenths = |n: i64| format!("{}.{}", n / 10, n % 10);
    (0..)
        .zip(values)
        .map(|(index, &value)| {
            let across = i64::try_from(index * 2400 / steps).unwrap_or(0);
            let down = 390 - value.clamp(0, top).saturating_mul(370) / top;
            format!("{},{}", tenths(across), tenths(down))
        })
        .collect()
}
