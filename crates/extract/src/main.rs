//! The extractor by itself: `extract-file FILE…` prints for each file, as a line of JSON, what became of it and what it cost. It has a child do it,
//! as the product does, and is that child too.

use std::{path::Path, process::ExitCode, time::Instant};

use extract::{ExtractLimits, Extractor, Source, run_child};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::json;

const CHILD: &str = "--child";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == CHILD) {
        return run_child();
    }
    let (Ok(program), Ok(runtime)) =
        (std::env::current_exe(), tokio::runtime::Builder::new_current_thread().enable_all().build())
    else {
        return ExitCode::FAILURE;
    };
    let extractor = Extractor::new(program, vec![CHILD.to_owned()], ExtractLimits::default());
    for path in &args {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(err) => {
                eprintln!("{path}: {err}");
                return ExitCode::FAILURE;
            }
        };
        let file_name = Path::new(path).file_name().and_then(|name| name.to_str());
        let started = Instant::now();
        let read = runtime.block_on(extractor.extract(Source { bytes: &bytes, file_name, ..Source::default() }));
        let seconds = started.elapsed().as_secs_f64();
        // The largest of all children so far, OCR included.
        let peak_kib = getrusage(UsageWho::RUSAGE_CHILDREN).map_or(0, |usage| usage.max_rss());
        let outcome = match read {
            Ok(text) => json!({"text": text}),
            Err(refusal) => json!({"refused": refusal}),
        };
        println!("{}", json!({"file": path, "seconds": seconds, "peak_kib": peak_kib, "outcome": outcome}));
    }
    ExitCode::SUCCESS
}
