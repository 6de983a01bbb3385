//! An installation of the version before the registry of bots, brought up to date.

use platform::install;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use testkit::{TestDb, before};

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

#[tokio::test]
async fn conversations_from_before_bots_had_their_own_stay_with_the_bot_of_their_messenger() {
    let test = TestDb::empty().await;
    let mut owner = test.owner().await;
    install(&mut owner, &[platform::SQL, before(shopbot::SQL, "0010_by_bot")]).await.unwrap();
    let shop = test.workspace("shop").await;
    sqlx::raw_sql(AssertSqlSafe(format!(
        "with registered as (insert into core.bots (workspace_id, provider, name, secret_ref, serves)
                             values ('{shop}', 'max', 'shop', 'env:SHOP', 'shopbot') returning *)
         insert into shopbot.bots (workspace_id, bot_id, provider) select workspace_id, bot_id, provider from registered;
         insert into shopbot.bot_state (workspace_id, provider, chat_id, context) values ('{shop}', 'max', '1', '{{\"turns\": 7}}');
         insert into shopbot.bot_inbox (workspace_id, provider, chat_id, provider_message_id, kind)
         values ('{shop}', 'max', '1', 'm1', 'text'), ('{shop}', 'telegram', '1', 'm1', 'text');
         insert into shopbot.bot_outbox (workspace_id, provider, chat_id, inbound_provider_message_id, inbound_kind, seq, text, buttons,
                                         response_hash)
         values ('{shop}', 'max', '1', 'm1', 'text', 1, 'Да', '[]', '');
         insert into shopbot.bot_logs (workspace_id, provider, chat_id, inbound_provider_message_id, message_text, outcome, state_before,
                                       state_after)
         values ('{shop}', 'max', '1', 'm1', '?', 'fallback', 'default', 'default')"
    )))
    .execute(&mut owner)
    .await
    .unwrap();
    install(&mut owner, &[platform::SQL, shopbot::SQL]).await.unwrap();
    let message = |id: &str| json!({ "chat_id": "1", "provider_message_id": id, "kind": "text", "text": "?" });
    let query = "select shopbot.take_message($1, 'max', $2, 'trace')";
    for (id, outcome) in [("m1", "duplicate"), ("m2", "fallback")] {
        let row = sqlx::query_scalar(query).bind(shop.uuid()).bind(message(id));
        let done: Value = row.fetch_one(test.db.pool()).await.unwrap();
        assert_eq!(done["outcome"], outcome);
    }
    assert_eq!(rows(&test, "select context->'turns' as turns from shopbot.bot_state").await, json!([{ "turns": 8 }]));
    let claim = format!("select text, secret_ref from shopbot.claim_answers('r', 10, interval '1 minute', '{shop}')");
    assert_eq!(rows(&test, &claim).await, json!([{ "text": "Да", "secret_ref": "env:SHOP" }]));
    let mut tx = test.db.begin(shop).await.unwrap();
    let found = shopbot::reads::conversation(&mut tx, "max", "1", None).await.unwrap().unwrap();
    assert_eq!(
        shopbot::reads::messages(&mut tx, &found, None, 10).await.unwrap().len(),
        2,
        "old and new lines are of one conversation"
    );
    let left = "select provider from shopbot.bot_inbox where bot_id = '00000000-0000-0000-0000-000000000000'";
    assert_eq!(rows(&test, left).await, json!([{ "provider": "telegram" }]), "of a bot that is gone");
}
