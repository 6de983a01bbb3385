//! Programs of the system, installed where they are missing.

use std::path::Path;

use anyhow::{Result, bail};

use crate::run::{command, step};

/// Installs packages unless the programs are there already; says why they are needed.
pub(crate) fn install(reason: &str, programs: &[&str], packages: &[&str]) -> Result<()> {
    let is_there = |name: &&str| ["/usr/bin", "/usr/local/bin", "/snap/bin"].iter().any(|dir| Path::new(dir).join(name).exists());
    if programs.iter().all(is_there) {
        return Ok(());
    }
    if !is_there(&"apt-get") {
        bail!("{reason}: install {} with this system's package manager", programs.join(" and "));
    }
    println!("{reason}: installing {} from the system's packages, once", packages.join(", "));
    let is_root = std::env::var("USER").is_ok_and(|user| user == "root") || nix::unistd::geteuid().is_root();
    let apt = |args: &[&str]| {
        let mut all = vec!["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300"];
        all.extend(args);
        let mut apt = if is_root { command(all[0], &all[1..]) } else { command("sudo", &all) };
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    step("package lists", apt(&["update"]))?;
    step(&packages.join(", "), apt(&[&["install", "-y", "--no-install-recommends"], packages].concat()))
}
