//! What people and scripts read of questions: what was asked, found and said. Private questions are their askers', not the workspace's: they are
//! listed and counted without what was asked, found and said.

use jiff_sqlx::Timestamp as SqlTimestamp;
use platform::DbError;
use serde_json::Value;
use sqlx::{FromRow, PgConnection};

/// The statuses of questions.
pub const STATUSES: [&str; 4] = ["asked", "answered", "refused", "failed"];

/// Which questions are asked for.
#[derive(Clone, Debug, Default)]
pub struct QuestionFilter {
    pub status: Option<String>,
    pub chat_id: Option<i64>,
    /// Questions before this one, the newest first.
    pub before: Option<i64>,
    pub limit: i64,
}

#[derive(Debug, FromRow)]
pub struct QuestionRead {
    pub turn_id: i64,
    pub asked_at: SqlTimestamp,
    pub tg_user_id: i64,
    pub asker: Option<String>,
    pub is_private: bool,
    pub chat_id: i64,
    pub chat_title: Option<String>,
    /// Nothing where it was asked in private.
    pub question: Option<String>,
    pub status: String,
    /// The best score as a share of the best that the question could get.
    pub share: Option<f32>,
    pub is_useful: Option<bool>,
    pub answered_by: Option<String>,
    pub model: Option<String>,
    pub input_tokens: Option<i64>,
    pub output_tokens: Option<i64>,
    pub took_ms: Option<i32>,
    /// Nothing where it was asked in private.
    pub answer_text: Option<String>,
}

macro_rules! question {
    () => {
        "select t.id as turn_id, t.created_at as asked_at, t.tg_user_id,
                nullif(trim(concat_ws(' ', u.first_name, u.last_name)), '') as asker, t.channel = 'dm' as is_private, t.chat_id,
                case when t.channel = 'group' then c.title end as chat_title,
                case when t.channel = 'group' then t.question end as question, t.status, t.share, t.is_useful, t.answered_by,
                t.model, t.input_tokens, t.output_tokens, t.took_ms,
                case when t.channel = 'group' then t.answer_text end as answer_text
           from audit.qa_turns t
           left join tg.users u on (u.workspace_id, u.tg_user_id) = (t.workspace_id, t.tg_user_id)
           left join tg.chats c on (c.workspace_id, c.chat_id) = (t.workspace_id, t.chat_id) "
    };
}

pub async fn questions(tx: &mut PgConnection, filter: &QuestionFilter) -> Result<Vec<QuestionRead>, DbError> {
    let query = concat!(
        question!(),
        "where ($1::text is null or t.status = $1) and ($2::bigint is null or t.chat_id = $2) and ($3::bigint is null or t.id < $3)
         order by t.id desc limit $4"
    );
    let query = sqlx::query_as(query).bind(&filter.status).bind(filter.chat_id).bind(filter.before).bind(filter.limit);
    Ok(query.fetch_all(tx).await?)
}

pub async fn question(tx: &mut PgConnection, turn_id: i64) -> Result<Option<QuestionRead>, DbError> {
    let query = concat!(question!(), "where t.id = $1");
    Ok(sqlx::query_as(query).bind(turn_id).fetch_optional(tx).await?)
}

/// What an answer rests on, looked at again. The snippet and the source are told while the chunk is there and visible to those who read the
/// answer.
#[derive(Debug, FromRow)]
pub struct CitationRead {
    pub rank: i32,
    pub chunk_id: i64,
    pub document_id: i64,
    pub score: f32,
    /// `there`, `gone` or `not_visible`
    pub state: String,
    pub snippet: Option<String>,
    pub source_ref: Option<Value>,
}

/// Of a question in a group; a private one tells nothing.
pub async fn citations(tx: &mut PgConnection, turn_id: i64) -> Result<Vec<CitationRead>, DbError> {
    let query =
        "select x.rank, x.chunk_id, x.document_id, x.score, x.state, case when x.state = 'there' then x.snippet end as snippet,
                        case when x.state = 'there' then x.source_ref end as source_ref
                   from (
                     select q.rank, q.chunk_id, q.document_id, q.score, q.snippet, q.source_ref,
                            case when k.id is null then 'gone'
                                 when d.chat_id = any (knowledge.audience_chats(t.workspace_id, t.tg_user_id, t.chat_id, 'group'))
                                 then 'there' else 'not_visible' end as state
                       from audit.qa_turns t
                       join audit.qa_citations q on (q.workspace_id, q.turn_id) = (t.workspace_id, t.id)
                       left join kg.chunks k on (k.workspace_id, k.id) = (q.workspace_id, q.chunk_id)
                       left join content.documents d on (d.workspace_id, d.id) = (k.workspace_id, k.document_id)
                      where t.id = $1 and t.channel = 'group') x
                  order by x.rank";
    Ok(sqlx::query_as(query).bind(turn_id).fetch_all(tx).await?)
}

/// A chunk that was found, with the score of each leg; its beginning while it is there and visible.
#[derive(Debug, FromRow)]
pub struct CandidateRead {
    pub rank: i64,
    pub chunk_id: i64,
    pub score: Option<f64>,
    pub words: Option<f64>,
    pub vector: Option<f64>,
    pub document_id: Option<i64>,
    pub beginning: Option<String>,
}

/// Of a question in a group, best first; a private one tells nothing.
pub async fn candidates(tx: &mut PgConnection, turn_id: i64) -> Result<Vec<CandidateRead>, DbError> {
    let query = "select f.rank, (f.found ->> 'chunk_id')::bigint as chunk_id, (f.found ->> 'score')::float8 as score,
                        (f.found ->> 'words')::float8 as words, (f.found ->> 'vector')::float8 as vector, k.document_id,
                        left(k.text, 160) as beginning
                   from audit.qa_turns t
                  cross join jsonb_array_elements(t.candidates) with ordinality f (found, rank)
                   left join lateral (
                       select c.text, c.document_id from kg.chunks c
                         join content.documents d on (d.workspace_id, d.id) = (c.workspace_id, c.document_id)
                        where (c.workspace_id, c.id) = (t.workspace_id, (f.found ->> 'chunk_id')::bigint)
                          and d.chat_id = any (knowledge.audience_chats(t.workspace_id, t.tg_user_id, t.chat_id, 'group'))) k on true
                  where t.id = $1 and t.channel = 'group' order by f.rank";
    Ok(sqlx::query_as(query).bind(turn_id).fetch_all(tx).await?)
}

/// How the questions of a day ended, private ones too.
#[derive(Debug, FromRow)]
pub struct QualityDay {
    pub day: String,
    pub answered: i64,
    pub refused: i64,
    pub failed: i64,
    pub useful: i64,
    pub not_useful: i64,
}

/// The last days on which something was asked, the newest first.
pub async fn quality(tx: &mut PgConnection, days: i64) -> Result<Vec<QualityDay>, DbError> {
    let query = "select to_char(t.created_at at time zone 'UTC', 'YYYY-MM-DD') as day,
                        count(*) filter (where t.status = 'answered') as answered, count(*) filter (where t.status = 'refused') as refused,
                        count(*) filter (where t.status = 'failed') as failed, count(*) filter (where t.is_useful) as useful,
                        count(*) filter (where not t.is_useful) as not_useful
                   from audit.qa_turns t group by 1 order by 1 desc limit $1";
    Ok(sqlx::query_as(query).bind(days).fetch_all(tx).await?)
}
