//! The commands, as a script uses them and as a person mistypes them.

use serde_json::Value;

use crate::support::{database, run, stderr, stdout};

fn json(args: &[&str]) -> Value {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap_or_else(|error| panic!("{args:?}: {error}: {}", stdout(&output)))
}

#[tokio::test]
async fn seed_prints_the_same_credentials_every_time_and_they_work() {
    let db = database().await;
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_string_lossy();
    let args = ["seed", "--json", "--database-url", &db.url, "--data-dir", &dir];
    let (first, second) = (json(&args), json(&args));
    assert_eq!(first, second);
    for key in ["workspace_id", "token", "push_secret", "max_secret", "telegram_secret"] {
        assert!(first[key].as_str().is_some_and(|text| text.len() > 20), "{key}");
    }
    let endpoints: Vec<(String, bool)> = sqlx::query_as("select meta->>'name', enabled from core.workspace_endpoints order by 1")
        .fetch_all(db.db.pool())
        .await
        .unwrap();
    assert_eq!(endpoints, ["archive", "max", "push", "telegram"].map(|name| (name.to_owned(), true)));
    let text: String = sqlx::query_scalar("select string_agg(e::text, ' ') from core.workspace_endpoints e")
        .fetch_one(db.db.pool())
        .await
        .unwrap();
    assert!(!text.contains(first["push_secret"].as_str().unwrap()), "only the hash is stored");
}

#[tokio::test]
async fn seed_names_a_knowledge_bot_with_its_group_and_a_history_that_is_there_once() {
    let db = database().await;
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_string_lossy();
    let args = ["seed", "--json", "--database-url", &db.url, "--data-dir", &dir];
    json(&args);
    let knowledge = json(&args)["knowledge"].clone();
    for key in ["secret", "bot_id", "bot_username"] {
        assert!(knowledge[key].as_str().is_some_and(|text| text.len() > 10), "{key}: {knowledge}");
    }
    for key in ["group_chat_id", "member_id", "admin_id", "outsider_id", "topic_id"] {
        assert!(knowledge[key].is_i64(), "{key}: {knowledge}");
    }
    let text = |query: &'static str| {
        let pool = db.db.pool().clone();
        async move { sqlx::query_scalar::<_, String>(query).fetch_one(&pool).await.unwrap() }
    };
    assert_eq!(text("select username from core.bot_transport_state").await, knowledge["bot_username"]);
    assert_eq!(text("select bot_id::text from core.bots where serves = 'knowledge'").await, knowledge["bot_id"]);
    assert_eq!(text("select chat_id::text from core.tenant_chats").await, knowledge["group_chat_id"].to_string());
    let roles = "select string_agg(tg_user_id || ' ' || role, ', ' order by tg_user_id) from core.tenant_users";
    assert_eq!(text(roles).await, format!("{} user, {} admin", knowledge["member_id"], knowledge["admin_id"]));
    assert_eq!(text("select thread_id::text from tg.topics").await, knowledge["topic_id"].to_string());
    assert_eq!(text("select count(*) || '' from tg.messages").await, "13");
    let files = "select string_agg(f.file_name || case when f.blob_object_id is null then '' else ' is here' end, ', '
                                   order by f.file_name) from tg.files f";
    assert_eq!(text(files).await, "contract.docx is here, price-list.pdf is here");
    assert_eq!(text("select count(*) || '' from tg.message_links where normalized_url is not null").await, "1");
    assert_eq!(text("select status_code || '' from content.url_fetches").await, "200");
}

#[tokio::test]
async fn lost_seed_credentials_are_replaced_and_the_old_endpoints_are_kept_disabled() {
    let db = database().await;
    let seed = || {
        let dir = tempfile::tempdir().unwrap();
        json(&["seed", "--json", "--database-url", &db.url, "--data-dir", &dir.path().to_string_lossy()])
    };
    let (first, second) = (seed(), seed());
    assert_eq!(first["workspace_id"], second["workspace_id"]);
    assert_ne!(first["push_secret"], second["push_secret"]);
    let query = "select count(*) filter (where enabled), count(*) filter (where not enabled) from core.workspace_endpoints";
    let counts: (i64, i64) = sqlx::query_as(query).fetch_one(db.db.pool()).await.unwrap();
    assert_eq!(counts, (4, 4));
}

