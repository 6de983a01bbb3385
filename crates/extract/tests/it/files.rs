//! Files for the tests, made here so that nobody has to trust a binary in the repository.

use std::{
    fmt::Write as _,
    io::{Cursor, Write},
};

use flate2::{Compress, Compression, FlushCompress};
use zip::{ZipWriter, write::SimpleFileOptions};

pub(crate) fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored))
            .expect("a file for a test");
        zip.write_all(content.as_bytes()).expect("a file for a test");
    }
    zip.finish().expect("a file for a test").into_inner()
}

fn main_part(target: &str) -> String {
    format!(
        "<Relationships><Relationship Id='rId1' Type='http://x/relationships/officeDocument' Target='{target}'/></Relationships>"
    )
}

pub(crate) fn docx_with(document: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let relations = main_part("word/document.xml");
    let parts = [("_rels/.rels", relations.as_str()), ("word/document.xml", document)];
    archive(&[&parts, more].concat())
}

/// A document of Word with this between its body tags.
pub(crate) fn docx(body: &str) -> Vec<u8> {
    docx_with(&format!("<?xml version='1.0'?><w:document xmlns:w='w'><w:body>{body}</w:body></w:document>"), &[])
}

pub(crate) fn pptx(parts: &[(&str, &str)]) -> Vec<u8> {
    archive(&[&[("_rels/.rels", main_part("ppt/presentation.xml").as_str())], parts].concat())
}

pub(crate) fn xlsx(parts: &[(&str, &str)]) -> Vec<u8> {
    archive(&[&[("_rels/.rels", main_part("xl/workbook.xml").as_str())], parts].concat())
}

/// A workbook with one sheet of these rows.
pub(crate) fn sheet(rows: &str) -> Vec<u8> {
    xlsx(&[
        ("xl/workbook.xml", "<workbook><sheets><sheet name='Лист' sheetId='1' r:id='rId1'/></sheets></workbook>"),
        (
            "xl/_rels/workbook.xml.rels",
            "<Relationships><Relationship Id='rId1' Type='http://x/worksheet' Target='worksheets/s.xml'/></Relationships>",
        ),
        ("xl/worksheets/s.xml", &format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")),
    ])
}

/// A document of Word whose text is, unpacked, so many megabytes of spaces, whatever size it declares.
pub(crate) fn bomb(megabytes: usize, declared: Option<u32>) -> Vec<u8> {
    let name = "word/document.xml";
    let mut data = Vec::new();
    // Blocks that end on a byte can be repeated as they are, so that making the file takes no time.
    let mut deflate = Compress::new(Compression::best(), false);
    let mut compressed = |input: &[u8], out: &mut Vec<u8>| {
        let mut block = Vec::with_capacity(1 << 20);
        deflate.compress_vec(input, &mut block, FlushCompress::Full).expect("a file for a test");
        out.extend(block);
    };
    let head = b"<w:document><w:body><w:p><w:r><w:t>";
    compressed(head, &mut data);
    let declared = declared.unwrap_or_else(|| u32::try_from(head.len() + (megabytes << 20)).expect("a file for a test"));
    let mut block = Vec::new();
    compressed(&vec![b' '; 1 << 20], &mut block);
    data.extend(block.repeat(megabytes));
    data.extend([3, 0]);
    let mut file = archive(&[("_rels/.rels", &main_part(name))]);
    // Between the parts and the list of them.
    let list = file.windows(4).position(|window| window == b"PK\x01\x02").expect("a file for a test");
    let tail = file.split_off(list);
    let offset = u32::try_from(file.len()).expect("a file for a test");
    let size = u32::try_from(data.len()).expect("a file for a test");
    let fields = |out: &mut Vec<u8>| {
        out.extend([20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        out.extend(size.to_le_bytes());
        out.extend(declared.to_le_bytes());
        out.extend(u16::try_from(name.len()).expect("a file for a test").to_le_bytes());
        out.extend([0, 0]);
    };
    file.extend(b"PK\x03\x04");
    fields(&mut file);
    file.extend(name.as_bytes());
    file.extend(data);
    let list = u32::try_from(file.len()).expect("a file for a test");
    let end = tail.windows(4).position(|window| window == b"PK\x05\x06").expect("a file for a test");
    file.extend(&tail[..end]);
    file.extend(b"PK\x01\x02\x14\0");
    fields(&mut file);
    file.extend([0; 10]);
    file.extend(offset.to_le_bytes());
    file.extend(name.as_bytes());
    let list_size = u32::try_from(file.len()).expect("a file for a test") - list;
    file.extend(b"PK\x05\x06\0\0\0\0\x02\0\x02\0");
    file.extend(list_size.to_le_bytes());
    file.extend(list.to_le_bytes());
    file.extend([0, 0]);
    file
}

/// A PDF of these objects, numbered from 1; the first is its catalogue.
pub(crate) fn pdf(objects: &[String]) -> Vec<u8> {
    let mut file = "%PDF-1.7\n".to_owned();
    let mut offsets = Vec::new();
    for (number, object) in (1..).zip(objects) {
        offsets.push(file.len());
        write!(file, "{number} 0 obj\n{object}\nendobj\n").expect("a file for a test");
    }
    let start = file.len();
    write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).expect("a file for a test");
    for offset in offsets {
        writeln!(file, "{offset:010} 00000 n ").expect("a file for a test");
    }
    write!(file, "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1)
        .expect("a file for a test");
    file.into_bytes()
}

pub(crate) fn stream(dictionary: &str, content: &str) -> String {
    format!("<< {dictionary} /Length {} >>\nstream\n{content}\nendstream", content.len())
}

/// A PDF with a page for each of these contents, which may use the font `F` and the objects that come after, from `first` on, as `X`.
pub(crate) fn pages(contents: &[String], more: &[String]) -> Vec<u8> {
    let first_more = 4 + contents.len() * 2;
    let kids: Vec<String> = (0..contents.len()).map(|index| format!("{} 0 R", 4 + index * 2)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), contents.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (index, content) in contents.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {} 0 R /Resources << /Font << /F 3 0 R >> /XObject << /X {first_more} 0 R >> >> >>",
            5 + index * 2
        ));
        objects.push(stream("", content));
    }
    objects.extend_from_slice(more);
    pdf(&objects)
}

