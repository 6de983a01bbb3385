//! Bytes to text. [`extract`] reads a document in this process; [`Extractor`] has a child process do it, which may take neither more memory
//! nor more time than it was given, reaches no network, and takes nobody along when it dies.

mod model;
mod text;

mod charset;
mod language;
mod sniff;

mod html;
mod hyphens;
mod image;
mod ocr;
mod office;
mod pdf;
mod plain;
mod read;

mod child;
mod jail;
mod parent;
mod wire;

pub use child::run_child;
pub use model::{ExtractLimits, ExtractedText, Mark, MarkKind, Refusal, RefusalReason, Source};
pub use parent::Extractor;
pub use read::extract;
