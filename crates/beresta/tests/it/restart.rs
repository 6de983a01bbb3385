//! The server survives a database that goes away and comes back, and says so meanwhile.

use std::time::Duration;

use kernel::Scopes;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use platform::{
    embedded::{ClusterConfig, Embedded, Use},
    tokens, workspaces,
};
use sqlx::{Connection, Executor};

use crate::support::{Serving, client, data_dir, is_alive, until};

#[tokio::test]
async fn the_server_outlives_a_restart_of_its_database_and_readyz_tells() {
    let dir = data_dir();
    let mut config = ClusterConfig::new(dir.path(), Use::Share);
    config.is_durable = false;
    // Nobody else uses this server, so the watchdog must not stop it while the test does.
    config.linger = Duration::from_secs(30);
    let database = Embedded::start(config.clone()).await.unwrap();
    let mut admin = sqlx::PgConnection::connect(&database.url("postgres")).await.unwrap();
    admin.execute("create database outage").await.unwrap();
    let url = database.url("outage");
    let serving = Serving::on_database(&url, &[]);
    assert_eq!(serving.get("/readyz").await.0, 200);
    let db = platform::Db::connect(&platform::Settings::new(&url), kernel::Clock::system()).unwrap();
    let ours = workspaces::create(db.pool(), "ours").await.unwrap();
    let (_, token) = tokens::create(db.pool(), ours, "t", &Scopes::all(), None, None).await.unwrap();
    let ask = async || {
        let call = client().get(format!("{}/api/me", serving.base)).bearer_auth(token.expose());
        let response = call.send().await.unwrap();
        let status = response.status().as_u16();
        (status, response.json::<serde_json::Value>().await.unwrap())
    };
    assert_eq!(ask().await.0, 200);

    let pid = database.server_pid().unwrap();
    kill(Pid::from_raw(pid), Signal::SIGINT).unwrap();
    until("the database is gone", async || (!is_alive(pid)).then_some(())).await;
    let (status, body) = serving.get("/readyz").await;
    assert_eq!((status, body["error"]["kind"].as_str()), (503, Some("db")));
    assert_eq!(serving.get("/healthz").await.0, 200);
    let (status, body) = ask().await;
    assert_eq!((status, body["error"]["retryable"].as_bool()), (503, Some(true)), "{body}");

    assert!(database.revive_blocking().unwrap());
    until("it is ready again", async || (serving.get("/readyz").await.0 == 200).then_some(())).await;
    assert_eq!(ask().await.0, 200);
    assert!(serving.stop());
}
