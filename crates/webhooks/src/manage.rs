//! What people do with subscriptions and deliveries: the same for the API and the command line.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::PathBuf,
    time::Duration,
};

use kernel::{Problem, Secret, SecretRef, WorkspaceId, redact};
use outbound::Fetcher;
use platform::{Db, DbError, secrets, wake::Topic};
use sqlx::{Postgres, Transaction};
use uuid::Uuid;

use crate::{
    error::problem,
    reads::{self, SubscriptionRead},
    signature::{self, SigningKey},
    store,
};

/// For how long the secret before a rotation signs too by default.
pub const OVERLAP: Duration = Duration::from_hours(24);

/// Secrets that we make ourselves: one file each, which only the user of this process can read. The database has the path.
#[derive(Clone, Debug)]
pub struct SecretFiles {
    pub dir: PathBuf,
}

impl SecretFiles {
    fn create(&self, workspace: WorkspaceId, secret: &Secret) -> io::Result<String> {
        let dir = self.dir.join(workspace.to_string());
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        let path = dir.canonicalize()?.join(format!("{}.secret", Uuid::new_v4().simple()));
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        writeln!(file, "{}", secret.expose())?;
        file.sync_all()?;
        Ok(SecretRef::File(path.display().to_string()).to_string())
    }

    /// Removes a secret that was made here; the operator removes others.
    fn remove(&self, reference: Option<&str>) {
        let Some(Ok(SecretRef::File(path))) = reference.map(SecretRef::parse) else { return };
        let is_ours = self.dir.canonicalize().is_ok_and(|dir| PathBuf::from(&path).starts_with(dir));
        if is_ours && let Err(error) = fs::remove_file(&path) {
            tracing::warn!(%error, "webhooks.secret_file");
        }
    }
}

/// What the changes are made with.
#[derive(Clone, Debug)]
pub struct Desk {
    pub db: Db,
    pub fetcher: Fetcher,
    pub files: SecretFiles,
}

#[derive(Clone, Debug)]
pub struct NewSubscription<'a> {
    pub name: &'a str,
    pub url: &'a str,
    pub events: &'a [String],
    /// Where its secret is kept; without one a secret is made.
    pub secret_ref: Option<&'a str>,
}

/// A subscription, and the secret that was made for it, which is shown once.
#[derive(Clone, Debug)]
pub struct WithSecret {
    pub subscription: SubscriptionRead,
    pub secret: Option<Secret>,
    /// Why the secret cannot be read from here, where that is so: the sender may run elsewhere.
    pub warning: Option<String>,
}

/// Where the secret of a change is, and what was made for it.
struct ChosenSecret {
    reference: String,
    made: Option<Secret>,
    warning: Option<String>,
}

impl Desk {
    pub async fn add(&self, workspace: WorkspaceId, new: &NewSubscription<'_>, by: &str) -> Result<WithSecret, Problem> {
        let url = self.fetcher.check(new.url).map_err(|error| Problem::validation("url", error.to_string()))?;
        let secret = self.choose(workspace, new.secret_ref).await?;
        let id = kernel::new_id();
        let row = store::NewRow {
            subscription_id: id,
            name: new.name,
            url: url.as_str(),
            secret_ref: &secret.reference,
            events: new.events,
        };
        let added = async {
            let mut tx = self.db.begin(workspace).await?;
            store::add_subscription(&mut tx, workspace, &row, by).await?;
            self.commit(tx).await
        };
        self.finish(workspace, id, added.await, secret).await
    }

    /// Another secret; the one before signs too until `overlap` is over.
    pub async fn rotate(
        &self,
        workspace: WorkspaceId,
        name_or_id: &str,
        secret_ref: Option<&str>,
        overlap: Duration,
        by: &str,
    ) -> Result<WithSecret, Problem> {
        let secret = self.choose(workspace, secret_ref).await?;
        let rotated = async {
            let mut tx = self.db.begin(workspace).await?;
            let before = store::rotate_secret(&mut tx, workspace, name_or_id, &secret.reference, overlap, by).await?;
            self.commit(tx).await?;
            Ok(before)
        };
        match rotated.await {
            Ok(before) => {
                // Whoever rotates back names the secret before the last one: it is in use again.
                self.files.remove(before.old_secret_ref.as_deref().filter(|old| *old != secret.reference));
                self.finish(workspace, before.subscription_id, Ok(()), secret).await
            }
            Err(error) => self.finish(workspace, Uuid::nil(), Err(error), secret).await,
        }
    }

