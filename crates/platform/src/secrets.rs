//! From where a secret is kept to the secret. Tables and settings hold the reference only; what was read is remembered for a
//! minute, so that a rotation takes effect without a restart.
//!
//! Guarantee: a file that does not answer (a pipe nobody writes to, a share that is away) keeps nobody waiting who asks for another secret, and those who
//! ask for it no longer than [`READ_MAX`].

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use kernel::{Secret, SecretRef};
use tokio::sync::oneshot;

const REMEMBER_FOR: Duration = Duration::from_mins(1);
/// How long a file may take to be read.
const READ_MAX: Duration = Duration::from_secs(5);

/// The file of a secret on its way, for everybody who asks for it meanwhile: one that never answers costs one thread.
type SharedRead = Shared<BoxFuture<'static, Result<Secret, String>>>;
static UNDER_WAY: LazyLock<Mutex<HashMap<String, SharedRead>>> = LazyLock::new(Mutex::default);

/// Fetches a secret from where its reference points, however long that takes: for the start of the program. The words of the error name the
/// reference, which is no secret.
pub fn read(reference: &SecretRef) -> Result<Secret, String> {
    let text = match reference {
        SecretRef::Env(name) => std::env::var(name).map_err(|_| format!("the variable {name} is not set"))?,
        SecretRef::File(path) => std::fs::read_to_string(path).map_err(|_| unreadable(path))?,
    };
    Ok(Secret::new(text.trim()))
}

/// The same for a program that is at work.
pub async fn fetch(reference: &SecretRef) -> Result<Secret, String> {
    let SecretRef::File(path) = reference else { return read(reference) };
    let reading = lock(&UNDER_WAY).entry(path.clone()).or_insert_with(|| start_reading(path.clone())).clone();
    let given_up = |_| Err(format!("the file {path} was not read within {} seconds", READ_MAX.as_secs()));
    tokio::time::timeout(READ_MAX, reading).await.unwrap_or_else(given_up)
}

/// On a thread of its own: the runtime waits at its end for the threads that it lends, and this one may never come back.
fn start_reading(path: String) -> SharedRead {
    let (answer, answered) = oneshot::channel();
    let lost = unreadable(&path);
    let work = move || {
        let secret = read(&SecretRef::File(path.clone()));
        lock(&UNDER_WAY).remove(&path);
        let _ = answer.send(secret);
    };
    let thread = std::thread::Builder::new().name("secret".to_owned()).spawn(work);
    if let Err(error) = &thread {
        tracing::error!(%error, "secrets.thread");
    }
    answered.map(move |secret| secret.unwrap_or(Err(lost))).boxed().shared()
}

fn unreadable(path: &str) -> String {
    format!("cannot read the file {path}")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The secrets that were read in the last minute.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    known: Arc<Mutex<HashMap<String, (Instant, Secret)>>>,
}

impl Secrets {
    pub async fn find(&self, reference: &str) -> Result<Secret, String> {
        if let Some((read_at, secret)) = lock(&self.known).get(reference)
            && read_at.elapsed() < REMEMBER_FOR
        {
            return Ok(secret.clone());
        }
        let secret = fetch(&SecretRef::parse(reference).map_err(|problem| problem.message)?).await?;
        lock(&self.known).insert(reference.to_owned(), (Instant::now(), secret.clone()));
        Ok(secret)
    }
}
