//! Secrets of sources, fetched when they are needed and never kept.
//!
//! Whoever may edit a source may name a secret and an address to send it to. So a source reaches only secrets that were
//! put aside for sources: variables with a prefix of their own, and files of one folder. Otherwise the editor of one
//! workspace could have the token of another one, or our own database password, delivered to his server.

use std::path::{Path, PathBuf};

use kernel::{Secret, SecretRef};

#[derive(Clone, Debug)]
pub struct SourceSecrets {
    pub env_prefix: String,
    pub folder: PathBuf,
}

impl Default for SourceSecrets {
    fn default() -> Self {
        Self { env_prefix: "PULL_".into(), folder: "/run/secrets/pull".into() }
    }
}

impl SourceSecrets {
    /// The text of an error names the reference, which is no secret.
    pub(super) fn read(&self, reference: &SecretRef) -> Result<Secret, String> {
        let text = match reference {
            SecretRef::Env(name) if !name.starts_with(&self.env_prefix) => {
                return Err(format!("a source may use variables that start with {}, not {name}", self.env_prefix));
            }
            SecretRef::Env(name) => std::env::var(name).map_err(|_| format!("the variable {name} is not set"))?,
            SecretRef::File(path) => self.read_file(Path::new(path))?,
        };
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() { Err(format!("the secret {reference} is empty")) } else { Ok(Secret::new(text)) }
    }

    /// Judged after following links, and the same error for what is elsewhere and what does not exist.
    fn read_file(&self, path: &Path) -> Result<String, String> {
        let failed = || format!("there is no readable file {} in {}", path.display(), self.folder.display());
        let real = path.canonicalize().map_err(|_| failed())?;
        let folder = self.folder.canonicalize().map_err(|_| failed())?;
        if !real.starts_with(folder) {
            return Err(failed());
        }
        std::fs::read_to_string(real).map_err(|_| failed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_reaches_only_the_secrets_put_aside_for_sources() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("news"), "hunter2\n").unwrap();
        std::fs::write(elsewhere.path().join("other"), "hunter3").unwrap();
        std::os::unix::fs::symlink(elsewhere.path().join("other"), folder.path().join("link")).unwrap();
        let secrets = SourceSecrets { folder: folder.path().to_owned(), ..SourceSecrets::default() };
        let file = |path: PathBuf| secrets.read(&SecretRef::File(path.display().to_string()));
        assert_eq!(file(folder.path().join("news")).unwrap().expose(), "hunter2");
        for path in
            [elsewhere.path().join("other"), folder.path().join("link"), folder.path().join("../etc"), "/etc/hostname".into()]
        {
            file(path.clone()).unwrap_err();
        }
        assert!(secrets.read(&SecretRef::Env("PATH".into())).unwrap_err().contains("PULL_"));
        assert!(secrets.read(&SecretRef::Env("PULL_NOWHERE".into())).unwrap_err().contains("not set"));
    }
}
