//! PDF: text in the order of reading, page by page; a page that is a picture goes to OCR.

use std::ops::ControlFlow;

use unpdf::{
    Block, Error, Page, PageStreamOptions, ParseEvent, ParseOptions, PdfParser, Table,
    parser::raster::{PageRegion, RasterOptions},
};

use crate::{
    hyphens::Hyphens,
    model::{MarkKind, Refusal, RefusalReason},
    ocr,
    plain::write_row,
    read::Found,
};

const PAGES_MAX: u32 = 5000;
/// A page takes seconds.
const OCR_PAGES_MAX: usize = 100;
/// A page with fewer letters that shows a picture is a scan with a page number or a stamp.
const LETTERS_MIN: usize = 40;
const PICTURE_SHARE_MIN: f32 = 0.3;
/// What scanners use and OCR is made for.
const OCR_DPI: f32 = 300.0;
const OCR_DPI_MIN: f32 = 40.0;
/// Pixels of a painted page, which takes four bytes for each and as many again on its way.
const PAINT_PIXELS_MAX: f32 = 20_000_000.0;
/// Steps of painting: what a page of a scanner takes a hundred times over.
const PAINT_WORK_MAX: u64 = 4_000_000_000;

pub(crate) fn read(bytes: &[u8]) -> Result<Found, Refusal> {
    let parser =
        PdfParser::from_bytes_with_options(bytes, ParseOptions::new().lenient().sequential()).map_err(|err| refusal(&err))?;
    if parser.page_count() > PAGES_MAX {
        return Err(Refusal::too_large(format!("The document has {} pages; at most {PAGES_MAX} are read.", parser.page_count())));
    }
    let mut found = Found { mime: "application/pdf", ..Found::default() };
    let (mut pages, mut failed) = (Vec::new(), 0);
    let options = PageStreamOptions {
        parallel: false,
        extract_resources: false,
        ..PageStreamOptions::from(&ParseOptions::new().lenient())
    };
    let read = parser.for_each_page(options, |event| {
        match event {
            ParseEvent::DocumentStart { metadata, .. } => {
                (found.title, found.author) = (metadata.title, metadata.author);
                found.date = metadata.created.or(metadata.modified).map(|date| date.to_rfc3339());
            }
            ParseEvent::PageParsed(page) => pages.push(PdfPage::of(&page)),
            ParseEvent::PageFailed { .. } => failed += 1,
            _ => {}
        }
        ControlFlow::Continue(())
    });
    read.map_err(|err| refusal(&err))?;
    if pages.is_empty() {
        let words = if failed > 0 { "None of the pages of the PDF can be read." } else { "The PDF has no pages." };
        return Err(Refusal::broken(words));
    }
    make_words_whole(&mut pages);
    recognise(&parser, &mut pages)?;
    for page in &pages {
        found.writing.mark(MarkKind::Page, page.number, None);
        for part in &page.parts {
            match part {
                PagePart::Paragraph(text) => found.writing.paragraph(text)?,
                PagePart::Rows(rows) => {
                    let mut has_rows = false;
                    for row in rows {
                        write_row(&mut found.writing, row, &mut has_rows)?;
                    }
                }
            }
        }
    }
    Ok(found)
}

fn refusal(err: &Error) -> Refusal {
    match err {
        Error::Encrypted | Error::InvalidPassword => {
            Refusal::new(RefusalReason::Encrypted, "The PDF is protected by a password.")
        }
        _ => Refusal::broken("The PDF is damaged and cannot be opened."),
    }
}

enum PagePart {
    Paragraph(String),
    Rows(Vec<Vec<String>>),
}

struct PdfPage {
    number: u32,
    size: (f32, f32),
    parts: Vec<PagePart>,
    needs_ocr: bool,
}