    pub async fn pause(
        &self,
        workspace: WorkspaceId,
        name_or_id: &str,
        why: &str,
        by: &str,
    ) -> Result<SubscriptionRead, Problem> {
        let mut tx = self.db.begin(workspace).await?;
        let why = redact::snippet(why, 500);
        let id = store::pause_subscription(&mut tx, workspace, name_or_id, &why, by).await.map_err(problem)?;
        self.commit(tx).await?;
        self.subscription(workspace, id).await
    }

    pub async fn enable(&self, workspace: WorkspaceId, name_or_id: &str, by: &str) -> Result<SubscriptionRead, Problem> {
        let mut tx = self.db.begin(workspace).await?;
        let id = store::enable_subscription(&mut tx, workspace, name_or_id, by).await.map_err(problem)?;
        self.commit(tx).await?;
        self.subscription(workspace, id).await
    }

    pub async fn remove(&self, workspace: WorkspaceId, name_or_id: &str, by: &str) -> Result<Uuid, Problem> {
        let mut tx = self.db.begin(workspace).await?;
        let removed = store::remove_subscription(&mut tx, workspace, name_or_id, by).await.map_err(problem)?;
        self.commit(tx).await?;
        self.files.remove(Some(&removed.secret_ref));
        self.files.remove(removed.old_secret_ref.as_deref());
        Ok(removed.subscription_id)
    }

    /// Sends `webhook.test`; the delivery.
    pub async fn test(&self, workspace: WorkspaceId, name_or_id: &str, by: &str) -> Result<Uuid, Problem> {
        let mut tx = self.db.begin(workspace).await?;
        let id = store::send_test(&mut tx, workspace, name_or_id, by).await.map_err(problem)?;
        self.commit(tx).await?;
        Ok(id)
    }

    /// Sends what an ended delivery carried once more; the new delivery.
    pub async fn resend(&self, workspace: WorkspaceId, delivery_id: Uuid, by: &str) -> Result<Uuid, Problem> {
        let mut tx = self.db.begin(workspace).await?;
        let id = store::resend_delivery(&mut tx, workspace, delivery_id, by).await.map_err(problem)?;
        self.commit(tx).await?;
        Ok(id)
    }

    async fn commit(&self, tx: Transaction<'static, Postgres>) -> Result<(), DbError> {
        tx.commit().await?;
        self.db.wake().tell(Topic::BUS);
        Ok(())
    }

    async fn subscription(&self, workspace: WorkspaceId, id: Uuid) -> Result<SubscriptionRead, Problem> {
        let found = reads::subscription(&mut *self.db.begin(workspace).await?, id).await?;
        found.ok_or_else(|| Problem::not_found("webhook"))
    }

    /// A secret that is there, or a new one. What can be read and is no secret is refused; what cannot be read from here is not,
    /// because the sender may run with another environment.
    async fn choose(&self, workspace: WorkspaceId, reference: Option<&str>) -> Result<ChosenSecret, Problem> {
        let Some(reference) = reference else {
            let secret = signature::new_secret();
            let reference = self.files.create(workspace, &secret).map_err(|error| {
                tracing::error!(%error, "webhooks.secret_file");
                Problem::internal()
            })?;
            return Ok(ChosenSecret { reference, made: Some(secret), warning: None });
        };
        let parsed = SecretRef::parse(reference)?;
        let warning = match secrets::fetch(&parsed).await {
            Ok(secret) => SigningKey::parse(&secret).map(|_| None).map_err(|words| Problem::validation("secret_ref", words))?,
            Err(words) => Some(format!("{words} here; the process with the role `dispatcher` needs it")),
        };
        Ok(ChosenSecret { reference: reference.to_owned(), made: None, warning })
    }

    /// The subscription with its secret; a secret that was made for a change which failed goes away again.
    async fn finish(
        &self,
        workspace: WorkspaceId,
        id: Uuid,
        changed: Result<(), DbError>,
        secret: ChosenSecret,
    ) -> Result<WithSecret, Problem> {
        if let Err(error) = changed {
            // After a lost answer to a commit the row may be there and needs its file.
            if secret.made.is_some() && !error.is_retryable() {
                self.files.remove(Some(&secret.reference));
            }
            return Err(problem(error));
        }
        let subscription = self.subscription(workspace, id).await?;
        Ok(WithSecret { subscription, secret: secret.made, warning: secret.warning })
    }
}
