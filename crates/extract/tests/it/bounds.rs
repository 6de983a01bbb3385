//! What a child may take and reach, and that nothing of it is left.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use extract::{ExtractLimits, ExtractedText, Extractor, Refusal, RefusalReason, Source};

use crate::{extractor, extractor_with_programs, files, read};

/// Puts a program of this name into a folder.
fn program(dir: &Path, name: &str, script: &str) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, format!("#!/bin/bash\n{script}\n")).expect("a program for a test");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program for a test");
    path
}

async fn read_picture(extractor: &Extractor) -> Result<ExtractedText, Refusal> {
    let picture = files::png(64, 64, |x, y| x == y);
    extractor.extract(Source { bytes: &picture, ..Source::default() }).await
}

#[tokio::test]
async fn a_child_and_what_it_starts_cannot_open_a_socket() {
    let dir = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!("if (exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null; then echo connected; else echo refused; fi");
    let path = program(dir.path(), "tesseract", &script);
    let outside = Command::new(path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&outside.stdout).trim(), "connected", "the same program outside");
    let found = read_picture(&extractor_with_programs(dir.path(), ExtractLimits::default())).await.unwrap();
    assert_eq!(found.text, "refused");
}

#[tokio::test]
async fn a_child_sees_nothing_of_the_environment_and_has_limits_and_a_folder_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    program(dir.path(), "tesseract", "env | cut -d= -f1 | sort | tr '\\n' ' '; pwd; ulimit -c; ulimit -n; nice");
    let found = read_picture(&extractor_with_programs(dir.path(), ExtractLimits::default())).await.unwrap();
    for unexpected in ["CARGO", "HOME", "USER", "RUST"] {
        assert!(!found.text.contains(unexpected), "{}", found.text);
    }
    let words: Vec<&str> = found.text.split_whitespace().collect();
    let [.., core, files, nice] = words[..] else { panic!("{}", found.text) };
    assert_eq!((core, files), ("0", "64"));
    assert!(nice.parse::<u32>().unwrap() >= 10, "{nice}");
    let folder = words.iter().find(|word| word.contains("beresta-extract-")).expect("its folder");
    assert!(!Path::new(folder).exists(), "nothing is left of {folder}");
}

#[tokio::test]
async fn a_scanned_page_is_painted_and_read_and_the_others_are_not() {
    let dir = tempfile::tempdir().unwrap();
    program(dir.path(), "tesseract", "head -c 4 \"$1\" | tail -c 3; echo ' и слово отска-'; echo 'нированной страницы'");
    let text = files::lines(50, 700, &["The first page has text enough to be read as it is, without any picture."]);
    let file = files::pages(&[text, files::SHOW_SCAN.to_owned()], &[files::scan(32)]);
    let extractor = extractor_with_programs(dir.path(), ExtractLimits::default());
    let found = extractor.extract(Source { bytes: &file, ..Source::default() }).await.unwrap();
    assert_eq!(crate::at_marks(&found)[1], (2, None, "PNG и слово отсканированной страницы".to_owned()));
    assert!(found.text.starts_with("The first page has text"));
}

#[tokio::test]
async fn without_ocr_a_picture_waits_and_says_why() {
    let nowhere = tempfile::tempdir().unwrap();
    let path = format!("PATH={}", nowhere.path().display());
    let args = vec![path, crate::PROGRAM.to_owned(), "--child".to_owned()];
    let extractor = Extractor::new(PathBuf::from("/usr/bin/env"), args, ExtractLimits::default());
    let refusal = read_picture(&extractor).await.unwrap_err();
    assert_eq!(refusal.reason, RefusalReason::NoOcr);
    assert!(refusal.message.contains("tesseract"), "{refusal}");
    let scan = files::pages(&[files::SHOW_SCAN.to_owned()], &[files::scan(32)]);
    let refusal = extractor.extract(Source { bytes: &scan, ..Source::default() }).await.unwrap_err();
    assert_eq!(refusal.reason, RefusalReason::NoOcr);
}