/// Lines of text at a place of a page.
pub(crate) fn lines(x: u32, y: u32, lines: &[&str]) -> String {
    let shown: Vec<String> = lines.iter().map(|line| format!("({line}) Tj 0 -14 Td")).collect();
    format!("BT /F 11 Tf {x} {y} Td {} ET\n", shown.join(" "))
}

/// A grey picture that covers a page, as scanners make them.
pub(crate) fn scan(side: usize) -> String {
    let hex = "7f".repeat(side * side);
    stream(
        &format!(
            "/Type /XObject /Subtype /Image /Width {side} /Height {side} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /ASCIIHexDecode"
        ),
        &format!("{hex}>"),
    )
}

pub(crate) const SHOW_SCAN: &str = "q 595 0 0 842 0 0 cm /X Do Q";

/// A grey PNG of so many pixels, white but for what is told to be black.
pub(crate) fn png(width: u32, height: u32, is_black: impl Fn(u32, u32) -> bool) -> Vec<u8> {
    let mut rows = Vec::new();
    for y in 0..height {
        rows.push(0);
        rows.extend((0..width).map(|x| if is_black(x, y) { 0 } else { 255 }));
    }
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&rows).expect("a file for a test");
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    let chunk = |kind: &[u8], data: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(kind);
        crc.update(data);
        [&u32::try_from(data.len()).expect("a file for a test").to_be_bytes(), kind, data, &crc.sum().to_be_bytes()].concat()
    };
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk(b"IHDR", &header),
        chunk(b"IDAT", &packed.finish().expect("a file for a test")),
        chunk(b"IEND", &[]),
    ]
    .concat()
}
