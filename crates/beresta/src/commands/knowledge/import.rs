//! `beresta knowledge import`: how far it is on standard error, what it did on standard output.

use std::{
    io::IsTerminal,
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::Result;
use knowledge::{
    import::{self, ImportProgress, ImportRequest, ImportSummary},
    manage,
};

use super::{ArchiveScene, args::ImportArgs};
use crate::commands::progress;

/// Ends well only if the file could be read to its end.
pub(super) async fn run(args: &ImportArgs) -> Result<ExitCode> {
    let scene = ArchiveScene::open(&args.common).await?;
    let bot = manage::find_bot(&scene.database.db, scene.workspace, args.bot.as_deref(), args.chat_id).await?;
    let request = ImportRequest { export: args.export.clone(), bot, chat: args.chat_id };
    let is_terminal = std::io::stderr().is_terminal();
    let every = Duration::from_secs(if is_terminal { 1 } else { 10 });
    let mut told = Instant::now();
    let mut has_told = false;
    let imported = import::run(&scene.archive, scene.workspace, &request, &mut |at| {
        if told.elapsed() >= every {
            told = Instant::now();
            has_told = true;
            if is_terminal { eprint!("\r\x1b[K{}", line(at)) } else { progress(&line(at)) }
        }
    })
    .await;
    if is_terminal && has_told {
        eprintln!();
    }
    let summary = imported?;
    if args.common.json {
        println!("{}", serde_json::to_string_pretty(&summary)?);
    } else {
        print!("{}", words(&summary));
    }
    scene.close().await;
    Ok(match &summary.ended_early {
        None => ExitCode::SUCCESS,
        Some(place) => {
            progress(&format!(
                "the export could not be read to its end ({place}); what stands before was taken; export it again"
            ));
            ExitCode::FAILURE
        }
    })
}

fn line(at: &ImportProgress<'_>) -> String {
    let percent = at.bytes_read * 100 / at.bytes.max(1);
    let megabytes = |bytes: u64| bytes / 1_000_000;
    format!(
        "{percent} % of {} MB ({} MB): {} messages, {} new, {} files",
        megabytes(at.bytes),
        megabytes(at.bytes_read),
        at.summary.messages(),
        at.summary.messages_new + at.summary.messages_newer,
        at.summary.files_taken
    )
}

/// The summary as a person reads it.
fn words(summary: &ImportSummary) -> String {
    let mut lines = Vec::new();
    for chat in &summary.chats {
        let title = chat.title.as_deref().unwrap_or("private chat");
        lines.push(format!("chat {}  {title}: {} messages in the export", chat.chat_id, chat.messages));
    }
    for left in &summary.chats_left {
        let (id, title) = (left.chat_id.map_or("-".to_owned(), |id| id.to_string()), left.title.as_deref().unwrap_or("-"));
        lines.push(format!("left {id}  {title}: {}", left.why));
    }
    lines.push(format!(
        "messages: {} new, {} in a newer version, {} known, {} skipped, {} broken",
        summary.messages_new,
        summary.messages_newer,
        summary.messages_known,
        summary.messages_skipped.values().sum::<u64>(),
        summary.broken
    ));
    lines.extend(summary.messages_skipped.iter().map(|(why, count)| format!("  skipped {count}: {why}")));
    for broken in &summary.broken_at {
        lines.push(format!("  broken: message {} of chat {}: {}", broken.position, broken.chat_id, broken.why));
    }
    if summary.broken > summary.broken_at.len() as u64 {
        lines.push(format!("  and {} more", summary.broken - summary.broken_at.len() as u64));
    }
    let skipped: u64 = summary.files_skipped.values().sum();
    lines.push(format!("files: {} taken, {} missing, {skipped} skipped", summary.files_taken, summary.files_missing));
    lines.extend(summary.files_skipped.iter().map(|(why, count)| format!("  skipped {count}: {why}")));
    lines.push(format!("{:.1} seconds", summary.seconds));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_zero_percent_and_no_division() {
        let summary = ImportSummary::default();
        let told = line(&ImportProgress { bytes_read: 0, bytes: 0, summary: &summary });
        assert_eq!(told, "0 % of 0 MB (0 MB): 0 messages, 0 new, 0 files");
        assert!(words(&summary).contains("messages: 0 new"));
    }
}
