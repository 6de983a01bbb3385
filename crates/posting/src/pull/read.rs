//! Asks a source and decides which of its items to take now: the first run's policy, the limit of a run, and a cursor
//! that never moves past what was not taken.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use kernel::{Secret, redact};
use outbound::{FetchError, FetchRequest, Fetched};
use platform::DbError;

use super::{
    Puller, api,
    config::{Api, DatabaseSource, FirstRun, HeaderText, Origin, SourceConfig, SourcePage},
    cursor::SourceCursor,
    database::{self, WantedRows},
    feed,
    item::Item,
    store::{self, Source},
};

/// How many pages of an API one run asks for, and for how long; the next run goes on from there.
const PAGES_MAX: usize = 20;
const PAGES_TIME_MAX: Duration = Duration::from_mins(2);
const ERROR_CHARS_MAX: usize = 500;

/// What a run takes.
#[derive(Debug, Default)]
pub(super) struct PullBatch {
    pub(super) picked: Vec<Picked>,
    /// The source said that nothing changed.
    pub(super) is_unchanged: bool,
    /// Something was left for the next run, which comes at once.
    pub(super) is_more: bool,
}

#[derive(Debug)]
pub(super) enum Picked {
    Post(Item),
    /// Remembered, not posted.
    Seen(Item),
}

#[derive(Debug)]
pub(super) enum PullError {
    /// Ours: the job tries again.
    Db(DbError),
    /// The source's, or its settings': recorded for whoever set it up.
    Source { text: String, retry_after: Option<Duration> },
}

impl From<DbError> for PullError {
    fn from(error: DbError) -> Self {
        Self::Db(error)
    }
}

impl From<String> for PullError {
    fn from(text: String) -> Self {
        Self::Source { text: redact::snippet(&text, ERROR_CHARS_MAX), retry_after: None }
    }
}

impl PullError {
    fn fetch(error: &FetchError, source: &Source) -> Self {
        // The reason may describe our network, so it stays in our log.
        tracing::info!(workspace.id = %source.workspace, source.id = %source.id, reason = %error.reason(), "pull.fetch_failed");
        let retry_after = if let FetchError::Status { retry_after, .. } = error { *retry_after } else { None };
        Self::Source { text: redact::snippet(&error.to_string(), ERROR_CHARS_MAX), retry_after }
    }
}

impl Puller {
    /// Moves the cursor on as far as the batch reaches.
    pub(super) async fn read(
        &self,
        source: &Source,
        config: &SourceConfig,
        cursor: &mut SourceCursor,
    ) -> Result<PullBatch, PullError> {
        match &config.origin {
            Origin::Feed(page) => self.read_page(source, config, cursor, page, None).await,
            Origin::Api(api) if api.cursor.is_none() => self.read_page(source, config, cursor, &api.page, Some(api)).await,
            Origin::Api(api) => self.read_pages(source, config, cursor, api).await,
            Origin::Database(database) => self.read_rows(source, config, cursor, database).await,
        }
    }

    /// A feed, or an API that shows its newest items on one page.
    async fn read_page(
        &self,
        source: &Source,
        config: &SourceConfig,
        cursor: &mut SourceCursor,
        page: &SourcePage,
        api: Option<&Api>,
    ) -> Result<PullBatch, PullError> {
        let condition = (cursor.etag.take(), cursor.last_modified.take());
        let fetched = self.fetch(source, page, &page.url, condition.clone()).await?;
        if fetched.status == 304 {
            (cursor.etag, cursor.last_modified) = condition;
            return Ok(PullBatch { is_unchanged: true, ..PullBatch::default() });
        }
        let items = match api {
            Some(api) => api::read(api, &fetched.body)?.items,
            None => parse_feed(fetched.body.clone(), fetched.final_url.clone()).await?,
        };
        let batch = if cursor.started || config.first_run == FirstRun::All {
            self.first_new(source, items, config.items_max).await?
        } else {
            let is_latest = |at: usize| matches!(config.first_run, FirstRun::Latest(latest) if at + latest >= items.len());
            let is_latest: Vec<bool> = (0..items.len()).map(is_latest).collect();
            let pick = |(item, is_latest)| if is_latest { Picked::Post(item) } else { Picked::Seen(item) };
            limited(items.into_iter().zip(is_latest).map(pick).collect(), config.items_max)
        };
        cursor.started = true;
        // While something is left, "not modified" would hide it.
        if !batch.is_more {
            (cursor.etag, cursor.last_modified) = (fetched.etag, fetched.last_modified);
        }
        Ok(batch)
    }

