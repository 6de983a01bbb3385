//! From the `auth_ref` of a channel to the secret behind it. Tables hold references only; the secret is read where it is
//! kept and remembered for a minute, so that a rotation takes effect without a restart.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use kernel::{AdapterError, Category, Secret, SecretRef};
use platform::Db;
use uuid::Uuid;

use super::send::unavailable;
use crate::store::{self, SendingDelivery};

const REMEMBER_FOR: Duration = Duration::from_mins(1);

type CredentialKey = (Uuid, String, String);

#[derive(Clone, Debug, Default)]
pub struct Credentials {
    known: Arc<Mutex<HashMap<CredentialKey, (Instant, Secret)>>>,
}

impl Credentials {
    pub(super) async fn token(&self, db: &Db, sending: &SendingDelivery) -> Result<Secret, AdapterError> {
        self.find(db, sending.workspace_id, &sending.auth_ref, &sending.platform).await
    }

    /// The secret of a credential, or an error of the channel that says what to mend.
    pub async fn find(&self, db: &Db, workspace: Uuid, auth_ref: &str, platform: &str) -> Result<Secret, AdapterError> {
        let key = (workspace, auth_ref.to_owned(), platform.to_owned());
        if let Some((read_at, secret)) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key)
            && read_at.elapsed() < REMEMBER_FOR
        {
            return Ok(secret.clone());
        }
        let reference = store::secret_ref(db.pool(), workspace, auth_ref, platform).await.map_err(unavailable)?;
        let reference = reference.ok_or_else(|| {
            missing(format!("no credential `{auth_ref}` for {platform}: add a row to posting.credential_bindings"))
        })?;
        let reference = SecretRef::parse(&reference).map_err(|problem| missing(problem.message))?;
        let secret = platform::secrets::fetch(&reference).await.map_err(missing)?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, (Instant::now(), secret.clone()));
        Ok(secret)
    }
}

fn missing(message: String) -> AdapterError {
    AdapterError::credential_missing(Category::Permanent, message)
}
