//! A body that is sent piece by piece: streams of events, pages of any size, and bodies that break off.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

const FILL_CHUNK: Bytes = Bytes::from_static(&[b'x'; 64 * 1024]);

#[derive(Default)]
pub(crate) struct Pieces {
    queue: VecDeque<Bytes>,
    /// So many bytes follow the pieces. They are made while they are sent: a page of a gigabyte costs no memory.
    fill: u64,
    /// The length the headers tell; `None` for a stream.
    length: Option<u64>,
    /// The connection ends before the body does.
    is_cut: bool,
    is_flushed: bool,
}

impl Pieces {
    /// Events of which the end cannot be foreseen.
    pub(crate) fn stream(pieces: impl IntoIterator<Item = String>) -> Self {
        Self { queue: pieces.into_iter().map(Bytes::from).collect(), ..Self::default() }
    }

    /// A body of known length.
    pub(crate) fn whole(body: Bytes) -> Self {
        Self { length: Some(body.len() as u64), queue: VecDeque::from([body]), ..Self::default() }
    }

    pub(crate) fn filled(length: u64) -> Self {
        Self { fill: length, length: Some(length), ..Self::default() }
    }

    /// Half of it is sent; then the connection breaks.
    pub(crate) fn cut(mut self) -> Self {
        self.is_cut = true;
        self.fill /= 2;
        if let [only] = self.queue.make_contiguous() {
            only.truncate(only.len() / 2);
        } else {
            self.queue.truncate(self.queue.len() / 2);
        }
        self
    }

    pub(crate) fn body(self) -> Body {
        Body::new(self)
    }
}

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(piece) = self.queue.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        if self.fill > 0 {
            let size = self.fill.min(FILL_CHUNK.len() as u64);
            self.fill -= size;
            return Poll::Ready(Some(Ok(Frame::data(FILL_CHUNK.slice(..usize::try_from(size).unwrap_or(0))))));
        }
        if self.is_cut && !self.is_flushed {
            // What was sent so far leaves the server's buffer before the connection breaks.
            self.is_flushed = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.is_cut.then(|| Err(io::ErrorKind::ConnectionReset.into())))
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
