//! The handle by which a handler hangs up on its client: the TCP connection ends without an answer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::Extensions;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio_util::sync::CancellationToken;

/// Put into the extensions of every request by [`crate::serve`]; cancelling it drops the connection.
#[derive(Clone, Default)]
pub(crate) struct Connection(CancellationToken);

impl Connection {
    pub(crate) fn of(extensions: &Extensions) -> Option<Self> {
        extensions.get::<Self>().cloned()
    }

    pub(crate) async fn dropped(&self) {
        self.0.cancelled().await;
    }
}

/// Ends the connection. The answer is never made: the connection, and this future with it, is dropped first.
pub(crate) async fn hang_up(connection: Option<Connection>) -> Response {
    match connection {
        Some(connection) => {
            connection.0.cancel();
            std::future::pending().await
        }
        // The router runs under somebody else's server: the best that is left is a body that breaks off.
        None => Response::new(Body::new(BrokenBody)),
    }
}

struct BrokenBody;

impl hyper::body::Body for BrokenBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(1)
    }
}
