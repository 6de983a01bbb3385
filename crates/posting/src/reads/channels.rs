//! Channels and their health.

use platform::{
    DbError,
    reads::{Time, maybe_time, time},
};
use serde::Serialize;
use serde_json::Value;
use sqlx::{FromRow, PgConnection, Postgres, QueryBuilder};

/// Counting a backlog stops here: more than this is "more than this".
pub const BACKLOG_MAX: i64 = 1000;
/// What a channel can be, worst first.
pub const CHANNEL_STATES: [&str; 4] = ["disabled", "paused", "probing", "open"];

#[derive(Clone, Debug, FromRow, Serialize, utoipa::ToSchema)]
pub struct ChannelRead {
    pub channel_id: String,
    /// `telegram` or `max`.
    pub platform: String,
    pub target_id: String,
    pub title: Option<String>,
    /// `disabled`, `paused`, `probing` (after errors one delivery at a time goes first) or `open`.
    pub state: String,
    pub enabled: bool,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub paused_until: Option<Time>,
    /// Permanent errors in a row.
    pub error_streak: i32,
    /// Before this time the rate limit lets nothing through.
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub next_allowed_at: Option<Time>,
    pub claimed: i32,
    pub sending: i32,
    /// What is under way; counting stops after 1000.
    pub backlog: i64,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_sent_at: Option<Time>,
    #[serde(serialize_with = "maybe_time")]
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_error_at: Option<Time>,
    #[schema(value_type = Option<Object>)]
    pub last_error: Option<Value>,
    pub rate_rps: Option<f64>,
    pub max_parallel: i32,
    /// `text`, `media` or `mixed`.
    pub send_mode: String,
    /// `immediate` or `windowed`.
    pub window_mode: String,
    pub timezone: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub posting_window: Option<Value>,
    pub dedup_ttl_hours: Option<i32>,
    pub tags: Vec<String>,
    #[schema(value_type = Option<Object>)]
    pub route_filter: Option<Value>,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Time,
    #[serde(serialize_with = "time")]
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Time,
}

const STATE: &str = "case when not c.enabled then 'disabled' when c.paused_until > platform.now() then 'paused'
                          when c.error_streak > 0 then 'probing' else 'open' end";

/// The last success and the last error are looked for among the last events of each channel, not through all of its history.
const DETAILS: &str = "
      left join posting.channel_counters n on n.workspace_id = c.workspace_id and n.channel_id = c.channel_id
     cross join lateral (
           select count(*) as backlog
             from (select from posting.deliveries d
                    where d.workspace_id = c.workspace_id and d.channel_id = c.channel_id and d.phase = 'inflight' limit 1001) q) b
      left join lateral (
           select e.ts from (select e.ts, e.action from posting.events e
                              where e.workspace_id = c.workspace_id and e.channel_id = c.channel_id order by e.ts desc limit 100) e
            where e.action = 'sent' order by e.ts desc limit 1) s on true
      left join lateral (
           select e.ts, e.error from (select e.ts, e.error, e.result from posting.events e
                                       where e.workspace_id = c.workspace_id and e.channel_id = c.channel_id order by e.ts desc limit 100) e
            where e.result = 'error' and e.error is not null order by e.ts desc limit 1) f on true";

#[derive(Clone, Debug, Default)]
pub struct ChannelFilter {
    /// One of [`CHANNEL_STATES`].
    pub state: Option<String>,
    pub platform: Option<String>,
    /// Only channels that come later in the order of ids: `next` of the page before.
    pub after: Option<String>,
    pub channel_id: Option<String>,
    pub limit: i64,
}

/// Channels by id.
pub async fn channels(tx: &mut PgConnection, filter: &ChannelFilter) -> Result<Vec<ChannelRead>, DbError> {
    // The page is cut first: everything that costs something is looked up for its rows only.
    let mut query = QueryBuilder::<Postgres>::new(format!(
        "select c.channel_id, c.platform, c.target_id, c.title, c.state, c.enabled, nullif(c.paused_until, 'infinity') as paused_until,
                c.error_streak, nullif(c.next_allowed_at, 'infinity') as next_allowed_at,
                coalesce(n.claimed, 0) as claimed, coalesce(n.sending, 0) as sending, b.backlog, s.ts as last_sent_at,
                f.ts as last_error_at, f.error as last_error, c.rate_rps::float8 as rate_rps, c.max_parallel, c.send_mode, c.window_mode,
                c.timezone, c.posting_window, c.dedup_ttl_hours, c.tags, c.route_filter, c.created_at, c.updated_at
           from (select c.*, {STATE} as state from posting.channels c where c.workspace_id = platform.workspace_id()"
    ));
    if let Some(state) = &filter.state {
        query.push(format_args!(" and {STATE} = ")).push_bind(state);
    }
    if let Some(platform) = &filter.platform {
        query.push(" and c.platform = ").push_bind(platform);
    }
    if let Some(channel_id) = &filter.channel_id {
        query.push(" and c.channel_id = ").push_bind(channel_id);
    }
    if let Some(after) = &filter.after {
        query.push(" and c.channel_id > ").push_bind(after);
    }
    query.push(" order by c.channel_id limit ").push_bind(filter.limit).push(") c").push(DETAILS).push(" order by c.channel_id");
    Ok(query.build_query_as().fetch_all(tx).await?)
}

pub async fn channel(tx: &mut PgConnection, channel_id: &str) -> Result<Option<ChannelRead>, DbError> {
    let filter = ChannelFilter { channel_id: Some(channel_id.to_owned()), limit: 1, ..ChannelFilter::default() };
    Ok(channels(tx, &filter).await?.pop())
}
