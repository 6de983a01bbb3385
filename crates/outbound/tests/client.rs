//! The client for providers: limits on everything, and errors that say whether the request may have been carried out.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use std::time::Duration;

use axum::{Router, body::Body, routing::any};
use kernel::AdapterError;
use outbound::{CallError, Client, ClientSettings};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket},
};

const TOKEN_PATH: &str = "/bot123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/sendMessage";

async fn call(url: &str) -> Result<outbound::Reply, CallError> {
    call_within(ClientSettings::default().request_timeout, url).await
}

async fn call_within(request_timeout: Duration, url: &str) -> Result<outbound::Reply, CallError> {
    let client = Client::new(&ClientSettings { request_timeout, body_bytes_max: 1000, ..ClientSettings::default() }).unwrap();
    client.send(client.request("POST".parse().unwrap(), url).body("x")).await
}

/// A server that reads a request and then does this with the connection.
async fn raw<F, R>(answer: F) -> String
where
    F: Fn(tokio::net::TcpStream) -> R + Send + Sync + 'static,
    R: Future<Output = ()> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}{TOKEN_PATH}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut buffer = [0; 1024];
            let _ = stream.read(&mut buffer).await;
            answer(stream).await;
        }
    });
    url
}

async fn routed(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

#[tokio::test]
async fn an_answer_of_any_status_is_an_answer_and_its_retry_after_is_read() {
    let url = routed(
        Router::new()
            .route("/", any(|| async { (axum::http::StatusCode::TOO_MANY_REQUESTS, [("retry-after", "7")], "{\"ok\":false}") })),
    )
    .await;
    let reply = call(&url).await.unwrap();
    assert_eq!((reply.status, reply.retry_after), (429, Some(Duration::from_secs(7))));
    assert_eq!(reply.json().unwrap()["ok"], false);
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_never_saw_the_request() {
    // Bound and not listening: nobody answers there, and nobody else can take the port meanwhile.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    let error = call(&format!("http://127.0.0.1:{port}{TOKEN_PATH}")).await.unwrap_err();
    assert!(matches!(error, CallError::NotSent(_)), "{error}");
    assert!(!AdapterError::from(error).outcome_unknown());
}

#[tokio::test]
async fn a_request_that_left_without_a_whole_answer_has_an_unknown_outcome() {
    let dropped = raw(|stream| async move { drop(stream) }).await;
    let silent = raw(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let cut = raw(|mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"ok\"").await;
    })
    .await;
    let garbage = raw(|mut stream| async move {
        let _ = stream.write_all(b"\0\0\0 nonsense\r\n\r\n").await;
    })
    .await;
    let patience = ClientSettings::default().request_timeout;
    let soon = Duration::from_millis(500);
    for (name, url, limit) in
        [("dropped", dropped, patience), ("silent", silent, soon), ("cut", cut, patience), ("garbage", garbage, patience)]
    {
        let error = call_within(limit, &url).await.unwrap_err();
        assert!(matches!(error, CallError::OutcomeUnknown(_)), "{name}: {error}");
        assert!(!error.to_string().contains("AAAA"), "{name}: the token is in the error: {error}");
        assert!(AdapterError::from(error).outcome_unknown());
    }
}

#[tokio::test]
async fn an_answer_over_the_limit_is_not_read_to_its_end() {
    let endless = || async { Body::from_stream(futures::stream::repeat_with(|| Ok::<_, std::io::Error>("x".repeat(500)))) };
    let url = routed(Router::new().route("/", any(endless))).await;
    let error = call(&url).await.unwrap_err();
    assert!(error.to_string().contains("larger than 1000 bytes"), "{error}");
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let redirect = || async { (axum::http::StatusCode::FOUND, [("location", "http://127.0.0.1:1/steal")]) };
    let url = routed(Router::new().route("/", any(redirect))).await;
    assert_eq!(call(&url).await.unwrap().status, 302);
}

#[test]
fn a_ca_bundle_that_cannot_be_used_is_refused_with_its_name() {
    let missing = ClientSettings { ca_bundle: Some("/nowhere/ca.pem".into()), ..ClientSettings::default() };
    assert!(Client::new(&missing).unwrap_err().to_string().contains("/nowhere/ca.pem"));
    let empty = tempfile::NamedTempFile::new().unwrap();
    let empty = ClientSettings { ca_bundle: Some(empty.path().to_owned()), ..ClientSettings::default() };
    assert!(Client::new(&empty).unwrap_err().to_string().contains("there is no certificate in it"));
}
