//! What goes in, what comes out, and why nothing did.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A document as it came from outside. Only the bytes decide what it is; the rest settles what bytes cannot, such as Markdown or plain text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source<'a> {
    pub bytes: &'a [u8],
    pub mime: Option<&'a str>,
    pub file_name: Option<&'a str>,
    pub url: Option<&'a str>,
}

/// The text of a document, in NFC, its paragraphs separated by a blank line.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct ExtractedText {
    pub text: String,
    pub title: Option<String>,
    pub author: Option<String>,
    /// As the document has it; ISO 8601 where the format demands it.
    pub date: Option<String>,
    /// ISO 639-1.
    pub language: Option<String>,
    /// Found from the bytes.
    pub mime: String,
    /// In the order of the text.
    pub marks: Vec<Mark>,
}

/// Where a page, slide or sheet begins, so that a citation can name it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// Characters into the text.
    pub at: usize,
    pub kind: MarkKind,
    /// From 1.
    pub number: u32,
    pub name: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    Page,
    Slide,
    Sheet,
}

/// Why there is no text. The message is a sentence for whoever sent the document.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Refusal {
    pub reason: RefusalReason,
    pub message: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalReason {
    /// It needs a password.
    Encrypted,
    /// It holds no text.
    Empty,
    /// It is not what it begins as.
    Broken,
    /// Nobody here reads such files.
    Foreign,
    TooLarge,
    /// Memory or time ran out. The same file would end the same way.
    TooMuchWork,
    /// It is a picture, and OCR is not installed: it can be read once it is.
    NoOcr,
    /// It is sound, for a transcriber.
    Audio,
    /// The child could not be started, which says nothing about the document: try again.
    Unavailable,
}

/// What one document may cost.
#[derive(Clone, Debug)]
pub struct ExtractLimits {
    /// Of the document itself.
    pub input_bytes_max: usize,
    /// Address space of the child beyond what it has when it starts; a program for OCR has as much.
    pub memory_bytes_max: u64,
    /// Of the child alone; the OCR of each page has as much.
    pub cpu_seconds_max: u64,
    /// For everything, OCR included.
    pub wall: Duration,
    /// What the child may answer.
    pub output_bytes_max: usize,
    /// A file that the child or OCR may write.
    pub file_bytes_max: u64,
}

impl Default for ExtractLimits {
    fn default() -> Self {
        Self {
            input_bytes_max: 64 << 20,
            memory_bytes_max: 1 << 30,
            cpu_seconds_max: 60,
            wall: Duration::from_mins(10),
            output_bytes_max: 64 << 20,
            file_bytes_max: 256 << 20,
        }
    }
}

impl Refusal {
    pub(crate) fn new(reason: RefusalReason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }

    pub(crate) fn broken(message: impl Into<String>) -> Self {
        Self::new(RefusalReason::Broken, message)
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(RefusalReason::TooLarge, message)
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(RefusalReason::Unavailable, message)
    }

    pub(crate) fn too_much_work(message: impl Into<String>) -> Self {
        Self::new(RefusalReason::TooMuchWork, message)
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
