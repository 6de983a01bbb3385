//! The byte budget of everything uploaded, shared by the providers: a test that loops cannot eat the machine.

use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};

/// All files together. Beyond it uploads are answered with 413.
const FILES_BYTES_MAX: usize = 256 * 1024 * 1024;

#[derive(Default)]
pub(crate) struct Vault {
    used: AtomicUsize,
}

impl Vault {
    /// Takes room for a file; false when there is none.
    #[must_use]
    pub(crate) fn admit(&self, bytes: usize) -> bool {
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
                used.checked_add(bytes).filter(|total| *total <= FILES_BYTES_MAX)
            })
            .is_ok()
    }

    pub(crate) fn reset(&self) {
        self.used.store(0, Ordering::Relaxed);
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
