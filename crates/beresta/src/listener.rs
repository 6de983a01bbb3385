//! The HTTP listener: bounded in connections, in header size and in the time that headers may take.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{ConnectInfo, Request},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, sync::Semaphore};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
const HEADER_BYTES_MAX: usize = 32 << 10;
/// A client that takes nothing for so long is gone, or might as well be: its stream comes back with its cursor.
const UNREAD_MAX_MS: u32 = 60_000;
/// How long answers that are on their way may take after a stop was asked for.
const GRACE: Duration = Duration::from_secs(10);

/// Serves until told to stop, then lets what has begun come to its end.
pub(crate) async fn serve(listener: TcpListener, router: Router, connections_max: usize, stop: CancellationToken) {
    let slots = Arc::new(Semaphore::new(connections_max));
    let graceful = GracefulShutdown::new();
    let mut http = hyper::server::conn::http1::Builder::new();
    // Without a timer the header timeout would never fire.
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).max_buf_size(HEADER_BYTES_MAX);
    loop {
        // A slot first: beyond the limit, connections wait in the system's queue instead of in our memory.
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&listener, &slots) => accepted,
        };
        let Some((stream, peer, slot)) = accepted else { continue };
        let _ = stream.set_nodelay(true);
        let _ = nix::sys::socket::setsockopt(&stream, nix::sys::socket::sockopt::TcpUserTimeout, &UNREAD_MAX_MS);
        // The limits of streams count by address.
        let service = router.clone().map_request(move |mut request: Request<hyper::body::Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            request
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service)));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "http.connection");
            }
            drop(slot);
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
        tracing::warn!("some connections did not end in time");
    }
}

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> Option<(tokio::net::TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer, slot)),
        Err(error) => {
            // Out of file descriptors, most likely: connections that end will free some.
            tracing::warn!(%error, "http.accept");
            tokio::time::sleep(Duration::from_millis(100)).await;
            None
        }
    }
}
