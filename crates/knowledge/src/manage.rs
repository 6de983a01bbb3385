//! What an operator does by hand: chats, policies, the allowlist, forgetting. What each guarantees is in its SQL function.

use kernel::{Problem, WorkspaceId};
use platform::{Db, DbError, wake::Topic};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    model::urls,
    store::{self, Forgetting},
};

/// The bot of this name or id that serves knowledge; without a name the one that the chat has, or the oldest one.
pub async fn find_bot(db: &Db, workspace: WorkspaceId, wanted: Option<&str>, chat: Option<i64>) -> Result<Uuid, Problem> {
    let query = "select b.bot_id, b.name from core.bots b
                   left join core.tenant_chats c on (c.workspace_id, c.bot_id, c.chat_id) = (b.workspace_id, b.bot_id, $2)
                  where (b.workspace_id, b.serves, b.provider) = ($1, 'knowledge', 'telegram')
                  order by c.chat_id is null, b.created_at, b.bot_id";
    let query = sqlx::query_as(query).bind(workspace.uuid()).bind(chat);
    let bots: Vec<(Uuid, String)> = query.fetch_all(db.pool()).await.map_err(DbError::from)?;
    let is_it = |(id, name): &&(Uuid, String)| wanted.is_none_or(|wanted| wanted == name || wanted == id.to_string());
    if let Some((id, _)) = bots.iter().find(is_it) {
        return Ok(*id);
    }
    let known = bots.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ");
    Err(Problem::validation(
        "bot",
        match wanted {
            _ if bots.is_empty() => "this workspace has no Telegram bot that serves knowledge; add its row to core.bots, with \
                                     provider 'telegram' and serves 'knowledge'"
                .to_owned(),
            Some(wanted) => format!("there is no bot `{wanted}` that serves knowledge; there are: {known}"),
            None => "there is no such bot".to_owned(),
        },
    ))
}

pub async fn register_chat(db: &Db, workspace: WorkspaceId, chat: i64, bot: Uuid) -> Result<(), Problem> {
    if chat >= 0 {
        let words = "groups and channels have ids below zero; a private chat is kept once its person is on the allowlist: \
                     `beresta knowledge chat allow`";
        return Err(Problem::validation("chat_id", words));
    }
    let query = sqlx::query("select knowledge.register_chat($1, $2, $3, null)");
    query.bind(workspace.uuid()).bind(chat).bind(bot).execute(db.pool()).await.map_err(DbError::from)?;
    db.wake().tell(Topic::BUS);
    Ok(())
}

pub async fn disable_chat(db: &Db, workspace: WorkspaceId, chat: i64) -> Result<(), Problem> {
    let query = sqlx::query_scalar("select knowledge.disable_chat($1, $2)").bind(workspace.uuid()).bind(chat);
    let is_known: bool = query.fetch_one(db.pool()).await.map_err(DbError::from)?;
    db.wake().tell(Topic::BUS);
    if is_known { Ok(()) } else { Err(unknown_chat(db, workspace, chat).await?) }
}

/// Tries a document that has no text once more; returns the job.
pub async fn retry_document(db: &Db, workspace: WorkspaceId, document: i64, trace: Option<&str>) -> Result<i64, Problem> {
    let query =
        sqlx::query_scalar("select knowledge.retry_document($1, $2, $3)").bind(workspace.uuid()).bind(document).bind(trace);
    let job = query.fetch_one(db.pool()).await.map_err(|error| match DbError::from(error) {
        error if error.is_refusal("ZK003") => Problem::not_found("document"),
        error if error.is_refusal("ZK002") => Problem::conflict("knowledge.has_text", "the document has its text already"),
        error => error.into(),
    })?;
    db.wake().tell(Topic::JOBS);
    Ok(job)
}

async fn unknown_chat(db: &Db, workspace: WorkspaceId, chat: i64) -> Result<Problem, Problem> {
    let known: Vec<String> = chats(db, workspace).await?.iter().take(20).map(|row| row["chat_id"].to_string()).collect();
    let known = if known.is_empty() { "there are none yet".to_owned() } else { format!("there are: {}", known.join(", ")) };
    let words = format!("the chat {chat} is not registered; {known}; `beresta knowledge chat register {chat}` registers it");
    Ok(Problem::validation("chat_id", words))
}

