//! Subscriptions: what can be added, and where their secrets are.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use webhooks::{
    manage::{NewSubscription, OVERLAP},
    signature::{self, SigningKey},
};

use crate::world::World;

/// Why a subscription cannot be added: the field and the words.
async fn refusal(world: &World, name: &str, url: &str, events: &[&str], secret_ref: Option<&str>) -> (String, String) {
    let events: Vec<String> = events.iter().map(|&event| event.to_owned()).collect();
    let new = NewSubscription { name, url, events: &events, secret_ref };
    let problem = world.desk.add(world.workspace, &new, "ann").await.unwrap_err();
    assert_eq!(problem.status, 422, "{problem:?}");
    (problem.details["field"].as_str().unwrap().to_owned(), problem.message)
}

#[tokio::test]
async fn what_cannot_work_is_refused_when_it_is_added_and_the_words_say_what_to_correct() {
    let world = World::with_webhook().await;
    let url = "https://example.org/hook";
    let path = world.files.path().join("bad.secret");
    std::fs::write(&path, "hunter2").unwrap();
    let bad = format!("file:{}", path.display());
    let long = "x".repeat(101);
    let cases = [
        (("all", url, &["*"][..], None), "name", "there is a webhook `all` already"),
        (("", url, &["*"], None), "name", "1 to 100 characters"),
        ((&long, url, &["*"], None), "name", "1 to 100 characters"),
        (("a", "ftp://example.org/", &["*"], None), "url", "starts with http:// or https://"),
        (("a", "https://example.org:22/", &["*"], None), "url", "port 22"),
        (("a", "https://me:pw@example.org/", &["*"], None), "url", "no user name"),
        (("a", url, &[], None), "events", "1 to 50 kinds of events"),
        (("a", url, &["post.snet"], None), "events", "there is no event `post.snet`; the nearest are: post.sent"),
        (("a", url, &["pots.*"], None), "events", "there is no event `pots.*`"),
        (("a", url, &["post.*", "**"], None), "events", "there is no event `**`"),
        (("a", url, &["*"], Some("whsec_hunter2")), "secret", "given by reference"),
        (("a", url, &["*"], Some(bad.as_str())), "secret_ref", "`whsec_` and the base64 of 24 to 64 bytes"),
    ];
    for ((name, url, events, secret_ref), field, words) in cases {
        let (said_field, said) = refusal(&world, name, url, events, secret_ref).await;
        assert!(
            said_field == field && said.contains(words) && !said.contains("hunter2"),
            "{name} {url} {events:?}: {said_field}: {said}"
        );
    }
    let files = std::fs::read_dir(world.files.path().join("secrets").join(world.workspace.to_string())).unwrap().count();
    assert_eq!(files, 1, "a secret that was made for nothing is gone again");
}

#[tokio::test]
async fn an_address_is_kept_in_its_normal_form_however_it_is_written() {
    let world = World::new().await;
    for (given, kept) in [
        ("HTTPS://Example.ORG/Hook?A=b#part", "https://example.org/Hook?A=b"),
        (" https://пример.рф:443/x ", "https://xn--e1afmkfd.xn--p1ai/x"),
        ("Http://example.org", "http://example.org/"),
    ] {
        let added = world.add_at(given, &["*"], given).await;
        assert_eq!(added.subscription.url, kept);
    }
}

#[tokio::test]
async fn a_workspace_has_fifty_subscriptions_at_most() {
    let world = World::with_webhook().await;
    world
        .run(
            "insert into core.webhook_subscriptions (workspace_id, name, url, secret_ref, events)
              select $ws, 'n' || n, 'https://example.org', 'env:X', '{*}' from generate_series(1, 49) n",
        )
        .await;
    let (field, words) = refusal(&world, "one more", "https://example.org", &["*"], None).await;
    assert_eq!((field.as_str(), words.as_str()), ("name", "a workspace has at most 50 webhooks"));
}

