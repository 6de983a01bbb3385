//! What a file is, by its bytes. Its name and the type that was told for it choose only between kinds of text.

use crate::{
    charset,
    model::{Refusal, RefusalReason, Source},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Pdf,
    Zip,
    Image(&'static str),
    Html(String),
    Json(String),
    Csv(String),
    Markdown(String),
    Plain(String),
}

/// How far into a file `%PDF-` may stand: readers of PDF agree on it.
const PDF_HEADER_WITHIN: usize = 1024;
/// What of a text is looked at.
const SAMPLE_BYTES: usize = 64 << 10;

pub(crate) fn kind(source: &Source<'_>) -> Result<FileKind, Refusal> {
    let bytes = source.bytes;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Refusal::new(RefusalReason::Empty, "The file is empty."));
    }
    if find(&bytes[..bytes.len().min(PDF_HEADER_WITHIN)], b"%PDF-").is_some() {
        return Ok(FileKind::Pdf);
    }
    if [b"PK\x03\x04", b"PK\x05\x06"].iter().any(|magic| bytes.starts_with(*magic)) {
        return Ok(FileKind::Zip);
    }
    if let Some(mime) = image(bytes) {
        return Ok(FileKind::Image(mime));
    }
    if let Some(refusal) = sound(bytes).or_else(|| foreign(bytes)) {
        return Err(refusal);
    }
    text(source)
}

fn image(bytes: &[u8]) -> Option<&'static str> {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    Some(match () {
        () if starts(b"\x89PNG\r\n\x1a\n") => "image/png",
        () if starts(b"\xff\xd8\xff") => "image/jpeg",
        () if starts(b"GIF87a") || starts(b"GIF89a") => "image/gif",
        () if starts(b"II*\0") || starts(b"MM\0*") => "image/tiff",
        () if starts(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") => "image/webp",
        () if starts(b"BM") && bytes.get(6..10) == Some(&[0; 4]) => "image/bmp",
        () => return None,
    })
}

/// Sound, and film, whose sound is what can be read of it.
fn sound(bytes: &[u8]) -> Option<Refusal> {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    let brand = bytes.get(4..8).filter(|found| *found == b"ftyp").and_then(|_| bytes.get(8..12));
    let is_mpeg = bytes.len() > 3
        && bytes[0] == 0xff
        && bytes[1] & 0xe0 == 0xe0
        && bytes[1] & 0x18 != 0x08
        && bytes[1] & 0x06 != 0
        && bytes[2] & 0xf0 != 0xf0;
    let is_adts = bytes.len() > 3 && bytes[0] == 0xff && bytes[1] & 0xf6 == 0xf0;
    let words = match () {
        () if matches!(brand, Some(b"heic" | b"heix" | b"mif1" | b"avif" | b"msf1")) => return None,
        () if matches!(brand, Some(b"M4A " | b"M4B ")) => "a sound recording",
        () if brand.is_some() || starts(b"\x1a\x45\xdf\xa3") || starts(b"FLV") => "a video",
        () if starts(b"RIFF") && bytes.get(8..12) == Some(b"AVI ") => "a video",
        () if starts(b"OggS") || starts(b"ID3") || starts(b"fLaC") || starts(b"#!AMR") || starts(b"caff") => "a sound recording",
        () if starts(b"RIFF") && bytes.get(8..12) == Some(b"WAVE") => "a sound recording",
        () if starts(b"FORM") && matches!(bytes.get(8..12), Some(b"AIFF" | b"AIFC")) => "a sound recording",
        () if is_mpeg || is_adts => "a sound recording",
        () => return None,
    };
    Some(Refusal::new(RefusalReason::Audio, format!("This is {words}: its speech has to be transcribed.")))
}

/// Files that people send and that nobody here reads, by their names.
fn foreign(bytes: &[u8]) -> Option<Refusal> {
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    if starts(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        // What Office encrypts it puts, whole, into a file of its old format.
        let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
        return Some(if find(bytes, &name).is_some() {
            Refusal::new(RefusalReason::Encrypted, "The document is protected by a password.")
        } else {
            refuse_foreign("This is a file of the old Office formats (DOC, XLS, PPT): save it as DOCX, XLSX, PPTX or PDF.")
        });
    }
    let words = match () {
        () if starts(b"{\\rtf") => "This is an RTF document: save it as DOCX or PDF.",
        () if starts(b"Rar!")
            || starts(b"7z\xbc\xaf\x27\x1c")
            || starts(b"\x1f\x8b")
            || starts(b"BZh")
            || starts(b"\xfd7zXZ")
            || starts(b"\x28\xb5\x2f\xfd") =>
        {
            "This is an archive: send the documents in it."
        }
        () if bytes.get(4..8) == Some(b"ftyp") => {
            "This is a picture in a format that cannot be read here (HEIC, AVIF): send it as JPEG or PNG."
        }
        () if starts(b"\x7fELF") || starts(b"MZ") || starts(b"\xca\xfe\xba\xbe") => "This is a program, not a document.",
        () if starts(b"AT&TFORM") => "This is a DjVu document: save it as PDF.",
        () if starts(b"%!PS") => "This is a PostScript document: save it as PDF.",
        () => return None,
    };
    Some(refuse_foreign(words))
}

pub(crate) fn refuse_foreign(words: &str) -> Refusal {
    Refusal::new(RefusalReason::Foreign, words)
}

