//! Pictures: their size first, from their headers, and then OCR.

use crate::{
    model::{Refusal, RefusalReason},
    ocr::{self, PIXELS_MAX},
    read::Found,
    text::Writing,
};

pub(crate) fn read(bytes: &[u8], mime: &'static str) -> Result<Found, Refusal> {
    let (width, height) =
        size(bytes, mime).ok_or_else(|| Refusal::broken("The picture is damaged: its header does not tell its size."))?;
    check_pixels(width, height)?;
    let extension = mime.trim_start_matches("image/");
    let mut writing = Writing::default();
    writing.paragraph(&ocr::recognise(bytes, extension)?)?;
    if writing.is_empty() {
        return Err(Refusal::new(RefusalReason::Empty, "No text was found in the picture."));
    }
    Ok(Found { writing, mime, ..Found::default() })
}

fn check_pixels(width: u64, height: u64) -> Result<(), Refusal> {
    if width == 0 || height == 0 {
        return Err(Refusal::broken("The picture is damaged: it has no size."));
    }
    if width.saturating_mul(height) > PIXELS_MAX {
        return Err(Refusal::too_large(format!(
            "The picture has {width} × {height} pixels; at most {} million can be read.",
            PIXELS_MAX / 1_000_000
        )));
    }
    Ok(())
}

/// Width and height, as far as the header tells them.
fn size(bytes: &[u8], mime: &str) -> Option<(u64, u64)> {
    let be = |at: usize, len: usize| number(bytes, at, len, true);
    let le = |at: usize, len: usize| number(bytes, at, len, false);
    match mime {
        "image/png" => Some((be(16, 4)?, be(20, 4)?)),
        "image/gif" => Some((le(6, 2)?, le(8, 2)?)),
        // The height may be negative, which says that the picture begins at its top.
        "image/bmp" => Some((le(18, 4)?, u64::from(u32::try_from(le(22, 4)?).ok()?.cast_signed().unsigned_abs()))),
        "image/webp" => webp_size(bytes),
        "image/tiff" => tiff_size(bytes),
        _ => jpeg_size(bytes),
    }
}

fn number(bytes: &[u8], at: usize, len: usize, is_big_endian: bool) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(len)?)?;
    let fold = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
    Some(if is_big_endian { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) })
}

/// From marker to marker until the frame, which has the size.
fn jpeg_size(bytes: &[u8]) -> Option<(u64, u64)> {
    let mut at = 2;
    loop {
        while *bytes.get(at)? != 0xff || *bytes.get(at + 1)? == 0xff {
            at += 1;
        }
        let marker = *bytes.get(at + 1)?;
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            return Some((number(bytes, at + 7, 2, true)?, number(bytes, at + 5, 2, true)?));
        }
        let has_length = !matches!(marker, 0x00 | 0x01 | 0xd0..=0xd9);
        at += 2 + if has_length { usize::try_from(number(bytes, at + 2, 2, true)?).ok()? } else { 0 };
    }
}

fn webp_size(bytes: &[u8]) -> Option<(u64, u64)> {
    let le = |at: usize, len: usize| number(bytes, at, len, false);
    match bytes.get(12..16)? {
        b"VP8X" => Some((le(24, 3)? + 1, le(27, 3)? + 1)),
        b"VP8L" => {
            let bits = le(21, 4)?;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        _ => Some((le(26, 2)? & 0x3fff, le(28, 2)? & 0x3fff)),
    }
}

/// The largest of all pages, of which there may be many.
fn tiff_size(bytes: &[u8]) -> Option<(u64, u64)> {
    const PAGES_MAX: usize = 200;
    let is_big_endian = bytes.starts_with(b"MM");
    let get = |at: usize, len: usize| number(bytes, at, len, is_big_endian);
    let mut found: Option<(u64, u64)> = None;
    let mut at = usize::try_from(get(4, 4)?).ok()?;
    for _ in 0..PAGES_MAX {
        let entries = usize::try_from(get(at, 2)?).ok()?;
        let (mut width, mut height) = (0, 0);
        for index in 0..entries {
            let entry = at + 2 + index * 12;
            let value = if get(entry + 2, 2)? == 3 { get(entry + 8, 2)? } else { get(entry + 8, 4)? };
            match get(entry, 2)? {
                256 => width = value,
                257 => height = value,
                _ => {}
            }
        }
        if found.is_none_or(|(w, h)| width.saturating_mul(height) > w.saturating_mul(h)) {
            found = Some((width, height));
        }
        at = usize::try_from(get(at + 2 + entries * 12, 4).unwrap_or(0)).ok()?;
        if at == 0 {
            return found;
        }
    }
    // More pages than anybody scans, or a circle of them.
    Some((u64::MAX, u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_read_before_the_picture_is() {
        let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[0, 0, 0xff, 0xff, 0, 1, 0, 0]].concat();
        assert_eq!(size(&png, "image/png"), Some((65_535, 65_536)));
        assert_eq!(read(&png, "image/png").unwrap_err().reason, RefusalReason::TooLarge);
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08\0\x10\0\x20";
        assert_eq!(size(jpeg, "image/jpeg"), Some((32, 16)));
        assert_eq!(size(&jpeg[..12], "image/jpeg"), None);
        let tiff = b"II*\0\x08\0\0\0\x02\0\0\x01\x03\0\x01\0\0\0\x40\0\0\0\x01\x01\x04\0\x01\0\0\0\x30\0\0\0\0\0\0\0";
        assert_eq!(size(tiff, "image/tiff"), Some((64, 48)));
        let circle = b"II*\0\x08\0\0\0\0\0\x08\0\0\0";
        assert_eq!(read(circle, "image/tiff").unwrap_err().reason, RefusalReason::TooLarge);
        assert_eq!(read(b"\x89PNG\r\n\x1a\n", "image/png").unwrap_err().reason, RefusalReason::Broken);
    }
}