#[tokio::test]
async fn a_secret_that_we_make_is_in_a_file_of_its_own_and_not_in_the_database() {
    let world = World::new().await;
    let added = world.add("all", &["post.*", "*", "post.*"]).await;
    assert_eq!(added.subscription.events, ["*", "post.*"]);
    let secret = added.secret.unwrap();
    SigningKey::parse(&secret).unwrap();
    let path = |reference: &serde_json::Value| reference.as_str().unwrap().strip_prefix("file:").unwrap().to_owned();
    let first = path(&world.subscription("all").await["secret_ref"]);
    assert_eq!(std::fs::read_to_string(&first).unwrap().trim(), secret.expose());
    assert_eq!(std::fs::metadata(&first).unwrap().permissions().mode() & 0o777, 0o600);
    let everything =
        world.rows("select s::text as s from core.webhook_subscriptions s union all select j::text from ops.journal j").await;
    assert!(!json!(everything).to_string().contains(secret.expose()));

    world.desk.rotate(world.workspace, "all", None, OVERLAP, "ann").await.unwrap();
    let second = path(&world.subscription("all").await["secret_ref"]);
    world.desk.rotate(world.workspace, "all", None, OVERLAP, "ann").await.unwrap();
    let exists = |path: &str| std::path::Path::new(path).exists();
    assert!(!exists(&first) && exists(&second), "a rotation during a rotation ends the first one");
    world.desk.remove(world.workspace, "all", "ann").await.unwrap();
    assert!(!exists(&second));
}

#[tokio::test]
async fn a_secret_of_ones_own_is_given_by_reference_and_stays_where_it_is() {
    let world = World::new().await;
    let path = world.files.path().join("own.secret");
    std::fs::write(&path, signature::new_secret().expose()).unwrap();
    let reference = format!("file:{}", path.display());
    let events = ["*".to_owned()];
    let mut new = NewSubscription { name: "own", url: "https://example.org/", events: &events, secret_ref: Some(&reference) };
    let added = world.desk.add(world.workspace, &new, "ann").await.unwrap();
    assert!(added.secret.is_none() && added.warning.is_none());
    world.desk.remove(world.workspace, "own", "ann").await.unwrap();
    assert!(path.exists());
    new.secret_ref = Some("env:BERESTA_NO_SUCH_VARIABLE");
    let added = world.desk.add(world.workspace, &new, "ann").await.unwrap();
    let warning = "the variable BERESTA_NO_SUCH_VARIABLE is not set here; the process with the role `dispatcher` needs it";
    assert_eq!(added.warning.as_deref(), Some(warning));
}

#[tokio::test]
async fn a_removed_subscription_gets_nothing_and_its_log_stays() {
    let world = World::with_webhook().await;
    world.emit_many(2).await;
    world.desk.remove(world.workspace, "all", "ann").await.unwrap();
    assert_eq!((world.drain().await, world.statuses().await.as_str()), (0, "failed, failed"));
    assert_eq!(world.emit("post.sent", json!({})).await, 0);
    let journal = world.rows("select data->'ended' as ended from ops.journal where action = 'webhook_removed'").await;
    assert_eq!(journal, [json!({ "ended": 2 })]);
    assert_eq!(world.desk.enable(world.workspace, "all", "ann").await.unwrap_err().status, 404);
}

#[tokio::test]
async fn rotating_back_to_the_secret_before_keeps_its_file() {
    let world = World::with_webhook().await;
    let first =
        world.rows("select secret_ref from core.webhook_subscriptions").await[0]["secret_ref"].as_str().unwrap().to_owned();
    let overlap = std::time::Duration::from_hours(1);
    world.desk.rotate(world.workspace, "all", None, overlap, "ann").await.unwrap();
    let back = world.desk.rotate(world.workspace, "all", Some(&first), overlap, "ann").await.unwrap();
    assert_eq!(back.warning, None);
    assert!(std::path::Path::new(first.trim_start_matches("file:")).exists());
}
