//! What parent and child say to each other: a head as JSON and then the bytes, on the way there; an answer as JSON, on the way back. Lengths go first.

use std::io::{Error, Read, Result, Write};

use serde::{Deserialize, Serialize};

use crate::model::{ExtractLimits, ExtractedText, Refusal, Source};

/// Names and addresses; nobody's are longer.
const HEAD_BYTES_MAX: usize = 1 << 20;

#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct RequestHead {
    pub(crate) mime: Option<String>,
    pub(crate) file_name: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) bytes: usize,
    pub(crate) memory_bytes_max: u64,
    pub(crate) cpu_seconds_max: u64,
    pub(crate) file_bytes_max: u64,
}

impl RequestHead {
    pub(crate) fn of(source: &Source<'_>, limits: &ExtractLimits) -> Self {
        let cut = |text: Option<&str>| text.map(|text| text.chars().take(4096).collect());
        Self {
            mime: cut(source.mime),
            file_name: cut(source.file_name),
            url: cut(source.url),
            bytes: source.bytes.len(),
            memory_bytes_max: limits.memory_bytes_max,
            cpu_seconds_max: limits.cpu_seconds_max,
            file_bytes_max: limits.file_bytes_max,
        }
    }

    /// With its length.
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        framed(&serde_json::to_vec(self)?)
    }
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChildAnswer {
    Text(ExtractedText),
    Refused(Refusal),
}

/// How many bytes the length of what follows takes.
pub(crate) const LENGTH_BYTES: usize = 4;

pub(crate) fn framed(json: &[u8]) -> Result<Vec<u8>> {
    let length = u32::try_from(json.len()).map_err(Error::other)?;
    Ok([&length.to_be_bytes(), json].concat())
}

pub(crate) fn read_head(input: &mut impl Read) -> Result<RequestHead> {
    let mut length = [0; LENGTH_BYTES];
    input.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(Error::other)?;
    if length > HEAD_BYTES_MAX {
        return Err(Error::other("the head of the request is too long"));
    }
    let mut json = vec![0; length];
    input.read_exact(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}

pub(crate) fn write_answer(output: &mut impl Write, answer: &ChildAnswer) -> Result<()> {
    output.write_all(&framed(&serde_json::to_vec(answer)?)?)?;
    output.flush()
}

/// The answer, if all of it is there.
pub(crate) fn read_answer(bytes: &[u8]) -> Option<ChildAnswer> {
    let (length, json) = bytes.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    (json.len() == length).then(|| serde_json::from_slice(json).ok())?
}