/// The registered chats, each with what is kept of it.
pub async fn chats(db: &Db, workspace: WorkspaceId) -> Result<Vec<Value>, Problem> {
    rows(
        db,
        workspace,
        "select jsonb_build_object('chat_id', c.chat_id, 'title', t.title, 'type', t.type, 'status', c.status, 'bot', b.name,
                'messages', (select count(*) from tg.messages m where m.workspace_id = c.workspace_id
                                and m.chat_id = any (knowledge.chats_of(c.workspace_id, c.chat_id))),
                'documents', (select count(*) from content.documents d
                               where (d.workspace_id, d.chat_id) = (c.workspace_id, c.chat_id)),
                'registered_by', c.registered_by, 'registered_at', c.created_at)
           from core.tenant_chats c
           left join tg.chats t on (t.workspace_id, t.chat_id) = (c.workspace_id, c.chat_id)
           left join core.bots b on (b.workspace_id, b.bot_id) = (c.workspace_id, c.bot_id)
          where c.workspace_id = $1 order by c.created_at, c.chat_id",
    )
    .await
}

/// The allowlist.
pub async fn people(db: &Db, workspace: WorkspaceId) -> Result<Vec<Value>, Problem> {
    rows(
        db,
        workspace,
        "select jsonb_build_object('tg_user_id', p.tg_user_id, 'role', p.role, 'username', u.username, 'allowed_at', p.created_at,
                'person', (select string_agg(k.person, ', ' order by k.person) from knowledge.people k
                            where (k.workspace_id, k.tg_user_id) = (p.workspace_id, p.tg_user_id)),
                'name', coalesce(p.name, nullif(trim(concat_ws(' ', u.first_name, u.last_name)), '')))
           from core.tenant_users p
           left join tg.users u on (u.workspace_id, u.tg_user_id) = (p.workspace_id, p.tg_user_id)
          where p.workspace_id = $1 order by p.created_at, p.tg_user_id",
    )
    .await
}

async fn rows(db: &Db, workspace: WorkspaceId, query: &'static str) -> Result<Vec<Value>, Problem> {
    Ok(sqlx::query_scalar(query).bind(workspace.uuid()).fetch_all(db.pool()).await.map_err(DbError::from)?)
}

/// Puts somebody on the allowlist, or changes who they are there.
pub async fn allow_person(
    db: &Db,
    workspace: WorkspaceId,
    person: i64,
    role: Option<&str>,
    name: Option<&str>,
) -> Result<Value, Problem> {
    if person <= 0 {
        return Err(Problem::validation("tg_user_id", "people have ids above zero; `chat register` is for groups and channels"));
    }
    let query = sqlx::query_scalar("select to_jsonb(knowledge.allow_person($1, $2, $3, $4)) - 'workspace_id'")
        .bind(workspace.uuid())
        .bind(person)
        .bind(role)
        .bind(name);
    let row: Value = query.fetch_one(db.pool()).await.map_err(DbError::from)?;
    db.wake().tell(Topic::BUS);
    Ok(row)
}

/// Ties a person that tokens name to somebody on the allowlist: as whom their assistants search and ask.
pub async fn tie_person(db: &Db, workspace: WorkspaceId, tg_user_id: i64, person: &str) -> Result<(), Problem> {
    let is_name = person.chars().any(|c| !c.is_whitespace()) && person.chars().count() <= 64 && !person.contains('\0');
    if !is_name {
        let words = "a person has the name of their tokens, 1 to 64 characters: `beresta token create --person NAME`";
        return Err(Problem::validation("person", words));
    }
    let query = sqlx::query("select knowledge.tie_person($1, $2, $3)").bind(workspace.uuid()).bind(tg_user_id).bind(person);
    query.execute(db.pool()).await.map_err(DbError::from)?;
    db.wake().tell(Topic::BUS);
    Ok(())
}