    /// An API whose cursor goes forward, page by page.
    async fn read_pages(
        &self,
        source: &Source,
        config: &SourceConfig,
        cursor: &mut SourceCursor,
        api: &Api,
    ) -> Result<PullBatch, PullError> {
        let is_skipping = !cursor.started && config.first_run != FirstRun::All;
        let latest_max = if let FirstRun::Latest(latest) = config.first_run { latest.min(config.items_max) } else { 0 };
        let mut batch = PullBatch::default();
        let mut latest = VecDeque::new();
        let mut posts = 0;
        let started = tokio::time::Instant::now();
        for page in 1.. {
            let answer = match self.read_answer(source, api, cursor).await {
                // What the pages before this one held is taken; the next run starts here and tells about the error.
                Err(PullError::Source { .. }) if page > 1 => {
                    batch.is_more = true;
                    break;
                }
                answer => answer?,
            };
            let was_empty = answer.items.is_empty();
            if is_skipping {
                for item in answer.items {
                    latest.push_back(item);
                    if latest.len() > latest_max {
                        batch.picked.extend(latest.pop_front().map(Picked::Seen));
                    }
                }
            } else {
                let part = self.first_new(source, answer.items, config.items_max - posts).await?;
                posts += part.picked.iter().filter(|picked| matches!(picked, Picked::Post(_))).count();
                batch.picked.extend(part.picked);
                // The rest of this page is asked for again: the cursor stays before it.
                if part.is_more {
                    batch.is_more = true;
                    break;
                }
            }
            let next = answer.next.filter(|next| Some(next) != cursor.next.as_ref() && next.len() <= 1000);
            let Some(next) = next else { break };
            cursor.next = Some(next);
            if was_empty {
                break;
            }
            if page >= PAGES_MAX || started.elapsed() >= PAGES_TIME_MAX || posts >= config.items_max {
                batch.is_more = true;
                break;
            }
        }
        // As long as the first run has not come to the end, nothing is the latest.
        let is_end = !batch.is_more;
        cursor.started = is_end || !is_skipping;
        batch.picked.extend(latest.into_iter().map(|item| if is_end { Picked::Post(item) } else { Picked::Seen(item) }));
        Ok(batch)
    }

    async fn read_answer(&self, source: &Source, api: &Api, cursor: &SourceCursor) -> Result<api::ApiAnswer, PullError> {
        let url = api::page_url(api, cursor.next.as_deref())?;
        let fetched = self.fetch(source, &api.page, &url, (None, None)).await?;
        Ok(api::read(api, &fetched.body)?)
    }

