//! `beresta knowledge search`: the ranking that an answer is made of.

use anyhow::Result;
use knowledge::search::{self, Asker, Hit, QuestionChannel, SHARE_MIN, SearchRequest};
use serde_json::json;

use super::{ArchiveScene, args::SearchArgs};
use crate::commands::progress;

pub(super) async fn run(args: &SearchArgs) -> Result<()> {
    let scene = ArchiveScene::open(&args.common).await?;
    let channel = if args.chat_id.is_some() { QuestionChannel::Group } else { QuestionChannel::Private };
    let request = SearchRequest {
        workspace: scene.workspace,
        asker: Asker { tg_user_id: args.tg_user_id, channel, chat_id: args.chat_id },
        question: &args.question,
        limit: args.limit.into(),
        but_message: None,
    };
    let found = search::search(&scene.archive, &request).await?;
    if args.common.json {
        let told = json!({
            "hits": found.hits, "audience": found.audience, "share": found.share, "share_min": SHARE_MIN,
            "is_enough": !found.is_too_little(), "took_ms": found.took_ms,
        });
        println!("{}", serde_json::to_string_pretty(&told)?);
    } else {
        found.hits.iter().for_each(print);
    }
    let chats = found.audience.len();
    progress(&match found.hits.len() {
        0 => format!("nothing was found in {chats} chats"),
        count => format!(
            "{count} found in {chats} chats in {} ms; the best answers {:.0} % of the question, {}",
            found.took_ms,
            found.share * 100.0,
            if found.is_too_little() { "too little for an answer" } else { "enough for an answer" }
        ),
    });
    scene.close().await;
    Ok(())
}

fn print(hit: &Hit) {
    let source = &hit.source_ref;
    let place = [source.title.as_deref(), source.file_name.as_deref(), source.author.as_deref(), source.date.as_deref()];
    let vector = hit.vector.map(|cosine| format!(", vectors {cosine:.3}")).unwrap_or_default();
    println!("{:>2}. {:.3} (words {:.3}{vector})  {}", hit.rank, hit.score, hit.words, one_line(&hit.text, 160));
    println!(
        "    {} · {}",
        place.into_iter().flatten().collect::<Vec<_>>().join(" · "),
        source.link.clone().unwrap_or_else(|| format!("chunk {}", hit.chunk_id))
    );
}

fn one_line(text: &str, chars_max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= chars_max { line } else { line.chars().take(chars_max - 1).chain(['…']).collect() }
}
