//! How long a recording is, where its header tells: WAV and Ogg Opus. The models refuse by duration.

const OPUS_RATE: f64 = 48_000.0;
/// What a recording of another format is taken for: 64 kbit/s.
const BYTES_PER_SECOND: f64 = 8_000.0;

/// Seconds, and whether they were read rather than guessed from the size.
pub(super) fn duration(bytes: &[u8]) -> (f64, bool) {
    if let Some(seconds) = wav(bytes).or_else(|| ogg(bytes)) {
        return (seconds, true);
    }
    let size = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    ((f64::from(size) / BYTES_PER_SECOND).max(1.0), false)
}

fn wav(bytes: &[u8]) -> Option<f64> {
    if !bytes.starts_with(b"RIFF") || bytes.get(8..12)? != b"WAVE" {
        return None;
    }
    let mut at = 12;
    let mut rate = None;
    loop {
        let size = u32_at(bytes, at + 4)?;
        match bytes.get(at..at + 4)? {
            b"fmt " => rate = Some(u32_at(bytes, at + 16)?),
            b"data" => return rate.filter(|rate| *rate > 0).map(|rate| f64::from(size) / f64::from(rate)),
            _ => {}
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(size).ok()?)?;
    }
}

/// The granule position of the last page counts samples.
fn ogg(bytes: &[u8]) -> Option<f64> {
    if !bytes.starts_with(b"OggS") {
        return None;
    }
    let last = bytes.windows(4).rposition(|window| window == b"OggS")?;
    // 32 bits of samples are a day of sound.
    Some(f64::from(u32_at(bytes, last + 6)?) / OPUS_RATE)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn the_duration_is_read_from_the_header() {
        let mut wav = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
        wav.extend(8_000_u32.to_le_bytes());
        wav.extend(16_000_u32.to_le_bytes());
        wav.extend(*b"\x02\0\x10\0data");
        wav.extend(40_000_u32.to_le_bytes());
        assert_eq!(duration(&wav), (2.5, true));
        let mut ogg = b"OggS\0\x02\0\0\0\0\0\0\0\0....OggS\0\x04".to_vec();
        ogg.extend(96_000_u64.to_le_bytes());
        assert_eq!(duration(&ogg), (2.0, true));
        assert_eq!(duration(&[0; 16_000]), (2.0, false));
    }
}
