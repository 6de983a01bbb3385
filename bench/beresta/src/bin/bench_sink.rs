//! Takes POSTs and answers 200: where the jobs of every contestant send to. Prints its address.

use axum::{Router, body::Bytes, routing::post};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/", listener.local_addr()?);
    let router = Router::new().route("/", post(|_body: Bytes| async { "ok" }));
    // Ends with the harness, which holds the other end of its input.
    let (mut input, mut nothing) = (tokio::io::stdin(), tokio::io::sink());
    tokio::select! {
        result = axum::serve(listener, router) => Ok(result?),
        _ = tokio::io::copy(&mut input, &mut nothing) => Ok(()),
    }
}
