//! The echo bot in the console: the last messages, and what became of them.

use futures::{FutureExt, future::BoxFuture};
use platform::{
    DbError,
    console::{ConsolePage, table},
    http::{Ctx, Failure},
};

pub(crate) const PAGE: ConsolePage = ConsolePage {
    path: "echobot",
    title: "Echo bot",
    lead: "What it was told, and whether it has repeated it.",
    topics: &["echobot"],
    render,
};

fn render<'a>(ctx: &'a Ctx, _query: &'a str) -> BoxFuture<'a, Result<String, Failure>> {
    async move {
        let mut tx = ctx.begin().await?;
        let query = "select text, coalesce(words::text, '–'), status from echobot.echoes order by echo_id desc limit 50";
        let rows: Vec<(String, String, String)> = sqlx::query_as(query).fetch_all(&mut *tx).await.map_err(DbError::from)?;
        Ok(table("Echoes", ["message", "words", "status"], rows.into_iter().map(|(text, words, status)| [text, words, status])))
    }
    .boxed()
}