    async fn read_rows(
        &self,
        source: &Source,
        config: &SourceConfig,
        cursor: &mut SourceCursor,
        database: &DatabaseSource,
    ) -> Result<PullBatch, PullError> {
        let url = self.secrets.read(&database.url)?;
        let is_latest = !cursor.started && config.first_run != FirstRun::All;
        let rows_max = match config.first_run {
            FirstRun::Latest(latest) if is_latest => latest.min(config.items_max),
            FirstRun::Nothing if is_latest => 1,
            _ => config.items_max,
        };
        let wanted = WantedRows { after: cursor.mark(), is_latest, rows_max };
        let rows = database::read(&url, &database.query, &wanted).await.map_err(|text| hide(&text, &[url]))?;
        let is_full = rows.len() == rows_max && !is_latest;
        let last = rows.last().map(|(_, mark)| mark.clone());
        cursor.started = true;
        // Never backwards: a query may look a little behind its mark on purpose, and the ledger knows what it sees again.
        if let Some(mark) = last.filter(|mark| cursor.last_seen_ts.is_none_or(|seen| mark.ts >= seen)) {
            (cursor.last_seen_ts, cursor.last_seen_id) = (Some(mark.ts), Some(mark.id));
        }
        let items: Vec<Item> = rows.into_iter().map(|(item, _)| item).collect();
        if is_latest && config.first_run == FirstRun::Nothing {
            return Ok(PullBatch { picked: items.into_iter().map(Picked::Seen).collect(), ..PullBatch::default() });
        }
        let batch = self.first_new(source, items, config.items_max).await?;
        let has_posts = batch.picked.iter().any(|picked| matches!(picked, Picked::Post(_)));
        if is_full && !has_posts && cursor.mark() == wanted.after {
            let advice = "the query returns only rows that were taken before: it has to ask for `(ts, id) > ($1, $2)`, with $2 cast to the type of id";
            return Err(advice.to_owned().into());
        }
        Ok(PullBatch { is_more: is_full, ..batch })
    }

    async fn fetch(
        &self,
        source: &Source,
        page: &SourcePage,
        url: &str,
        (etag, last_modified): (Option<String>, Option<String>),
    ) -> Result<Fetched, PullError> {
        let mut headers = Vec::new();
        for (name, value) in &page.headers {
            let value = match value {
                HeaderText::Plain(text) => text.clone(),
                HeaderText::Secret(reference) => self.secrets.read(reference)?.expose().to_owned(),
            };
            headers.push((name.clone(), value));
        }
        let request = FetchRequest { headers, etag, last_modified, body_bytes_max: page.body_bytes_max };
        self.fetcher.fetch(url, &request).await.map_err(|error| PullError::fetch(&error, source))
    }

    /// Everything the ledger knows, and the first of what it does not.
    async fn first_new(&self, source: &Source, items: Vec<Item>, posts_max: usize) -> Result<PullBatch, PullError> {
        let keys: Vec<&str> = items.iter().map(|item| item.key.as_str()).collect();
        let known = store::known_keys(&self.db, source, &keys).await?;
        let pick = |item: Item| if known.contains(&item.key) { Picked::Seen(item) } else { Picked::Post(item) };
        Ok(limited(items.into_iter().map(pick).collect(), posts_max))
    }
}

/// At most so many posts; the later ones are left for the next run.
fn limited(mut picked: Vec<Picked>, posts_max: usize) -> PullBatch {
    let mut posts = 0;
    let before = picked.len();
    picked.retain(|picked| {
        posts += usize::from(matches!(picked, Picked::Post(_)));
        matches!(picked, Picked::Seen(_)) || posts <= posts_max
    });
    PullBatch { is_more: picked.len() < before, picked, is_unchanged: false }
}

/// Off the threads that serve requests: ten megabytes take a while.
async fn parse_feed(body: Bytes, base: String) -> Result<Vec<Item>, PullError> {
    let parsed = tokio::task::spawn_blocking(move || feed::read(&body, &base)).await;
    Ok(parsed.map_err(|_| "the feed cannot be read: the parser gave up".to_owned())??)
}

/// Takes known secrets out of a text, with the password inside an address on its own.
fn hide(text: &str, secrets: &[Secret]) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        let password = url::Url::parse(secret.expose()).ok().and_then(|url| url.password().map(ToOwned::to_owned));
        for hidden in [Some(secret.expose().to_owned()), password].into_iter().flatten().filter(|hidden| !hidden.is_empty()) {
            text = text.replace(&hidden, "[secret]");
        }
    }
    text
}