#[tokio::test]
async fn time_ends_the_child_with_everything_it_started() {
    let dir = tempfile::tempdir().unwrap();
    let pids = dir.path().join("pids");
    program(dir.path(), "tesseract", &format!("sleep 1000 & echo $$ $! > {}; wait", pids.display()));
    let limits = ExtractLimits { wall: Duration::from_secs(3), ..ExtractLimits::default() };
    let refusal = read_picture(&extractor_with_programs(dir.path(), limits)).await.unwrap_err();
    assert_eq!(refusal.reason, RefusalReason::TooMuchWork);
    assert_gone(&pids);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_stops_waiting_leaves_no_process_behind() {
    let dir = tempfile::tempdir().unwrap();
    let pids = dir.path().join("pids");
    let (written, ready) = (pids.display(), dir.path().join("ready"));
    program(dir.path(), "tesseract", &format!("sleep 1000 & echo $$ $! > {written}; touch {}; wait", ready.display()));
    let extractor = extractor_with_programs(dir.path(), ExtractLimits::default());
    let waiting = tokio::spawn(async move { read_picture(&extractor).await });
    until(|| ready.exists());
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    assert_gone(&pids);
}

/// The processes whose ids are in this file end, if they have not yet.
fn assert_gone(pids: &Path) {
    let pids = fs::read_to_string(pids).expect("the ids of processes");
    let is_alive = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // A zombie that nobody has collected yet is dead.
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    };
    until(|| !pids.split_whitespace().any(is_alive));
}

fn until(condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(30), "it did not come to that");
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn memory_and_processor_time_run_out_the_same_way_twice() {
    let little_memory = extractor(ExtractLimits { memory_bytes_max: 16 << 20, ..ExtractLimits::default() });
    let little_time = extractor(ExtractLimits { cpu_seconds_max: 1, ..ExtractLimits::default() });
    let many_values = format!("[{}1]", "1,".repeat(2_000_000));
    let long_page =
        format!("<html><body><nav>x</nav>{}</body></html>", "<div><p>слова, слова и ещё слова</p></div>".repeat(40_000));
    for (extractor, file, word) in [(&little_memory, &many_values, "memory"), (&little_time, &long_page, "processor time")] {
        for _ in 0..2 {
            let refusal = extractor.extract(Source { bytes: file.as_bytes(), ..Source::default() }).await.unwrap_err();
            assert_eq!(refusal.reason, RefusalReason::TooMuchWork, "{refusal}");
            assert!(refusal.message.contains(word), "{refusal}");
        }
    }
    assert_eq!(read(b"and the next one").await.unwrap().text, "and the next one");
}

#[tokio::test]
async fn input_and_output_have_limits() {
    let small = extractor(ExtractLimits { input_bytes_max: 10, ..ExtractLimits::default() });
    let refusal = small.extract(Source { bytes: b"eleven bytes", ..Source::default() }).await.unwrap_err();
    assert_eq!(refusal.reason, RefusalReason::TooLarge);
    let silent = extractor(ExtractLimits { output_bytes_max: 100, ..ExtractLimits::default() });
    let refusal = silent.extract(Source { bytes: "слово ".repeat(100).as_bytes(), ..Source::default() }).await.unwrap_err();
    assert_eq!(refusal.reason, RefusalReason::TooLarge);
}

#[tokio::test]
async fn a_child_that_cannot_start_says_nothing_about_the_document() {
    for (program, args) in [("/nowhere/at/all", vec![]), ("/bin/false", vec![]), ("/bin/echo", vec!["hello".to_owned()])] {
        let extractor = Extractor::new(PathBuf::from(program), args, ExtractLimits::default());
        let refusal = extractor.extract(Source { bytes: b"text", ..Source::default() }).await.unwrap_err();
        assert_eq!(refusal.reason, RefusalReason::Unavailable, "{refusal}");
    }
}