fn text(source: &Source<'_>) -> Result<FileKind, Refusal> {
    let declared = charset::declared(source.bytes, source.mime);
    let text = charset::decode(source.bytes, declared.as_deref());
    let sample: String = text.chars().take(SAMPLE_BYTES).collect();
    let (all, odd) = sample.chars().fold((0_usize, 0_usize), |(all, odd), c| {
        let is_odd = c == char::REPLACEMENT_CHARACTER
            || c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}' | '\u{b}' | '\u{1b}' | '\u{feff}');
        (all + 1, odd + usize::from(is_odd))
    });
    if odd * 50 > all || sample.contains("\0\0") {
        return Err(refuse_foreign("The file is neither text nor a document of a known format."));
    }
    let name = source.file_name.unwrap_or_default().to_ascii_lowercase();
    let mime = source.mime.unwrap_or_default().to_ascii_lowercase();
    let told = |endings: &[&str], mimes: &[&str]| {
        endings.iter().any(|ending| name.ends_with(ending)) || mimes.iter().any(|told| mime.starts_with(told))
    };
    Ok(match () {
        () if is_html(&sample) => FileKind::Html(text),
        () if is_json(&sample, told(&[".json", ".jsonl", ".ndjson", ".geojson"], &["application/json"])) => FileKind::Json(text),
        () if told(&[".md", ".markdown"], &["text/markdown"]) => FileKind::Markdown(text),
        () if told(&[".csv", ".tsv"], &["text/csv", "text/tab-separated-values"]) => FileKind::Csv(text),
        () if told(&[".html", ".htm", ".xhtml"], &["text/html", "application/xhtml"]) && sample.contains('<') => {
            FileKind::Html(text)
        }
        () => FileKind::Plain(text),
    })
}

/// A page says so at its beginning, behind comments at most. Markdown that has tags in it does not.
fn is_html(sample: &str) -> bool {
    let mut rest = sample.trim_start_matches('\u{feff}').trim_start();
    loop {
        if let Some(comment) = rest.strip_prefix("<!--") {
            let Some((_, after)) = comment.split_once("-->") else { return false };
            rest = after.trim_start();
        } else if rest.starts_with("<?xml") {
            let Some((_, after)) = rest.split_once("?>") else { return false };
            rest = after.trim_start();
        } else {
            break;
        }
    }
    let head: String = rest.chars().take(16).collect::<String>().to_ascii_lowercase();
    let tag = |name: &str| head.strip_prefix(name).is_some_and(|after| after.starts_with(['>', ' ', '\n', '\r', '\t', '/']));
    head.starts_with("<!doctype html") || ["<html", "<head", "<body", "<title", "<meta"].iter().any(|name| tag(name))
}

/// An object or a list. A single number or word is text, unless its name says otherwise.
fn is_json(sample: &str, is_told: bool) -> bool {
    let start = sample.trim_start();
    if is_told {
        return start.starts_with(['{', '[', '"'])
            || start.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == 't' || c == 'f' || c == 'n');
    }
    let mut values = serde_json::Deserializer::from_str(start).into_iter::<serde::de::IgnoredAny>();
    start.starts_with(['{', '['])
        && match values.next() {
            Some(Ok(_)) => true,
            // Only the sample ended.
            Some(Err(err)) => err.is_eof() && sample.len() > SAMPLE_BYTES / 2,
            None => false,
        }
}

pub(crate) fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(bytes: &[u8]) -> RefusalReason {
        kind(&Source { bytes, ..Source::default() }).unwrap_err().reason
    }

    fn named(bytes: &str, name: &str) -> FileKind {
        kind(&Source { bytes: bytes.as_bytes(), file_name: Some(name), ..Source::default() }).unwrap()
    }

    #[test]
    fn a_file_without_a_reader_is_refused_by_its_name() {
        assert_eq!(reason(b""), RefusalReason::Empty);
        assert_eq!(reason(b" \n\t "), RefusalReason::Empty);
        for bytes in [
            &b"OggS\0\x02"[..],
            b"ID3\x04",
            b"\xff\xfb\x90\x44",
            b"RIFF\0\0\0\0WAVEfmt ",
            b"\0\0\0\x20ftypM4A ",
            b"\0\0\0\x20ftypisom",
            b"\x1a\x45\xdf\xa3",
        ] {
            assert_eq!(reason(bytes), RefusalReason::Audio, "{bytes:?}");
        }
        for bytes in [
            &b"\x7fELF\x02"[..],
            b"Rar!\x1a\x07",
            b"{\\rtf1",
            b"\0\0\0\x18ftypheic",
            b"\x01\x02\x03\x00\x00\xff\xfe\x80\x81",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        ] {
            assert_eq!(reason(bytes), RefusalReason::Foreign, "{bytes:?}");
        }
    }

    #[test]
    fn a_name_chooses_between_kinds_of_text_only() {
        assert!(matches!(named("# a\n<b>b</b>", "a.md"), FileKind::Markdown(_)));
        assert!(matches!(named("a;b\n1;2", "a.csv"), FileKind::Csv(_)));
        assert!(matches!(named("a;b\n1;2", "a.pdf"), FileKind::Plain(_)));
        assert!(matches!(named("%PDF-1.7\n", "a.txt"), FileKind::Pdf));
        assert!(matches!(named("<!-- x --> <HTML lang=ru>", "a.txt"), FileKind::Html(_)));
        assert!(matches!(named("{\"a\": [1]}", "a"), FileKind::Json(_)));
        assert!(matches!(named("[see] the list", "a"), FileKind::Plain(_)));
        assert!(matches!(named("42", "a.txt"), FileKind::Plain(_)));
    }
}
