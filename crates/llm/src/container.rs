//! What kind of audio file it is, and how such a file is called.
//!
//! Providers look at the extension and at the content type of a file before they look into it, and messengers are careless
//! with both: a voice message of Telegram is `audio/ogg` in a file `.oga`, which is on nobody's list.

/// A kind of file that every provider of transcriptions knows by this extension and this content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AudioContainer {
    pub(crate) extension: &'static str,
    pub(crate) mime: &'static str,
}

const FLAC: AudioContainer = AudioContainer { extension: "flac", mime: "audio/flac" };
const MP3: AudioContainer = AudioContainer { extension: "mp3", mime: "audio/mpeg" };
const MP4: AudioContainer = AudioContainer { extension: "mp4", mime: "video/mp4" };
const M4A: AudioContainer = AudioContainer { extension: "m4a", mime: "audio/mp4" };
const OGG: AudioContainer = AudioContainer { extension: "ogg", mime: "audio/ogg" };
const WAV: AudioContainer = AudioContainer { extension: "wav", mime: "audio/wav" };
const WEBM: AudioContainer = AudioContainer { extension: "webm", mime: "audio/webm" };

/// The kind of a file: by its first bytes, else by its extension, else by its content type.
pub(crate) fn container(bytes: &[u8], mime: &str, file_name: &str) -> Option<AudioContainer> {
    by_bytes(bytes).map(|found| if found == MP4 { mp4_or_m4a(mime, file_name) } else { found }).or_else(|| {
        let extension = file_name.rsplit_once('.').map(|(_, extension)| extension).unwrap_or_default();
        by_extension(&extension.to_ascii_lowercase()).or_else(|| by_mime(mime))
    })
}

fn by_bytes(bytes: &[u8]) -> Option<AudioContainer> {
    match bytes {
        [b'O', b'g', b'g', b'S', ..] => Some(OGG),
        [b'f', b'L', b'a', b'C', ..] => Some(FLAC),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..] => Some(WAV),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => Some(MP4),
        [0x1a, 0x45, 0xdf, 0xa3, ..] => Some(WEBM),
        // Tags, or a frame of layer III. Layer 0 in the same place is AAC.
        [b'I', b'D', b'3', ..] => Some(MP3),
        [0xff, second, ..] if second & 0xe6 == 0xe2 => Some(MP3),
        _ => None,
    }
}

/// The bytes of both begin alike.
fn mp4_or_m4a(mime: &str, file_name: &str) -> AudioContainer {
    let is_audio = mime.trim().to_ascii_lowercase().starts_with("audio/") || file_name.to_ascii_lowercase().ends_with(".m4a");
    if is_audio { M4A } else { MP4 }
}

fn by_extension(extension: &str) -> Option<AudioContainer> {
    match extension {
        "flac" => Some(FLAC),
        "mp3" | "mpeg" | "mpga" => Some(MP3),
        "mp4" => Some(MP4),
        "m4a" => Some(M4A),
        "ogg" | "oga" | "opus" => Some(OGG),
        "wav" => Some(WAV),
        "webm" => Some(WEBM),
        _ => None,
    }
}

fn by_mime(mime: &str) -> Option<AudioContainer> {
    // Without parameters: `audio/ogg; codecs=opus`.
    match mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "audio/flac" | "audio/x-flac" => Some(FLAC),
        "audio/mpeg" | "audio/mp3" | "audio/mpga" | "audio/x-mp3" => Some(MP3),
        "video/mp4" => Some(MP4),
        "audio/mp4" | "audio/m4a" | "audio/x-m4a" => Some(M4A),
        "audio/ogg" | "audio/opus" | "application/ogg" => Some(OGG),
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => Some(WAV),
        "audio/webm" | "video/webm" => Some(WEBM),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_bytes_say() {
        for (bytes, extension) in [
            (b"OggS\0\x02".as_slice(), "ogg"),
            (b"fLaC\0", "flac"),
            (b"RIFF\x24\0\0\0WAVEfmt ", "wav"),
            (b"\x1a\x45\xdf\xa3\x01", "webm"),
            (b"ID3\x04", "mp3"),
            (b"\xff\xfb\x90\x64", "mp3"),
            (b"\xff\xf3\x40", "mp3"),
        ] {
            let found = container(bytes, "audio/mp4", "wrong.flac").unwrap();
            assert_eq!(found.extension, extension);
        }
        let mp4 = b"\0\0\0\x20ftypM4A ";
        assert_eq!(container(mp4, "audio/mp4", "a.mp4"), Some(M4A));
        assert_eq!(container(mp4, "", "a.M4A"), Some(M4A));
        assert_eq!(container(mp4, "video/mp4", "circle.mp4"), Some(MP4));
    }

    #[test]
    fn bytes_that_say_nothing_leave_it_to_the_name_and_then_to_the_type() {
        assert_eq!(container(b"?", "", "voice.OGA"), Some(OGG));
        assert_eq!(container(b"?", "audio/mpeg", "x.opus"), Some(OGG));
        assert_eq!(container(b"?", "audio/ogg; codecs=opus", "voice"), Some(OGG));
        assert_eq!(container(b"?", "Audio/X-Wav", "file.bin"), Some(WAV));
        assert_eq!(container(b"\xff\xf1\x50", "audio/aac", "a.aac"), None, "AAC alone is on nobody's list");
        assert_eq!(container(b"", "", ""), None);
    }
}
