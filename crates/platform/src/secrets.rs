//! From where a secret is kept to the secret. Tables and settings hold the reference only; what was read is remembered for a
//! minute, so that a rotation takes effect without a restart.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use kernel::{Secret, SecretRef};

const REMEMBER_FOR: Duration = Duration::from_mins(1);

/// Fetches a secret from where its reference points. The words of the error name the reference, which is no secret.
pub fn read(reference: &SecretRef) -> Result<Secret, String> {
    let text = match reference {
        SecretRef::Env(name) => std::env::var(name).map_err(|_| format!("the variable {name} is not set"))?,
        SecretRef::File(path) => std::fs::read_to_string(path).map_err(|_| format!("cannot read the file {path}"))?,
    };
    Ok(Secret::new(text.trim()))
}

/// The secrets that were read in the last minute.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    known: Arc<Mutex<HashMap<String, (Instant, Secret)>>>,
}

impl Secrets {
    pub fn find(&self, reference: &str) -> Result<Secret, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((read_at, secret)) = known.get(reference)
            && read_at.elapsed() < REMEMBER_FOR
        {
            return Ok(secret.clone());
        }
        let secret = read(&SecretRef::parse(reference).map_err(|problem| problem.message)?)?;
        known.insert(reference.to_owned(), (Instant::now(), secret.clone()));
        Ok(secret)
    }
}
