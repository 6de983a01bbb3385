//! The demo workspace and its credentials.

use std::{fs, io::Write, os::unix::fs::OpenOptionsExt, path::Path};

use anyhow::{Context, Result};
use kernel::{Scopes, Secret, WorkspaceId};
use platform::{tokens, workspaces};
use serde::{Deserialize, Serialize};
use sqlx::Executor;

use crate::{config::Config, database::Database, outside::Outside, seed_archive, seed_plan};

const SEED: &str = include_str!("../../../db/seed.sql");
const FILE: &str = "demo-credentials.json";

/// What one needs to try the demo workspace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SeedCredentials {
    pub(crate) workspace_id: WorkspaceId,
    pub(crate) token: String,
    pub(crate) push_secret: String,
    pub(crate) max_secret: String,
    pub(crate) telegram_secret: String,
    pub(crate) knowledge: seed_archive::ArchiveCredentials,
}

/// Loads `db/seed.sql` and returns the credentials. They are kept in the data directory, so that repeating the
/// seed prints the same ones; the database has only their hashes.
pub(crate) async fn load(config: &Config, database: &Database) -> Result<SeedCredentials> {
    let pool = database.db.pool();
    let workspace_id = workspaces::create(pool, "demo").await?;
    let path = config.data_dir.join(FILE);
    let kept = fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str::<SeedCredentials>(&text).ok());
    let mut credentials = match kept {
        Some(kept) if kept.workspace_id == workspace_id && is_alive(database, &kept).await? => kept,
        _ => make(database, workspace_id).await?,
    };
    let refs = keep_bot_tokens(config)?;
    apply(database, &credentials, &refs).await?;
    seed_plan::load(&database.db, &database.url, workspace_id, &credentials.token)
        .await
        .context("the goals of the demo person cannot be made")?;
    let objects = platform::objects::Objects::open(&config.objects)?;
    let archive = Outside::new(config)?.knowledge(&database.db, &objects);
    credentials.knowledge.bot_id = seed_archive::load(&archive, workspace_id, &config.data_dir)
        .await
        .context("the history of the demo group cannot be made")?;
    keep(&path, &serde_json::to_string_pretty(&credentials)?)?;
    Ok(credentials)
}

async fn is_alive(database: &Database, kept: &SeedCredentials) -> Result<bool> {
    let principal = tokens::authenticate(database.db.pool(), &Secret::new(&kept.token)).await?;
    Ok(principal.is_some_and(|principal| principal.workspace_id == kept.workspace_id && principal.person.is_some()))
}

async fn make(database: &Database, workspace_id: WorkspaceId) -> Result<SeedCredentials> {
    let (_, token) =
        tokens::create(database.db.pool(), workspace_id, "demo", &Scopes::all(), None, Some(seed_plan::PERSON)).await?;
    let secret = || Secret::new_webhook_secret().expose().to_owned();
    Ok(SeedCredentials {
        workspace_id,
        token: token.expose().to_owned(),
        push_secret: secret(),
        max_secret: secret(),
        telegram_secret: secret(),
        knowledge: seed_archive::ArchiveCredentials::new(secret()),
    })
}

/// The tokens of the demo bots, good for simulators only, in files that the database names.
fn keep_bot_tokens(config: &Config) -> Result<Vec<(&'static str, String)>> {
    let dir = fs::canonicalize(&config.data_dir).or_else(|_| {
        fs::create_dir_all(&config.data_dir)?;
        fs::canonicalize(&config.data_dir)
    })?;
    let tokens = [
        ("telegram", "seed.telegram_secret_ref", "1000001:AAdemo-token-for-the-simulated-tele"),
        ("max", "seed.max_secret_ref", "demo-token-for-the-simulated-max"),
        ("archive", "seed.archive_secret_ref", "1000002:AAdemo-token-for-the-simulated-arch"),
    ];
    let mut refs = Vec::new();
    for (platform, setting, token) in tokens {
        let path = dir.join(format!("demo-{platform}-token"));
        if !path.exists() {
            keep(&path, token)?;
        }
        refs.push((setting, format!("file:{}", path.display())));
    }
    Ok(refs)
}

async fn apply(database: &Database, credentials: &SeedCredentials, refs: &[(&'static str, String)]) -> Result<()> {
    let mut tx = database.db.begin_system().await?;
    let settings = [
        ("seed.push_secret_hash", &credentials.push_secret),
        ("seed.max_secret_hash", &credentials.max_secret),
        ("seed.telegram_secret_hash", &credentials.telegram_secret),
        ("seed.archive_secret_hash", &credentials.knowledge.secret),
    ];
    for (name, secret) in settings {
        let hash = Secret::new(secret.as_str()).sha256_hex();
        sqlx::query("select set_config($1, $2, true)").bind(name).bind(hash).execute(&mut *tx).await?;
    }
    for (name, reference) in refs {
        sqlx::query("select set_config($1, $2, true)").bind(*name).bind(reference).execute(&mut *tx).await?;
    }
    tx.execute(SEED).await.context("db/seed.sql cannot be loaded")?;
    Ok(tx.commit().await?)
}

fn keep(path: &Path, text: &str) -> Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    file.write_all(text.as_bytes())?;
    Ok(())
}
