//! Signatures, verified by the reference library of Standard Webhooks.

use std::{io::Write, path::Path, process::Stdio};

use kernel::Clock;
use serde_json::{Value, json};
use testkit::clients::Node;
use webhooks::manage::OVERLAP;

use crate::world::World;

/// What the library says of each request: null, or why it is refused.
fn verify(requests: &Value) -> Value {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    let node = Node::prepare("node-webhooks", &clients);
    let script = clients.join("verify.cjs");
    let mut command = node.command(&script.to_string_lossy());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(requests.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn the_npm_package_standardwebhooks_accepts_what_we_send_and_nothing_else() {
    // The library looks at the clock.
    let world = World::at(Clock::system()).await;
    let old = world.add("all", &["*"]).await.secret.unwrap();
    world.emit("post.sent", json!({ "text": "«ёлка» 🎄\n\"quoted\" \\", "n": 1.5 })).await;
    world.drain().await;
    let new = world.desk.rotate(world.workspace, "all", None, OVERLAP, "ann").await.unwrap().secret.unwrap();
    world.emit("post.sent", json!({})).await;
    world.drain().await;
    let seen = world.receiver.seen();
    let request = |n: usize, secret: &str| {
        let headers =
            ["webhook-id", "webhook-timestamp", "webhook-signature"].map(|name| (name.to_owned(), json!(seen[n].header(name))));
        json!({ "secret": secret, "headers": Value::Object(headers.into_iter().collect()), "body": seen[n].body })
    };
    let mut forged = request(0, old.expose());
    forged["body"] = json!(seen[0].body.replace("post.sent", "post.lost"));
    let mut moved = request(0, old.expose());
    moved["headers"]["webhook-id"] = seen[1].header("webhook-id").into();
    let mut stale = request(0, old.expose());
    stale["headers"]["webhook-timestamp"] = json!("1700000000");
    let requests = json!([
        request(0, old.expose()),
        request(1, old.expose()),
        request(1, new.expose()),
        request(0, new.expose()),
        forged,
        moved,
        stale,
    ]);
    let said = tokio::task::spawn_blocking(move || verify(&requests)).await.unwrap();
    assert_eq!(
        said,
        json!([
            null,
            null,
            null,
            "No matching signature found",
            "No matching signature found",
            "No matching signature found",
            "Message timestamp too old",
        ])
    );
}