impl PdfPage {
    fn of(page: &Page) -> Self {
        let mut parts = Vec::new();
        for block in &page.elements {
            match block {
                Block::Paragraph(paragraph) => {
                    let text = paragraph.plain_text();
                    parts.push(PagePart::Paragraph(text.split_whitespace().collect::<Vec<_>>().join(" ")));
                }
                Block::Table(table) => parts.push(PagePart::Rows(rows(table))),
                _ => {}
            }
        }
        let letters = parts.iter().map(PagePart::letters).sum::<usize>();
        let is_picture = page.image_coverage >= PICTURE_SHARE_MIN || page.ocr_text_suppressed;
        // Text whose fonts nobody can decode is a picture of text too.
        let is_unreadable = page.suppressed_text_runs > 0 || page.undecoded_text_codes > 0;
        let needs_ocr = letters < LETTERS_MIN && (is_picture || is_unreadable);
        Self { number: page.number, size: (page.width, page.height), parts, needs_ocr }
    }
}

impl PagePart {
    fn letters(&self) -> usize {
        let count = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
        match self {
            Self::Paragraph(text) => count(text),
            Self::Rows(rows) => rows.iter().flatten().map(|cell| count(cell)).sum(),
        }
    }
}

/// Makes words whole that were divided at the ends of lines.
fn make_words_whole(pages: &mut [PdfPage]) {
    let mut texts: Vec<&mut String> = Vec::new();
    for part in pages.iter_mut().flat_map(|page| &mut page.parts) {
        if let PagePart::Paragraph(text) = part {
            texts.push(text);
        }
    }
    let hyphens = Hyphens::of(texts.iter().map(|text| text.as_str()));
    for text in texts {
        *text = hyphens.whole(text);
    }
}

fn rows(table: &Table) -> Vec<Vec<String>> {
    table.rows.iter().map(|row| row.cells.iter().map(|cell| cell.plain_text().replace(['\n', '\t'], " ")).collect()).collect()
}

/// Has the pages that are pictures read. Without OCR a document goes on if its pictures are few, a cover say, and waits if it is a scan.
fn recognise(parser: &PdfParser, pages: &mut [PdfPage]) -> Result<(), Refusal> {
    let all = pages.len();
    let scanned = pages.iter().filter(|page| page.needs_ocr).count();
    if scanned > OCR_PAGES_MAX {
        return Err(Refusal::too_large(format!(
            "{scanned} pages of the PDF are scans; at most {OCR_PAGES_MAX} are read: send it in parts."
        )));
    }
    for page in pages.iter_mut().filter(|page| page.needs_ocr) {
        let Some(image) = paint(parser, page)? else { continue };
        match ocr::recognise(&image, "png") {
            Ok(text) if text.chars().filter(|c| c.is_alphanumeric()).count() > page.parts.iter().map(PagePart::letters).sum() => {
                page.parts = text.split("\n\n").map(|paragraph| PagePart::Paragraph(paragraph.replace('\u{c}', " "))).collect();
            }
            Err(refusal) if refusal.reason == RefusalReason::NoOcr && scanned * 5 <= all => return Ok(()),
            Err(refusal) if refusal.reason != RefusalReason::Broken => return Err(refusal),
            _ => {}
        }
    }
    Ok(())
}

/// The page as a picture, or nothing if it cannot be painted.
fn paint(parser: &PdfParser, page: &PdfPage) -> Result<Option<Vec<u8>>, Refusal> {
    let square_inches = (page.size.0 / 72.0) * (page.size.1 / 72.0);
    let dpi = (PAINT_PIXELS_MAX / square_inches.max(0.01)).sqrt().min(OCR_DPI);
    if !dpi.is_finite() || dpi < OCR_DPI_MIN {
        return Err(Refusal::too_large("A scanned page of the PDF is larger than a wall, and is not read."));
    }
    let mut work = 0_u64;
    let painted = parser.render_page_with(page.number, &RasterOptions { dpi, region: PageRegion::Crop }, &mut |step| {
        work = work.saturating_add(step);
        if work > PAINT_WORK_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match painted {
        Ok(painted) => Ok(Some(painted.to_png())),
        Err(Error::RasterStopped) => {
            Err(Refusal::too_much_work("A page of the PDF takes more work to paint than a document may have."))
        }
        Err(_) => Ok(None),
    }
}
