//! MCP over standard input and output: one JSON message per line, until the input ends.

use kernel::{Problem, Secret};
use rmcp::{
    ServerHandler,
    service::{ServerInitializeError, serve_server_with_ct},
    transport::{TransportAdapterIdentity, async_rw::AsyncRwTransport, stdio_pipes},
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::{MESSAGE_BYTES_MAX, McpHandler};
use crate::engine::Planner;

/// Why a connection was not served to its end.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The token is no good, or the database is away: nothing was answered yet.
    #[error(transparent)]
    Refused(#[from] Problem),
    /// Whoever started us sent something that opens no MCP connection.
    #[error("the client does not speak MCP")]
    Protocol(#[source] Box<ServerInitializeError>),
    /// A mistake of ours.
    #[error("the connection broke down")]
    Broken(#[from] tokio::task::JoinError),
}

/// Serves the holder of a token until its client closes the input or a stop is asked for.
pub async fn serve_stdio(planner: Planner, token: Secret, stop: CancellationToken) -> Result<(), StdioError> {
    let handler = McpHandler::with_token(planner, token.clone());
    // Before anything is promised to the client: a token that is no good is said at once, where the person who set it looks.
    handler.holder(&token).await?;
    let (reader, writer) = stdio_pipes();
    serve_on(handler, reader, writer, stop).await
}

/// The same on any pair of streams.
pub async fn serve_on<R, W>(handler: impl ServerHandler, reader: R, writer: W, stop: CancellationToken) -> Result<(), StdioError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    // A longer line is dropped by the transport, which cannot say whose request it was; the limits of the tools refuse earlier, with words.
    let transport = AsyncRwTransport::new_server(reader, writer).with_max_line_length(MESSAGE_BYTES_MAX);
    let running = match serve_server_with_ct::<_, _, _, TransportAdapterIdentity>(handler, transport, stop).await {
        Ok(running) => running,
        // Gone before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(StdioError::Protocol(Box::new(error))),
    };
    running.waiting().await?;
    Ok(())
}
