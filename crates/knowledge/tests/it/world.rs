//! A workspace with a knowledge bot, a registered group, a member, an admin and an outsider.

use axum::Router;
use kernel::Secret;
use knowledge::{Knowledge, SQL};
use platform::module::Service;
use serde_json::{Value, json};
use testkit::{World, http::ask};
use uuid::Uuid;

pub(crate) const GROUP: i64 = -1_001_234_567_890;
pub(crate) const MEMBER: i64 = 5_000_000_001;
pub(crate) const ADMIN: i64 = 5_000_000_002;
pub(crate) const OUTSIDER: i64 = 5_000_000_003;

pub(crate) struct Archive {
    pub(crate) world: World,
    pub(crate) bot: Uuid,
    pub(crate) router: Router,
    pub(crate) token: Secret,
    pub(crate) secret: &'static str,
}

impl std::ops::Deref for Archive {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl Archive {
    pub(crate) async fn new() -> Self {
        let world = World::new(&[platform::SQL, SQL]).await;
        let knowledge = Knowledge { db: world.test.db.clone(), objects: world.objects() };
        let Service { router, jobs, bots, .. } = knowledge::service(&knowledge);
        jobs.put_types(&world.test.db).await.expect("the world is made");
        let all = router.merge(platform::door::router(bots.into_iter().collect::<Vec<_>>()));
        let router = world.router(all);
        let token = world.token(&["workflows"]).await;
        let workspace = world.workspace.uuid();
        let bot: Uuid = sqlx::query_scalar(
            "insert into core.bots (workspace_id, provider, name, secret_ref, serves)
             values ($1, 'telegram', 'archive', 'env:NONE', 'knowledge') returning bot_id",
        )
        .bind(workspace)
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
        Self { world, bot, router, token, secret }
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
