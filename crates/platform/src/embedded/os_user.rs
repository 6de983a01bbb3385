//! Who runs the server. PostgreSQL refuses uid 0, so root lends it another user.

use std::{
    fs,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::Path,
};

use nix::unistd::{Uid, User};

use super::Error;

#[derive(Clone, Debug)]
pub(super) struct OsUser {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl OsUser {
    /// Nothing for an ordinary user, who runs the server as himself.
    pub(super) fn for_server() -> Result<Option<Self>, Error> {
        if !Uid::effective().is_root() {
            return Ok(None);
        }
        let found = ["postgres", "nobody"].into_iter().find_map(|name| User::from_name(name).ok().flatten());
        let user = found.ok_or_else(|| {
            Error::NoBinaries(
                "PostgreSQL refuses to run as root, and there is no user `postgres` or `nobody` to run it as".into(),
            )
        })?;
        Ok(Some(Self { uid: user.uid.as_raw(), gid: user.gid.as_raw() }))
    }

    /// Whether this user may pass through every directory down to this one.
    pub(super) fn can_reach(&self, path: &Path) -> bool {
        path.ancestors().all(|dir| {
            fs::metadata(dir).is_ok_and(|meta| {
                let mode = meta.mode();
                if meta.uid() == self.uid {
                    mode & 0o100 != 0
                } else if meta.gid() == self.gid {
                    mode & 0o010 != 0
                } else {
                    mode & 0o001 != 0
                }
            })
        })
    }

    pub(super) fn give(&self, path: &Path) -> std::io::Result<()> {
        std::os::unix::fs::chown(path, Some(self.uid), Some(self.gid))
    }
}

/// Makes a directory (and its parents) with this mode, or corrects the mode of the one that is there.
pub(super) fn make_dir(dir: &Path, mode: u32) -> std::io::Result<()> {
    if dir.is_dir() {
        let meta = fs::metadata(dir)?;
        // Only ours to correct: a directory that the user shares on purpose may be wider.
        if meta.uid() == Uid::effective().as_raw() && meta.mode() & mode != mode {
            fs::set_permissions(dir, fs::Permissions::from_mode(meta.mode() | mode))?;
        }
        return Ok(());
    }
    if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.exists()) {
        fs::create_dir_all(parent)?;
    }
    match fs::DirBuilder::new().mode(mode).create(dir) {
        // Another process made it since the look above.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        created => created.and_then(|()| fs::set_permissions(dir, fs::Permissions::from_mode(mode))),
    }
}
