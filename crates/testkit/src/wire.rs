//! A network between a process and the database that can lose answers.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use platform::Db;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split},
    net::{UnixListener, UnixStream},
    sync::watch,
};

use crate::{TestDb, settings, waiting::PATIENCE};

const SOCKET: &str = ".s.PGSQL.5432";
const MINUTE: Duration = Duration::from_secs(61);

/// Carries everything until it is told to lose the answers of the server: then the server gets what it is sent, does it, and the process never
/// hears of it. A connection that lost an answer stays deaf; one that is made after [`LossyWire::mend`] is a good one.
pub struct LossyWire {
    dir: TempDir,
    state: Arc<WireState>,
}

struct WireState {
    is_losing: AtomicBool,
    /// How many answers were lost, or parts of one.
    lost: watch::Sender<u64>,
}

impl TestDb {
    /// A process whose connections go over a wire.
    pub fn over_a_wire(&self) -> (Db, LossyWire) {
        let dir = TempDir::new().expect("a directory");
        let listener = UnixListener::bind(dir.path().join(SOCKET)).expect("a socket");
        let state = Arc::new(WireState { is_losing: AtomicBool::new(false), lost: watch::Sender::new(0) });
        let (_, server) = self.url.split_once("?host=").expect("the cluster listens on a socket");
        let server = Path::new(&server.replace("%20", " ").replace("%25", "%")).join(SOCKET);
        let carried = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((process, _)) = listener.accept().await {
                let server = UnixStream::connect(&server).await.expect("the cluster answers");
                let ((from_process, to_process), (from_server, to_server)) = (split(process), split(server));
                tokio::spawn(ask(from_process, to_server));
                tokio::spawn(answer(from_server, to_process, Arc::clone(&carried)));
            }
        });
        let (database, _) = self.url.split_once('?').expect("the URL names a socket");
        let url = format!("{database}?host={}", dir.path().display());
        let db = Db::connect(&settings(&url), self.clock.clone()).expect("a usable URL");
        (db, LossyWire { dir, state })
    }
}

impl LossyWire {
    pub fn lose_answers(&self) {
        assert!(self.dir.path().exists(), "the wire is there");
        self.state.is_losing.store(true, Ordering::Release);
    }

    pub fn mend(&self) {
        self.state.is_losing.store(false, Ordering::Release);
    }

    /// Waits until an answer was lost.
    pub async fn until_lost(&self) {
        let mut lost = self.state.lost.subscribe();
        let waiting = lost.wait_for(|count| *count > 0);
        tokio::time::timeout(PATIENCE, waiting).await.expect("an answer is lost").expect("the wire is there");
    }

    /// Waits until an answer was lost, mends the wire, and lets a minute pass on the clock of the tasks: what waits for that answer has to give it
    /// up. For tests on one thread.
    pub async fn lose_one_answer_for_a_minute(&self) {
        self.until_lost().await;
        self.mend();
        tokio::time::pause();
        tokio::time::advance(MINUTE).await;
        tokio::time::resume();
    }
}

async fn ask(mut from: ReadHalf<UnixStream>, mut to: WriteHalf<UnixStream>) {
    let _ = tokio::io::copy(&mut from, &mut to).await;
    let _ = to.shutdown().await;
}

async fn answer(mut from: ReadHalf<UnixStream>, mut to: WriteHalf<UnixStream>, state: Arc<WireState>) {
    let mut buffer = vec![0; 64 * 1024];
    let mut is_deaf = false;
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        is_deaf |= state.is_losing.load(Ordering::Acquire);
        if is_deaf {
            state.lost.send_modify(|lost| *lost += 1);
        } else if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
    // The end of a connection that is deaf is not heard either.
    if is_deaf {
        std::future::pending::<()>().await;
    }
}
