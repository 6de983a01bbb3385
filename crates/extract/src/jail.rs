//! What a child takes from itself before it looks at a byte of the document, and what programs that it starts inherit: memory, time, files, network.

use std::{collections::BTreeMap, io};

use nix::{
    libc,
    sys::resource::{Resource, setrlimit},
};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::wire::RequestHead;

/// For the thread that reads: deep documents recurse, and the main thread has 8 MiB.
pub(crate) const STACK_BYTES: usize = 64 << 20;
const FILES_MAX: u64 = 64;
const NICENESS: i32 = 10;

/// Sets the limits. None of them can be taken back, not by root either, who may raise limits but is not asked to.
pub(crate) fn enter(head: &RequestHead) -> io::Result<()> {
    // The first that the kernel ends when memory runs out for everybody. It is a wish: where it cannot be written, the limits below hold.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let _ = rustix::process::nice(NICENESS);
    let memory = address_space()? + head.memory_bytes_max + head.bytes as u64 + STACK_BYTES as u64;
    let limits = [
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_NOFILE, FILES_MAX),
        (Resource::RLIMIT_FSIZE, head.file_bytes_max),
        (Resource::RLIMIT_CPU, head.cpu_seconds_max),
        (Resource::RLIMIT_AS, memory),
    ];
    for (resource, limit) in limits {
        // A second between the two limits on time: at the first the kernel says which it was, at the other it only kills.
        let hard = if resource == Resource::RLIMIT_CPU { limit + 1 } else { limit };
        setrlimit(resource, limit, hard)?;
    }
    cut_network().map_err(io::Error::other)
}

/// What the program has before it begins: its code, and what its allocator keeps in reserve.
fn address_space() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.trim().strip_suffix(" kB"));
    let kib: u64 =
        line.and_then(|kib| kib.parse().ok()).ok_or_else(|| io::Error::other("/proc/self/status does not tell the memory"))?;
    Ok(kib << 10)
}

/// Takes away every way to a socket, and with it the network. A filter of system calls needs neither root nor a namespace, which containers
/// refuse, and stays with everything that is started from here. Whatever is inherited was closed when this program began.
fn cut_network() -> Result<(), seccompiler::Error> {
    let refused = [
        libc::SYS_socket,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept4,
        libc::SYS_sendto,
        libc::SYS_sendmsg,
        libc::SYS_sendmmsg,
        // Its queues open sockets past a filter.
        libc::SYS_io_uring_setup,
        // Into other processes, which have sockets.
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_pidfd_getfd,
    ];
    let rules: BTreeMap<i64, Vec<seccompiler::SeccompRule>> = refused.into_iter().map(|call| (call, Vec::new())).collect();
    let refuse = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, std::env::consts::ARCH.try_into()?)?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)
}
