//! The HTTP listener: bounded in connections, in header size and in the time that headers may take.

use std::{sync::Arc, time::Duration};

use axum::Router;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, sync::Semaphore};
use tokio_util::sync::CancellationToken;

const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
const HEADER_BYTES_MAX: usize = 32 << 10;
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
        let Some((stream, slot)) = accepted else { continue };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
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
) -> Option<(tokio::net::TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, slot)),
        Err(error) => {
            // Out of file descriptors, most likely: connections that end will free some.
            tracing::warn!(%error, "http.accept");
            tokio::time::sleep(Duration::from_millis(100)).await;
            None
        }
    }
}
