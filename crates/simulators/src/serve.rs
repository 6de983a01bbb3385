//! Serves the simulators on a listener. Connections are driven here rather than by `axum::serve`, because a fault
//! must be able to end one without an answer.

use std::pin::pin;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Simulators;
use crate::connection::Connection;

/// How long a request under way may still take when the server stops.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// Accept fails when the process is out of file descriptors: wait for some to close.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Runs until `stop` is cancelled; then requests under way get two seconds to end. The same simulators can be served
/// again later, as a provider that was down for a while: what it knew and what waited for a webhook is still there.
pub async fn serve(listener: TcpListener, simulators: Simulators, stop: CancellationToken) {
    let router = simulators.router();
    simulators.set_pushing(true);
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(drive(stream, router.clone(), stop.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "simulators cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    simulators.set_pushing(false);
    connections.close();
    connections.wait().await;
}

async fn drive(stream: TcpStream, router: Router, stop: CancellationToken) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "no TCP_NODELAY");
    }
    let connection = Connection::default();
    let handle = connection.clone();
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(handle.clone());
        router.call(request)
    });
    let mut served = pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        ended = served.as_mut() => {
            if let Err(error) = ended {
                tracing::debug!(%error, "connection ended badly");
            }
        }
        () = connection.dropped() => {}
        () = stop.cancelled() => {
            served.as_mut().graceful_shutdown();
            // Either it ends in time or it is dropped: nothing to report in both cases.
            let _ = tokio::time::timeout(STOP_GRACE, served).await;
        }
    }
}
