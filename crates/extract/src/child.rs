//! The body of the hidden command: one document from standard input, one answer to standard output.

use std::{
    io::{self, Read, stdin, stdout},
    process::ExitCode,
    thread,
};

use crate::{
    jail,
    model::{Refusal, Source},
    read::extract,
    wire::{self, ChildAnswer, RequestHead},
};

/// Reads one document and answers. To be called before the program has started threads, opened files or read its settings.
pub fn run_child() -> ExitCode {
    let Ok(head) = wire::read_head(&mut stdin().lock()) else { return ExitCode::FAILURE };
    let answer = match jail::enter(&head) {
        // Without its limits it reads nothing.
        Err(err) => {
            ChildAnswer::Refused(Refusal::unavailable(format!("The limits for reading a document cannot be set: {err}.")))
        }
        Ok(()) => answer(head).unwrap_or_else(|err| {
            ChildAnswer::Refused(Refusal::unavailable(format!(
                "The document did not arrive in the process that reads it: {err}."
            )))
        }),
    };
    match wire::write_answer(&mut stdout().lock(), &answer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn answer(head: RequestHead) -> io::Result<ChildAnswer> {
    let mut bytes = vec![0; head.bytes];
    stdin().lock().read_exact(&mut bytes)?;
    let reader = thread::Builder::new().stack_size(jail::STACK_BYTES).spawn(move || {
        let source =
            Source { bytes: &bytes, mime: head.mime.as_deref(), file_name: head.file_name.as_deref(), url: head.url.as_deref() };
        extract(&source)
    })?;
    let read = reader
        .join()
        .unwrap_or_else(|_| Err(Refusal::broken("The file is damaged in a way that its reader does not understand.")));
    Ok(read.map_or_else(ChildAnswer::Refused, ChildAnswer::Text))
}
