//! Files made to hurt: each ends in bounded time and memory with a reason, and the document after it is read.

use std::time::{Duration, Instant};

use extract::{ExtractedText, Refusal, RefusalReason};

use crate::{files, read};

/// Debug builds on a busy machine; the limits themselves are tested in `bounds`.
const SLOWEST: Duration = Duration::from_secs(100);

/// Reads a file and then a harmless one.
async fn survive(bytes: &[u8]) -> Result<ExtractedText, Refusal> {
    let (pid, started) = (std::process::id(), Instant::now());
    let outcome = read(bytes).await;
    assert!(started.elapsed() < SLOWEST, "{:?}", started.elapsed());
    assert_eq!(read("Следующий документ.".as_bytes()).await.expect("the next document").text, "Следующий документ.");
    assert_eq!(std::process::id(), pid);
    if let Err(refusal) = &outcome {
        assert!(refusal.message.ends_with('.'), "{refusal}");
    }
    outcome
}

async fn reason(bytes: &[u8]) -> RefusalReason {
    survive(bytes).await.expect_err("it should be refused").reason
}

#[tokio::test]
async fn a_compressed_bomb_is_too_large() {
    let bomb = files::bomb(4000, None);
    assert!(bomb.len() < 5 << 20, "{}", bomb.len());
    assert_eq!(reason(&bomb).await, RefusalReason::TooLarge);
    assert_eq!(reason(&files::bomb(4000, Some(100))).await, RefusalReason::Broken, "and one that lies about it is broken");
}

#[tokio::test]
async fn an_archive_of_too_many_parts_is_too_large() {
    let names: Vec<String> = (0..20_001).map(|index| format!("{index}")).collect();
    let parts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    assert_eq!(reason(&files::archive(&parts)).await, RefusalReason::TooLarge);
}

#[tokio::test]
async fn deep_xml_and_entities_are_broken() {
    assert_eq!(reason(&files::docx(&"<w:p>".repeat(300_000))).await, RefusalReason::Broken);
    let laughs = "<!DOCTYPE x [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'>]><w:document><w:p><w:t>&c;</w:t></w:p></w:document>";
    assert_eq!(reason(&files::docx_with(laughs, &[])).await, RefusalReason::Broken);
    let outside = "<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><w:document><w:p><w:t>&a;</w:t></w:p></w:document>";
    assert_eq!(reason(&files::docx_with(outside, &[])).await, RefusalReason::Broken);
}

#[tokio::test]
async fn a_million_tiny_cells_are_read_or_refused() {
    let row = format!("<row>{}</row>", "<c><v>1</v></c>".repeat(100));
    let found = survive(&files::sheet(&row.repeat(10_000))).await.unwrap();
    assert_eq!(found.text.split_whitespace().count(), 1_000_000);
    // One long string, shown by every cell.
    let row = format!("<row>{}</row>", format!("<c t='str'><v>{}</v></c>", "длинное слово ".repeat(100)).repeat(100));
    assert_eq!(reason(&files::sheet(&row.repeat(200))).await, RefusalReason::TooLarge);
}

#[tokio::test]
async fn loops_in_a_pdf_end() {
    let catalog = "<< /Type /Catalog /Pages 2 0 R >>".to_owned();
    let _ = survive(&files::pdf(&[catalog.clone(), "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>".to_owned()])).await;
    let _ = survive(&files::pdf(&["<< /Type /Catalog /Pages 1 0 R >>".to_owned()])).await;
    // A form that paints itself, twice.
    let form =
        files::stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>", "/X Do /X Do");
    let _ = survive(&files::pages(&["/X Do".to_owned() + &files::lines(50, 700, &["beside a loop"])], &[form])).await;
    // A stream whose length is the stream itself, and a table of objects that names itself.
    let _ = survive(&files::pages(&[String::new()], &["<< /Length 6 0 R >>\nstream\nx\nendstream".to_owned()])).await;
    let mut file = files::pages(&[files::lines(50, 700, &["some words of text"])], &[]);
    let end = String::from_utf8_lossy(&file).rfind("startxref").unwrap();
    let start = String::from_utf8_lossy(&file).rfind("xref\n0").unwrap();
    file.truncate(end);
    file.extend(format!("trailer\n<< /Size 6 /Root 1 0 R /Prev {start} >>\nstartxref\n{start}\n%%EOF").bytes());
    let _ = survive(&file).await;
}

#[tokio::test]
async fn nesting_in_a_pdf_ends() {
    let nested = "[".repeat(1_000_000);
    let _ = survive(&files::pdf(&[format!("<< /Type /Catalog /Pages {nested} >>")])).await;
    let _ = survive(&files::pages(&[format!("{nested} 0 Tj")], &[])).await;
    let _ = survive(&files::pages(&["q ".repeat(1_000_000)], &[])).await;
}

#[tokio::test]
async fn fonts_that_mean_nothing_end() {
    let content = "BT /F 11 Tf 50 700 Td <0001000200030004> Tj ET ".repeat(50);
    let mut file = String::from_utf8(files::pages(&[content], &[])).unwrap();
    file = file.replace(
        "/Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding",
        "/Subtype /Type0 /BaseFont /X /Encoding /Nowhere /ToUnicode 3 0 R  ",
    );
    let _ = survive(file.as_bytes()).await;
}

#[tokio::test]
async fn a_huge_picture_is_too_large() {
    let mut png = files::png(8, 8, |_, _| false);
    png[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
    assert_eq!(reason(&png).await, RefusalReason::TooLarge);
    let picture = files::scan(4).replace("/Width 4 /Height 4", "/Width 900000 /Height 900000");
    let _ = survive(&files::pages(&[files::SHOW_SCAN.to_owned()], &[picture])).await;
    // A scan that is as large as a town.
    let mut page =
        String::from_utf8(files::pages(&[files::SHOW_SCAN.replace("595 0 0 842", "2000000 0 0 2000000")], &[files::scan(8)]))
            .unwrap();
    page = page.replace("[0 0 595 842]", "[0 0 2000000 2000000]");
    assert!(survive(page.as_bytes()).await.is_err());
}

#[tokio::test]
async fn pages_and_json_without_a_bottom_end() {
    assert_eq!(reason(format!("<html><body>{}text", "<div>".repeat(200_000)).as_bytes()).await, RefusalReason::Broken);
    assert_eq!(reason(format!("<html><body>{}", "<table><tr><td>a<nav>".repeat(20_000)).as_bytes()).await, RefusalReason::Broken);
    let attributes = (0..50_000).map(|index| format!(" a{index}=1")).collect::<Vec<_>>().concat();
    assert_eq!(reason(format!("<html><body><p{attributes}>some text</p></body></html>").as_bytes()).await, RefusalReason::Broken);
    // As deep as is let through.
    let found = survive(format!("<html><body>{}text", "<div>".repeat(1900)).as_bytes()).await.unwrap();
    assert_eq!(found.text, "text");
    assert_eq!(reason(format!("{{\"a\": {}", "[".repeat(1_000_000)).as_bytes()).await, RefusalReason::Broken);
}
