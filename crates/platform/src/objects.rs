//! Where large things are kept: files in the data directory by default, S3 by setting.
//!
//! Every object belongs to a workspace, and its workspace is the first part of its path.

use std::{path::Path, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use futures::TryStreamExt;
use kernel::{Problem, Secret, WorkspaceId};
use object_store::{
    ClientOptions, ObjectStore, ObjectStoreExt, PutPayload, RetryConfig, aws::AmazonS3Builder, local::LocalFileSystem,
    path::Path as Key,
};

/// How large an object may be; media limits of the providers are far below.
pub const OBJECT_BYTES_MAX: usize = 256 << 20;
const KEY_BYTES_MAX: usize = 512;

#[derive(Clone, Debug)]
pub enum Place {
    Files { dir: std::path::PathBuf },
    S3(S3),
}

#[derive(Clone, Debug)]
pub struct S3 {
    pub bucket: String,
    pub prefix: String,
    pub region: String,
    /// For servers other than Amazon's.
    pub endpoint: Option<String>,
    pub access_key_id: String,
    pub secret_access_key: Secret,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no object `{0}`")]
    NotFound(String),
    #[error("`{key}` is not a usable object name: {reason}")]
    BadKey { key: String, reason: &'static str },
    #[error("an object of {bytes} bytes is over the limit of {OBJECT_BYTES_MAX}")]
    TooLarge { bytes: usize },
    #[error("object storage does not answer as it should: {0}")]
    Storage(String),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::NotFound(_) => Self::not_found("object"),
            Error::BadKey { .. } => Self::validation("key", message),
            Error::TooLarge { .. } => Self::new(413, kernel::Kind::TooLarge, "object.too_large", message),
            Error::Storage(_) => {
                tracing::warn!(error = message, "objects.storage");
                Self::new(
                    503,
                    kernel::Kind::Unavailable,
                    "objects.unavailable",
                    "object storage does not answer right now; try again",
                )
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    prefix: Key,
}

impl Objects {
    pub fn open(place: &Place) -> Result<Self, Error> {
        match place {
            Place::Files { dir } => Self::open_files(dir),
            Place::S3(s3) => Self::open_s3(s3),
        }
    }

    fn open_files(dir: &Path) -> Result<Self, Error> {
        let failed = |error: std::io::Error| Error::Storage(format!("{}: {error}", dir.display()));
        std::fs::create_dir_all(dir).map_err(failed)?;
        // What people sent is nobody else's to read.
        std::fs::set_permissions(dir, std::os::unix::fs::PermissionsExt::from_mode(0o700)).map_err(failed)?;
        let store = LocalFileSystem::new_with_prefix(dir).map_err(|error| storage(&error))?.with_fsync(true);
        Ok(Self { store: Arc::new(store), prefix: Key::default() })
    }

    fn open_s3(s3: &S3) -> Result<Self, Error> {
        let retry = RetryConfig { max_retries: 3, retry_timeout: Duration::from_secs(20), ..RetryConfig::default() };
        let client = ClientOptions::new().with_timeout(Duration::from_mins(1)).with_connect_timeout(Duration::from_secs(5));
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&s3.bucket)
            .with_region(&s3.region)
            .with_access_key_id(&s3.access_key_id)
            .with_secret_access_key(s3.secret_access_key.expose())
            .with_client_options(client.with_allow_http(s3.endpoint.as_deref().is_some_and(|url| url.starts_with("http://"))))
            .with_retry(retry);
        if let Some(endpoint) = &s3.endpoint {
            builder = builder.with_endpoint(endpoint).with_virtual_hosted_style_request(false);
        }
        let store = builder.build().map_err(|error| storage(&error))?;
        let prefix = Key::parse(&s3.prefix).map_err(|_| Error::BadKey { key: s3.prefix.clone(), reason: "bad prefix" })?;
        Ok(Self { store: Arc::new(store), prefix })
    }

    /// Stores an object whole, replacing one of that name.
    pub async fn put(&self, workspace: WorkspaceId, key: &str, body: Bytes) -> Result<(), Error> {
        if body.len() > OBJECT_BYTES_MAX {
            return Err(Error::TooLarge { bytes: body.len() });
        }
        let path = self.path(workspace, key)?;
        self.store.put(&path, PutPayload::from_bytes(body)).await.map_err(|error| named(key, error))?;
        Ok(())
    }

    pub async fn get(&self, workspace: WorkspaceId, key: &str) -> Result<Bytes, Error> {
        let path = self.path(workspace, key)?;
        let found = self.store.get(&path).await.map_err(|error| named(key, error))?;
        let mut stream = found.into_stream();
        let mut body = BytesMut::new();
        while let Some(part) = stream.try_next().await.map_err(|error| named(key, error))? {
            if body.len() + part.len() > OBJECT_BYTES_MAX {
                return Err(Error::TooLarge { bytes: body.len() + part.len() });
            }
            body.extend_from_slice(&part);
        }
        Ok(body.freeze())
    }

    /// Removes an object; one that is not there is removed already.
    pub async fn delete(&self, workspace: WorkspaceId, key: &str) -> Result<(), Error> {
        let path = self.path(workspace, key)?;
        match self.store.delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(named(key, error)),
        }
    }

    /// A name can never lead out of its workspace: it has no empty, `.` or `..` parts.
    fn path(&self, workspace: WorkspaceId, key: &str) -> Result<Key, Error> {
        let bad = |reason| Err(Error::BadKey { key: key.chars().take(80).collect(), reason });
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            return bad("it must have 1 to 512 bytes");
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let mut path = self.prefix.clone().join(workspace.to_string());
        for part in key.split('/') {
            if part.is_empty() || part == "." || part == ".." || !part.chars().all(is_plain) {
                return bad("its parts are letters, digits, `-`, `_` and `.`, separated by single slashes");
            }
            path = path.join(part);
        }
        Ok(path)
    }
}

fn storage(error: &object_store::Error) -> Error {
    Error::Storage(kernel::redact::snippet(&error.to_string(), 500))
}

fn named(key: &str, error: object_store::Error) -> Error {
    match error {
        object_store::Error::NotFound { .. } => Error::NotFound(key.to_owned()),
        other => storage(&other),
    }
}