/// The policy of a chat after these changes; fields that are null stay.
pub async fn policy(db: &Db, workspace: WorkspaceId, chat: i64, changes: Value) -> Result<Value, Problem> {
    let query = "select exists (select from core.tenant_chats where (workspace_id, chat_id) = ($1, $2))
                     or exists (select from core.tenant_users where (workspace_id, tg_user_id) = ($1, $2))";
    let query = sqlx::query_scalar(query).bind(workspace.uuid()).bind(chat);
    let is_known: bool = query.fetch_one(db.pool()).await.map_err(DbError::from)?;
    if !is_known {
        return Err(unknown_chat(db, workspace, chat).await?);
    }
    let changes: serde_json::Map<String, Value> = changes
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| !value.is_null())
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    let call = if changes.is_empty() {
        "select to_jsonb(knowledge.policy_of($1, $2)) - 'workspace_id' where $3::jsonb is not null"
    } else {
        "select to_jsonb(knowledge.set_policy($1, $2, $3)) - 'workspace_id'"
    };
    let query = sqlx::query_scalar(call).bind(workspace.uuid()).bind(chat).bind(json!(changes));
    let row: Value = query.fetch_one(db.pool()).await.map_err(DbError::from)?;
    db.wake().tell(Topic::JOBS);
    db.wake().tell(Topic::BUS);
    Ok(row)
}

/// What is to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForgetTarget {
    Message { chat_id: i64, message_id: i32 },
    Chat(i64),
    Person(i64),
    Url(String),
}

impl ForgetTarget {
    fn parts(&self) -> Result<Forgetting, String> {
        let of = |kind, chat_id, message_id, tg_user_id| Forgetting { kind, chat_id, message_id, tg_user_id };
        match self {
            Self::Message { chat_id, message_id } => Ok(of("message", Some(*chat_id), Some(*message_id), None)),
            Self::Chat(chat_id) => Ok(of("chat", Some(*chat_id), None, None)),
            Self::Person(person) => Ok(of("person", None, None, Some(*person))),
            Self::Url(url) => Err(url.clone()),
        }
    }
}

/// How much would go, as counts. Nothing changes.
pub async fn count_forgetting(db: &Db, workspace: WorkspaceId, target: &ForgetTarget) -> Result<Value, Problem> {
    let query = match target.parts() {
        Ok(what) => sqlx::query_scalar("select knowledge.count_forgetting($1, $2, $3, $4, $5)")
            .bind(workspace.uuid())
            .bind(what.kind)
            .bind(what.chat_id)
            .bind(what.message_id)
            .bind(what.tg_user_id),
        Err(url) => {
            let query = "select jsonb_build_object('messages', 0, 'raw_updates', 0, 'documents', count(distinct d.id),
                                                   'chunks', count(c.id))
                           from content.urls u
                           join content.documents d on (d.workspace_id, d.url_id) = (u.workspace_id, u.id)
                           left join kg.chunks c on (c.workspace_id, c.document_id) = (d.workspace_id, d.id)
                          where (u.workspace_id, u.normalized_url) = ($1, $2)";
            sqlx::query_scalar(query).bind(workspace.uuid()).bind(normal(&url)?)
        }
    };
    Ok(query.fetch_one(db.pool()).await.map_err(DbError::from)?)
}

/// Forgets for good; returns counts.
pub async fn forget(db: &Db, workspace: WorkspaceId, target: &ForgetTarget, asked_by: &str) -> Result<Value, Problem> {
    let counts = match target.parts() {
        Ok(what) => store::forget(db, workspace, what, asked_by).await?,
        Err(url) => {
            let query = sqlx::query_scalar("select knowledge.forget_url($1, $2, $3)");
            let query = query.bind(workspace.uuid()).bind(normal(&url)?).bind(asked_by);
            query.fetch_one(db.pool()).await.map_err(DbError::from)?
        }
    };
    db.wake().tell(Topic::JOBS);
    db.wake().tell(Topic::BUS);
    Ok(counts)
}

fn normal(url: &str) -> Result<String, Problem> {
    urls::normalize(url).map_err(|error| Problem::validation("url", format!("`{url}` is not an address of a page: {error}")))
}
