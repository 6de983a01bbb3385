//! A small world: a workspace with channels, simulated providers on a socket, and a dispatcher that runs when told to.

use std::ops::Deref;

use messengers::{Max, Messengers, Telegram};
use outbound::{Client, FetchSettings, Fetcher};
use posting::{
    Dispatcher,
    dispatcher::{Credentials, Deliveries},
};
use serde_json::Value;
use sqlx::FromRow;
use testkit::WorldWithProviders;
use uuid::Uuid;

pub(crate) use testkit::code;

/// The module with what it stands on.
pub(crate) const MODULES: &[platform::SqlModule] = &[platform::SQL, posting::SQL];

pub(crate) struct World {
    ground: WorldWithProviders,
    pub(crate) tools: Deliveries,
}

impl Deref for World {
    type Target = WorldWithProviders;

    fn deref(&self) -> &WorldWithProviders {
        &self.ground
    }
}

/// What a test asks about a delivery.
#[derive(Clone, Debug, FromRow)]
pub(crate) struct Delivery {
    #[sqlx(rename = "delivery_id")]
    pub(crate) id: Uuid,
    pub(crate) channel_id: String,
    pub(crate) status: String,
    pub(crate) attempt: i32,
    pub(crate) last_error: Option<Value>,
    pub(crate) rendered_text: Option<String>,
    pub(crate) render_meta: Value,
    pub(crate) provider_message_id: Option<String>,
}

impl World {
    pub(crate) async fn new() -> Self {
        let ground = WorldWithProviders::new(MODULES).await;
        let base = &ground.base;
        let client = Client::new(&outbound::ClientSettings::default()).unwrap();
        let max = Max::new(client.clone(), &format!("{base}/max")).with_not_ready_pauses(&[]);
        let tools = Deliveries {
            db: ground.test.db.clone(),
            messengers: Messengers::new(Telegram::new(client, &format!("{base}/telegram")), max),
            objects: ground.objects(),
            fetcher: Fetcher::new(FetchSettings { allow: vec![base["http://".len()..].to_owned()], ..FetchSettings::default() })
                .unwrap(),
            credentials: Credentials::default(),
        };
        for platform in ["telegram", "max"] {
            let secret_ref = ground.secret_ref(platform);
            let query = "insert into posting.credential_bindings (workspace_id, auth_ref, platform, secret_ref)";
            ground.run(&format!("{query} values ($ws, 'bot', '{platform}', '{secret_ref}')")).await;
        }
        Self { ground, tools }
    }

    /// Adds a channel without limits; `more` is `column = value, …`.
    pub(crate) async fn channel(&self, channel_id: &str, platform: &str, target: i64, more: &str) {
        let query = "insert into posting.channels (workspace_id, channel_id, platform, target_id, auth_ref, rate_group, rate_rps, max_parallel)
                     values ($1, $2, $3, $4, 'bot', 'bot', null, 10)";
        let query = sqlx::query(query).bind(self.workspace.uuid()).bind(channel_id).bind(platform).bind(target.to_string());
        query.execute(self.test.db.pool()).await.unwrap();
        if !more.is_empty() {
            self.set_channel(channel_id, more).await;
        }
    }

    pub(crate) async fn set_channel(&self, channel_id: &str, more: &str) {
        self.run(&format!("update posting.channels set {more} where channel_id = '{channel_id}'")).await;
    }

    /// Enqueues a post as a client in SQL would.
    pub(crate) async fn post(&self, payload: Value) -> Value {
        self.try_post(payload).await.unwrap()
    }

    pub(crate) async fn try_post(&self, payload: Value) -> Result<Value, sqlx::Error> {
        let query = "select posting.enqueue_messages_and_deliveries($1, null, 'push', $2, null)";
        sqlx::query_scalar(query).bind(self.workspace.uuid()).bind(payload).fetch_one(self.test.db.pool()).await
    }

    /// A dispatcher process that works until nothing is due.
    pub(crate) async fn drain(&self) -> usize {
        Dispatcher::new(self.tools.clone(), platform::outbox::OutboxLimits::of(2048)).drain().await.unwrap()
    }

    pub(crate) async fn deliveries(&self) -> Vec<Delivery> {
        let query = "select delivery_id, channel_id, status, attempt, last_error, rendered_text, render_meta, provider_message_id
                       from posting.deliveries order by created_at, channel_id, delivery_id";
        sqlx::query_as(query).fetch_all(self.test.db.pool()).await.unwrap()
    }

    /// Status by channel, in one line: `a sent, b retry`.
    pub(crate) async fn statuses(&self) -> String {
        let all: Vec<String> = self.deliveries().await.iter().map(|d| format!("{} {}", d.channel_id, d.status)).collect();
        all.join(", ")
    }

    /// The actions of the events, oldest first, errors marked.
    pub(crate) async fn events(&self, filter: &str) -> Vec<String> {
        let query = format!(
            "select action, result from posting.events where {filter} order by ts, case action when 'enqueue' then 0 when 'send_attempt' then 1 else 2 end, result desc"
        );
        let rows = self.rows(&query).await;
        rows.iter()
            .map(|row| format!("{}{}", row["action"].as_str().unwrap(), if row["result"] == "error" { " error" } else { "" }))
            .collect()
    }

    /// Claims and starts by hand, as a worker that holds what it was given.
    pub(crate) async fn start(&self, token: &str) -> Vec<Uuid> {
        let query = "select delivery_id from posting.claim_deliveries($1, $2, 100)";
        let _claimed: Vec<Uuid> =
            sqlx::query_scalar(query).bind(self.workspace.uuid()).bind(token).fetch_all(self.test.db.pool()).await.unwrap();
        let query = "select delivery_id from posting.start_sending($1, $2, 100)";
        sqlx::query_scalar(query).bind(self.workspace.uuid()).bind(token).fetch_all(self.test.db.pool()).await.unwrap()
    }
}
