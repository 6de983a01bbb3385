//! The gates of the door: secret, then size, then rate, and the body is read after all of them.

use axum::{Router, extract::Request, routing::post};
use jiff::SignedDuration;
use kernel::Secret;
use platform::{
    Db,
    door::{Entrance, Passage},
    http::{Failure, Limits, wrap},
};
use sqlx::AssertSqlSafe;
use testkit::TestDb;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const ENTRANCE: Entrance = Entrance { kind: "webhook_push", provider: None, header: "x-secret" };
const RIGHT: &str = "x-secret: right";

struct Gates {
    test: TestDb,
    address: std::net::SocketAddr,
}

async fn enter(db: Db, request: Request) -> Result<String, Failure> {
    let secret = ENTRANCE.secret(request.headers()).map(ToOwned::to_owned);
    Ok(match ENTRANCE.admit(&db, secret.as_deref(), request).await? {
        Passage::Unknown => "unknown".to_owned(),
        Passage::TooLarge { admission, bytes, .. } => format!("{bytes} of {}", admission.bytes_max),
        Passage::RateLimited { retry_after, .. } => format!("in {}", retry_after.as_secs()),
        Passage::Admitted { body, .. } => format!("in with {}", String::from_utf8_lossy(&body)),
    })
}

impl Gates {
    /// A server with an endpoint that takes ten bytes and a request a second.
    async fn open(body_bytes_max: usize) -> Self {
        let test = TestDb::frozen().await;
        let workspace = test.workspace("team").await;
        let query = "insert into core.workspace_endpoints (workspace_id, kind, secret_hash, max_payload_bytes, ingress_rps)
                     values ($1, 'webhook_push', $2, 10, 1)";
        let hash = Secret::new("right").sha256_hex();
        sqlx::query(query).bind(workspace.uuid()).bind(hash).execute(test.db.pool()).await.unwrap();
        let db = test.db.clone();
        let router = Router::new().route("/", post(move |request| enter(db.clone(), request)));
        let router = wrap(router, Limits { body_bytes_max, ..Limits::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { test, address }
    }

    /// What is said to a request with these headers, of whose body only this much ever comes.
    async fn knock(&self, headers: &[&str], body: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!("POST / HTTP/1.1\r\nhost: x\r\n{}\r\n\r\n{body}", headers.join("\r\n"));
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        loop {
            assert!(stream.read_buf(&mut answer).await.unwrap() > 0, "{}", String::from_utf8_lossy(&answer));
            let text = String::from_utf8_lossy(&answer);
            let Some((head, said)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if said.len() == length.parse::<usize>().unwrap() {
                return said.to_owned();
            }
        }
    }

    async fn run(&self, statement: &str) {
        sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&mut self.test.owner().await).await.unwrap();
    }
}

#[tokio::test]
async fn a_request_passes_the_secret_then_the_size_then_the_rate() {
    let gates = Gates::open(1 << 20).await;
    assert_eq!(gates.knock(&["x-secret: wrong", "content-length: 99"], "").await, "unknown");
    assert_eq!(gates.knock(&[RIGHT, "content-length: 11"], "").await, "11 of 10");
    assert_eq!(gates.knock(&[RIGHT, "content-length: 10"], "0123456789").await, "in with 0123456789");
    assert_eq!(gates.knock(&[RIGHT, "content-length: 11"], "").await, "11 of 10", "also when the rate is used up");
    assert_eq!(gates.knock(&[RIGHT, "content-length: 1"], "").await, "in 1");
    assert_eq!(gates.knock(&["x-secret: wrong", "content-length: 1"], "").await, "unknown");
    gates.test.clock.advance(SignedDuration::from_secs(1));
    assert_eq!(gates.knock(&[RIGHT, "content-length: 1"], "x").await, "in with x", "a refusal used up no rate");
}

#[tokio::test]
async fn a_body_of_unknown_length_is_read_no_further_than_the_endpoint_takes_it() {
    let gates = Gates::open(1 << 20).await;
    let chunked = [RIGHT, "transfer-encoding: chunked"];
    assert_eq!(gates.knock(&chunked, "6\r\n012345\r\n5\r\n67890\r\n").await, "11 of 10", "and its end never comes");
    assert_eq!(gates.knock(&chunked, "6\r\n012345\r\n4\r\n6789\r\n0\r\n\r\n").await, "in with 0123456789");
    assert_eq!(gates.knock(&chunked, "1\r\nx\r\n0\r\n\r\n").await, "in 1");
}

#[tokio::test]
async fn the_limit_of_the_server_holds_where_it_is_the_smaller_one() {
    let gates = Gates::open(5).await;
    assert_eq!(gates.knock(&[RIGHT, "content-length: 6"], "").await, "6 of 5");
}

#[tokio::test]
async fn a_secret_is_shown_once_and_leads_to_an_enabled_endpoint_of_its_kind_in_an_active_workspace() {
    let gates = Gates::open(1 << 20).await;
    for headers in [&["content-length: 1"][..], &[RIGHT, RIGHT, "content-length: 1"], &["x-secret:", "content-length: 1"]] {
        assert_eq!(gates.knock(headers, "").await, "unknown", "{headers:?}");
    }
    for (change, back) in [
        ("core.workspace_endpoints set enabled = false", "core.workspace_endpoints set enabled = true"),
        ("core.workspace_endpoints set kind = 'bot_webhook'", "core.workspace_endpoints set kind = 'webhook_push'"),
        ("core.workspaces set status = 'paused'", "core.workspaces set status = 'active'"),
    ] {
        gates.run(&format!("update {change}")).await;
        assert_eq!(gates.knock(&[RIGHT, "content-length: 1"], "").await, "unknown", "{change}");
        gates.run(&format!("update {back}")).await;
    }
    assert_eq!(gates.knock(&[RIGHT, "content-length: 1"], "x").await, "in with x");
}

#[tokio::test]
async fn rates_that_a_long_transaction_has_bloated_are_emptied() {
    let gates = Gates::open(1 << 20).await;
    assert_eq!(gates.knock(&[RIGHT, "content-length: 1"], "x").await, "in with x");
    let trim = "select core.trim_endpoint_rates()";
    sqlx::query(trim).execute(gates.test.db.pool()).await.unwrap();
    assert_eq!(gates.knock(&[RIGHT, "content-length: 1"], "").await, "in 1", "small enough");
    let mut reader = gates.test.owner().await;
    sqlx::raw_sql("begin isolation level repeatable read; select 1").execute(&mut reader).await.unwrap();
    gates.run("do $$ begin for i in 1..20000 loop update core.endpoint_rates set refused = 0; commit; end loop; end $$").await;
    sqlx::query(trim).execute(gates.test.db.pool()).await.unwrap();
    assert_eq!(gates.knock(&[RIGHT, "content-length: 1"], "x").await, "in with x");
}