#[tokio::test]
async fn a_token_is_made_listed_and_revoked() {
    let db = database().await;
    let place = ["--database-url", &db.url];
    run(&["workspace", "create", "ours", place[0], place[1]]);
    let made =
        json(&["token", "create", "--workspace", "ours", "--scope", "read,console", "--days", "7", "--json", place[0], place[1]]);
    assert!(made["token"].as_str().unwrap().starts_with("brs_"));
    assert_eq!(made["scopes"], serde_json::json!(["console", "read"]));
    let list = || json(&["token", "list", "--workspace", "ours", "--json", place[0], place[1]]);
    assert_eq!(list()[0]["state"], "live");
    let id = made["token_id"].as_str().unwrap();
    assert!(run(&["token", "revoke", id, "--workspace", "ours", place[0], place[1]]).status.success());
    assert_eq!(list()[0]["state"], "revoked");
    let again = run(&["token", "revoke", id, "--workspace", "ours", place[0], place[1]]);
    assert!(stderr(&again).contains("has no live token"), "{}", stderr(&again));
}

#[tokio::test]
async fn a_typo_is_answered_with_what_would_be_right() {
    let db = database().await;
    db.workspace("shop").await;
    let cases: &[(&[&str], &str)] = &[
        (&["sevre"], "similar subcommand exists: 'serve'"),
        (&["serve", "--lisen", "x"], "--listen"),
        (&["serve", "--listen", "nowhere"], "--listen: `nowhere` is not an address such as 127.0.0.1:7400"),
        (&["serve", "--roles", "api,boss"], "--roles: `api,boss` is not a list of roles out of api, dispatcher, runner, monitor"),
        (
            &["token", "create", "--workspace", "shop", "--scope", "root", "--database-url", &db.url],
            "`root` is not a scope; the scopes are console, read, workflows, write, platform:read, ",
        ),
        (
            &["token", "create", "--workspace", "shop", "--scope", "read,posting:wirte", "--database-url", &db.url],
            "`posting:wirte` is not a scope; did you mean `posting:write`? the scopes are ",
        ),
        (
            &["token", "create", "--workspace", "shp", "--scope", "read", "--database-url", &db.url],
            "there is no workspace `shp`; there are: shop",
        ),
        (&["workspace", "create", "system", "--database-url", &db.url], "cannot be the name of a workspace"),
        (&["migrate", "--database-url", "mysql://x/y"], "--database-url is not the address of a PostgreSQL"),
        (&["database", "url", "--data-dir", "/tmp/beresta-test-nothing-here"], "no PostgreSQL is running for"),
    ];
    for (args, words) in cases {
        let output = run(args);
        assert!(!output.status.success(), "{args:?}");
        assert!(stderr(&output).contains(words), "{args:?} said {:?}, not {words:?}", stderr(&output));
    }
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = run(&["serve", "--listen", &address]);
    assert!(stderr(&output).contains(&format!("cannot listen on {address}; another program may have it")), "{}", stderr(&output));
}

#[tokio::test]
async fn doctor_tells_what_is_well_and_what_is_not() {
    let db = database().await;
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().to_string_lossy();
    let args = ["doctor", "--json", "--database-url", &db.url, "--data-dir", &dir];
    let mut command = crate::support::beresta(&args);
    let closed = [("BERESTA_TELEGRAM_BASE_URL", "http://127.0.0.1:1"), ("BERESTA_MAX_BASE_URL", "http://127.0.0.1:1")];
    let output = command.envs(closed).output().unwrap();
    // The test cluster runs without fsync, and a doctor who overlooks that is none.
    assert!(!output.status.success());
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let state = |check: &str| {
        let found = report["checks"].as_array().unwrap().iter().find(|finding| finding["check"] == check);
        found.unwrap_or_else(|| panic!("no check {check} in {report}"))["state"].as_str().unwrap().to_owned()
    };
    let states = ["configuration", "database", "pgvector", "migrations", "objects", "telegram", "durability"].map(state);
    assert_eq!(states, ["ok", "ok", "ok", "ok", "ok", "warning", "failed"]);
}

#[test]
fn every_command_has_help() {
    for args in [
        &["--help"][..],
        &["demo", "--help"],
        &["serve", "--help"],
        &["simulate", "--help"],
        &["seed", "--help"],
        &["migrate", "--help"],
        &["doctor", "--help"],
        &["database", "psql", "--help"],
        &["workspace", "create", "--help"],
        &["token", "create", "--help"],
        &["mcp", "--help"],
        &["knowledge", "chat", "register", "--help"],
        &["knowledge", "forget", "message", "--help"],
        &["knowledge", "import", "--help"],
    ] {
        let output = run(args);
        assert!(output.status.success() && stdout(&output).contains("Usage: beresta"), "{args:?}");
    }
    assert!(stdout(&run(&["doctor", "--settings"])).contains("# listen = \"127.0.0.1:7400\""));
    serde_json::from_str::<Value>(&stdout(&run(&["openapi"]))).unwrap();
}

#[tokio::test]
async fn psql_opens_on_the_running_database() {
    let db = database().await;
    let output = run(&["database", "psql", "--database-url", &db.url, "--", "-Atc", "select count(*) from ops.job_types"]);
    assert_eq!(stdout(&output).trim(), "0", "{}", stderr(&output));
}
