//! A workspace with a knowledge bot, a registered group, a member, an admin and an outsider, and simulated providers on a socket.

use axum::Router;
use extract::{ExtractLimits, Extractor};
use kernel::Secret;
use knowledge::{Knowledge, SQL};
use llm::LocalEmbedder;
use messengers::{Max, Messengers, Telegram};
use outbound::{Client, ClientSettings, FetchSettings, Fetcher};
use platform::{
    module::Service,
    outbox::{Engine, OutboxLimits},
    secrets::Secrets,
};
use serde_json::{Value, json};
use testkit::{WorldWithProviders, http::ask};
use uuid::Uuid;

pub(crate) const GROUP: i64 = -1_001_234_567_890;
pub(crate) const MEMBER: i64 = 5_000_000_001;
pub(crate) const ADMIN: i64 = 5_000_000_002;
pub(crate) const OUTSIDER: i64 = 5_000_000_003;

/// Whether a transaction of this database waits for a lock.
pub(crate) const WAITS: &str = "(select exists (select from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where a.datname = current_database() and not l.granted))";

pub(crate) struct Archive {
    pub(crate) world: WorldWithProviders,
    pub(crate) knowledge: Knowledge,
    pub(crate) bot: Uuid,
    pub(crate) router: Router,
    pub(crate) token: Secret,
    pub(crate) secret: &'static str,
}

impl std::ops::Deref for Archive {
    type Target = WorldWithProviders;

    fn deref(&self) -> &WorldWithProviders {
        &self.world
    }
}

fn tools(world: &WorldWithProviders) -> Knowledge {
    let client = Client::new(&ClientSettings::default()).expect("a client");
    let authority = world.base.trim_start_matches("http://").to_owned();
    Knowledge {
        db: world.test.db.clone(),
        objects: world.objects(),
        messengers: Messengers::new(
            Telegram::new(client.clone(), &format!("{}/telegram", world.base)),
            Max::new(client, &format!("{}/max", world.base)),
        ),
        secrets: Secrets::default(),
        fetcher: Fetcher::new(FetchSettings { allow: vec![authority], ..FetchSettings::default() }).expect("a fetcher"),
        extractor: Extractor::new(testkit::extract_program(), vec!["--child".to_owned()], ExtractLimits::default()),
        embedder: LocalEmbedder::new().into(),
        transcriber: None,
        answerer: None,
        activity: std::sync::Arc::new(knowledge::answers::NoActivity),
        membership_proof_max: std::time::Duration::from_hours(1),
    }
}

impl Archive {
    pub(crate) async fn new() -> Self {
        let world = WorldWithProviders::new(&[platform::SQL, SQL]).await;
        let knowledge = tools(&world);
        let Service { router, jobs, bots, .. } = knowledge::service(&knowledge);
        jobs.put_types(&world.test.db).await.expect("the world is made");
        let all = router.merge(platform::door::router(bots.into_iter().collect::<Vec<_>>()));
        let router = world.router(all);
        let token = world.token(&["workflows", "read", "write"]).await;
        let workspace = world.workspace.uuid();
        let bot: Uuid = sqlx::query_scalar(
            "insert into core.bots (workspace_id, provider, name, secret_ref, serves)
             values ($1, 'telegram', 'archive', $2, 'knowledge') returning bot_id",
        )
        .bind(workspace)
        .bind(world.secret_ref("telegram"))
        .fetch_one(world.test.db.pool())
        .await
        .expect("the world is made");
        let secret = "a-secret-of-the-archive";
        sqlx::query(
            "insert into core.workspace_endpoints (workspace_id, kind, secret_hash, bot_id, ingress_rps)
                     values ($1, 'bot_webhook', $2, $3, 1000)",
        )
        .bind(workspace)
        .bind(Secret::new(secret).sha256_hex())
        .bind(bot)
        .execute(world.test.db.pool())
        .await
        .expect("the world is made");
        for (user, role) in [(MEMBER, "user"), (ADMIN, "admin")] {
            sqlx::query("insert into core.tenant_users (workspace_id, tg_user_id, role) values ($1, $2, $3)")
                .bind(workspace)
                .bind(user)
                .bind(role)
                .execute(world.test.db.pool())
                .await
                .expect("the world is made");
        }
        sqlx::query("select knowledge.register_chat($1, $2, $3, $4)")
            .bind(workspace)
            .bind(GROUP)
            .bind(bot)
            .bind(ADMIN)
            .execute(world.test.db.pool())
            .await
            .expect("the world is made");
        Self { world, knowledge, bot, router, token, secret }
    }

