//! An installation of the version before the registry of bots, brought up to date.

use platform::{Module, install};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use testkit::TestDb;

/// A module as it was before this migration.
fn before(module: Module, migration: &str) -> Module {
    let count = module.migrations.iter().position(|file| file.name == migration).unwrap();
    Module { migrations: &module.migrations[..count], ..module }
}

async fn rows(test: &TestDb, query: &str) -> Value {
    let query = format!("select coalesce(jsonb_agg(to_jsonb(t)), '[]') from ({query}) t");
    sqlx::query_scalar(AssertSqlSafe(query)).fetch_one(test.db.pool()).await.unwrap()
}

#[tokio::test]
async fn bots_from_before_the_registry_move_into_it_with_their_tokens_and_webhooks() {
    // Whoever installs first in a cluster makes the roles.
    drop(TestDb::new().await);
    let test = TestDb::empty().await;
    let role = format!("owner_{}", uuid::Uuid::new_v4().simple());
    let database = test.url.split('/').nth(3).and_then(|rest| rest.split('?').next()).unwrap().to_owned();
    // An ordinary owner: row security is forced on it too, and the move has to see every workspace all the same.
    testkit::admin(&format!("create role {role} login createrole")).await;
    testkit::admin(&format!("alter database {database} owner to {role}")).await;
    testkit::admin(&format!("grant beresta_app, beresta_system to {role}")).await;
    sqlx::query("create extension vector").execute(&mut test.owner().await).await.unwrap();
    let mut owner = PgConnection::connect(&test.url.replace("beresta@", &format!("{role}@"))).await.unwrap();
    let old = [before(platform::SQL, "0009_bots"), before(shopbot::SQL, "0007_registry")];
    install(&mut owner, &old).await.unwrap();
    let (shop, other) = (test.workspace("shop").await, test.workspace("other").await);
    for statement in [
        format!(
            "insert into shopbot.bots (workspace_id, provider, secret_ref, enabled, greeting_text)
             values ('{shop}', 'max', 'env:SHOP', true, 'Привет'), ('{shop}', 'telegram', 'file:/token', false, 'Hello'),
                    ('{other}', 'max', 'env:OTHER', true, 'Hi')"
        ),
        format!(
            "insert into core.workspace_endpoints (workspace_id, kind, secret_hash, meta)
             select '{shop}', k, encode(sha256(convert_to(p, 'UTF8')), 'hex'), jsonb_build_object('provider', p)
               from (values ('bot_webhook', 'max'), ('bot_webhook', 'telegram'), ('bot_webhook', 'unknown'), ('webhook_push', 'max')) e (k, p)"
        ),
    ] {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(test.db.pool()).await.unwrap();
    }

    let installed = install(&mut owner, &[platform::SQL, shopbot::SQL]).await.unwrap();
    assert!(installed.migrations.contains(&"shopbot/0007_registry".to_owned()), "{installed:?}");
    let bots = "select w.name as workspace, b.provider, r.provider as registered, r.name, r.secret_ref, r.serves, r.transport, r.enabled,
                       b.greeting_text
                  from core.bots r join shopbot.bots b using (workspace_id, bot_id) join core.workspaces w using (workspace_id)
                 order by w.name, b.provider";
    let bot = |workspace: &str, provider: &str, secret_ref: &str, enabled: bool, greeting: &str| {
        json!({
            "workspace": workspace, "provider": provider, "registered": provider, "name": format!("shopbot-{provider}"),
            "secret_ref": secret_ref, "serves": "shopbot", "transport": "webhook", "enabled": enabled, "greeting_text": greeting,
        })
    };
    let expected = json!([
        bot("other", "max", "env:OTHER", true, "Hi"),
        bot("shop", "max", "env:SHOP", true, "Привет"),
        bot("shop", "telegram", "file:/token", false, "Hello"),
    ]);
    assert_eq!(rows(&test, bots).await, expected);
    let webhooks = "select e.kind, e.meta->>'provider' as meant, r.provider as bots, r.workspace_id = e.workspace_id as is_ours
                      from core.workspace_endpoints e left join core.bots r using (bot_id) order by 1, 2";
    let expected = json!([
        { "kind": "bot_webhook", "meant": "max", "bots": "max", "is_ours": true },
        { "kind": "bot_webhook", "meant": "telegram", "bots": "telegram", "is_ours": true },
        { "kind": "bot_webhook", "meant": "unknown", "bots": null, "is_ours": null },
        { "kind": "webhook_push", "meant": "max", "bots": null, "is_ours": null },
    ]);
    assert_eq!(rows(&test, webhooks).await, expected);
    let unforced = "select relname from pg_class where relkind = 'r' and relrowsecurity and not relforcerowsecurity";
    assert_eq!(rows(&test, unforced).await, json!([]));
    let message = json!({ "chat_id": "1", "provider_message_id": "m", "kind": "text", "text": "?" });
    let query = "select shopbot.take_message($1, 'max', $2, 'trace')";
    let done: Value = sqlx::query_scalar(query).bind(shop.uuid()).bind(message).fetch_one(test.db.pool()).await.unwrap();
    assert_eq!(done["outcome"], "fallback", "and the bot goes on answering");
    test.db.pool().close().await;
    drop(owner);
    drop(test);
    testkit::admin(&format!("drop role {role}")).await;
}
