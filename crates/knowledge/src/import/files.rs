//! Files beside an export. Their paths come from the export and are foreign: nothing outside of its folder is read.

use std::{
    fs::File,
    io::Read,
    path::{Component, Path, PathBuf},
};

/// Larger files are left out, with the message that shares them kept.
pub const IMPORT_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Why a file was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileRefusal {
    Missing,
    TooLarge,
    /// The path leads out of the folder of the export, or to something that is no file.
    Foreign,
}

impl FileRefusal {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::TooLarge => "larger than 64 MB",
            Self::Foreign => "outside of the folder of the export",
        }
    }
}

/// The folder of an export, without links on its way.
#[derive(Clone, Debug)]
pub(super) struct ExportFolder(PathBuf);

impl ExportFolder {
    pub(super) fn of(export: &Path) -> std::io::Result<Self> {
        let whole = export.canonicalize()?;
        Ok(Self(whole.parent().unwrap_or(Path::new("/")).to_owned()))
    }

    pub(super) fn read(&self, path: &str) -> Result<Vec<u8>, FileRefusal> {
        let relative = Path::new(path);
        if path.contains('\0') || !relative.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(FileRefusal::Foreign);
        }
        let whole = self.0.join(relative).canonicalize().map_err(|_| FileRefusal::Missing)?;
        if !whole.starts_with(&self.0) || !whole.is_file() {
            return Err(FileRefusal::Foreign);
        }
        let file = File::open(whole).map_err(|_| FileRefusal::Missing)?;
        if file.metadata().map_err(|_| FileRefusal::Missing)?.len() > IMPORT_FILE_BYTES_MAX {
            return Err(FileRefusal::TooLarge);
        }
        let mut bytes = Vec::new();
        // It may grow while it is read.
        file.take(IMPORT_FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|_| FileRefusal::Missing)?;
        if bytes.len() as u64 > IMPORT_FILE_BYTES_MAX { Err(FileRefusal::TooLarge) } else { Ok(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_of_the_folder_is_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let export = dir.path().join("export");
        std::fs::create_dir_all(export.join("files")).expect("a folder");
        std::fs::write(dir.path().join("secret"), "x").expect("a file");
        std::fs::write(export.join("result.json"), "{}").expect("a file");
        std::fs::write(export.join("files/a.txt"), "here").expect("a file");
        std::os::unix::fs::symlink(dir.path().join("secret"), export.join("link")).expect("a link");
        std::os::unix::fs::symlink(dir.path(), export.join("out")).expect("a link");
        std::os::unix::fs::symlink("files/a.txt", export.join("inside")).expect("a link");
        let folder = ExportFolder::of(&export.join("result.json")).expect("a folder");
        assert_eq!(folder.read("files/a.txt").expect("a file"), b"here");
        assert_eq!(folder.read("inside").expect("a file"), b"here");
        let absolute = dir.path().join("secret").to_string_lossy().into_owned();
        for path in ["../secret", "files/../../secret", &absolute, "link", "out/secret", "files", "a\0b", "/dev/zero"] {
            assert_eq!(folder.read(path), Err(FileRefusal::Foreign), "{path}");
        }
        assert_eq!(folder.read("files/none.txt"), Err(FileRefusal::Missing));
        let large = std::fs::File::create(export.join("large")).expect("a file");
        large.set_len(IMPORT_FILE_BYTES_MAX + 1).expect("its size");
        assert_eq!(folder.read("large"), Err(FileRefusal::TooLarge));
    }
}
