//! A ZIP archive of a stranger: its parts are streams, and all of them together give no more bytes than one document may have.

use std::{
    cell::Cell,
    io::{BufReader, Cursor, Read, Result as IoResult},
    rc::Rc,
};

use zip::{ZipArchive, result::ZipError};

use super::xml::Xml;
use crate::model::Refusal;

const MEMBERS_MAX: usize = 20_000;
/// Of all parts that are read, unpacked. What is left of it is counted, because declared sizes lie.
const UNPACKED_BYTES_MAX: u64 = 256 << 20;
/// Of a part that is read at once.
const SHORT_BYTES_MAX: u64 = 1 << 20;

pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    budget: Rc<Cell<u64>>,
}

impl<'a> Archive<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|_| damaged())?;
        if zip.len() > MEMBERS_MAX {
            return Err(Refusal::too_large(format!(
                "The file is an archive of {} parts; a document has at most {MEMBERS_MAX}.",
                zip.len()
            )));
        }
        Ok(Self { zip, budget: Rc::new(Cell::new(UNPACKED_BYTES_MAX)) })
    }

    /// A part as XML, if it is there.
    pub(crate) fn xml(&mut self, name: &str) -> Result<Option<Xml<'_>>, Refusal> {
        Ok(self.part(name)?.map(|part| Xml::new(Box::new(BufReader::new(part)))))
    }

    /// A short part as text, if it is there.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        let Some(part) = self.part(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        part.take(SHORT_BYTES_MAX).read_to_end(&mut bytes).map_err(|_| damaged())?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn part(&mut self, name: &str) -> Result<Option<Metered<impl Read + use<'_, 'a>>>, Refusal> {
        let index = self.zip.index_for_name(name);
        let Some(index) = index else { return Ok(None) };
        match self.zip.by_index(index) {
            Ok(part) => Ok(Some(Metered { inner: part, budget: Rc::clone(&self.budget) })),
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => Err(super::encrypted()),
            Err(_) => Err(damaged()),
        }
    }
}

fn damaged() -> Refusal {
    Refusal::broken("The file is damaged: it begins as an Office document and cannot be unpacked.")
}

/// A stream that ends with an error once all streams together gave too much.
struct Metered<R> {
    inner: R,
    budget: Rc<Cell<u64>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        let read = self.inner.read(buffer)?;
        let left = self.budget.get().checked_sub(read as u64).ok_or_else(|| std::io::Error::other(Unpacked))?;
        self.budget.set(left);
        Ok(read)
    }
}

/// The document is larger unpacked than one may be.
#[derive(Debug)]
pub(super) struct Unpacked;

impl std::fmt::Display for Unpacked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("unpacked too large")
    }
}

impl std::error::Error for Unpacked {}

impl From<Unpacked> for Refusal {
    fn from(_: Unpacked) -> Self {
        Self::too_large(format!("The document unpacks to more than {} MB.", UNPACKED_BYTES_MAX >> 20))
    }
}