    /// The routes and jobs as they are with other tools.
    pub(crate) fn rewire(&mut self) {
        let Service { router, bots, .. } = knowledge::service(&self.knowledge);
        let all = router.merge(platform::door::router(bots.into_iter().collect::<Vec<_>>()));
        self.router = self.world.router(all);
    }

    /// Sends what the bot has to say.
    pub(crate) async fn say(&self) {
        Engine::new(self.knowledge.replies(), OutboxLimits::of(4)).drain().await.expect("replies are sent");
    }

    /// The address of a page of the simulated web site, set to answer like this.
    pub(crate) async fn page(&self, path: &str, mut page: Value) -> String {
        page["path"] = json!(path);
        let set = self.control("pages", page).await;
        assert!(set["error"].is_null(), "{set}");
        format!("{}/web/{path}", self.base)
    }

    /// The values of one column.
    pub(crate) async fn list(&self, query: &str) -> Vec<Value> {
        let query = format!("select to_jsonb(v) from ({query}) q (v)");
        sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_all(self.test.db.pool()).await.expect("a column")
    }

    /// The statuses and reasons of the documents that are no messages, in their order.
    pub(crate) async fn documents(&self) -> Vec<(String, Option<String>)> {
        sqlx::query_as("select status, error from content.documents where doc_type <> 'message' order by id")
            .fetch_all(self.test.db.pool())
            .await
            .expect("documents")
    }

    pub(crate) async fn call(&self, workflow: &str, mut req: Value) -> (u16, Value) {
        req["tenant_id"] = json!(self.workspace.uuid());
        let path = format!("/api/workflows/{workflow}");
        ask(&self.router, Some(&self.token), "POST", &path, Some(&json!({ "req": req }))).await
    }

    /// A call that succeeds; its data.
    pub(crate) async fn data(&self, workflow: &str, req: Value) -> Value {
        let (status, body) = self.call(workflow, req).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(body["meta"]["source"], workflow);
        body["data"].clone()
    }

    pub(crate) async fn process(&self, update: &Value) -> Value {
        self.data("WF20", json!({ "update": update })).await
    }

    pub(crate) async fn work(&self) -> Value {
        self.data("WF90", json!({ "limit": 500, "worker_id": "test" })).await
    }

    /// The texts that can be found, in their order.
    pub(crate) async fn texts(&self) -> Vec<String> {
        sqlx::query_scalar("select text from kg.chunks order by document_id, chunk_no")
            .fetch_all(self.test.db.pool())
            .await
            .expect("the world is made")
    }
}

pub(crate) fn message(update_id: i64, message_id: i64, text: &str) -> Value {
    json!({ "update_id": update_id, "message": said(message_id, text) })
}

pub(crate) fn said(message_id: i64, text: &str) -> Value {
    json!({
        "message_id": message_id, "date": 1_790_000_000 + message_id, "text": text,
        "chat": {"id": GROUP, "type": "supergroup", "title": "Отдел продаж"},
        "from": {"id": MEMBER, "is_bot": false, "first_name": "Анна", "username": "anna"},
    })
}

pub(crate) fn edit(update_id: i64, message_id: i64, text: &str, seconds_later: i64) -> Value {
    let mut body = said(message_id, text);
    body["edit_date"] = json!(1_790_000_000 + message_id + seconds_later);
    json!({ "update_id": update_id, "edited_message": body })
}
