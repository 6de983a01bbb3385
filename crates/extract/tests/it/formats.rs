//! What is read of each format.

use extract::{MarkKind, RefusalReason};

use crate::{at_marks, files, read, read_named};

#[tokio::test]
async fn docx_keeps_the_order_of_tables_boxes_and_text() {
    let body = "<w:p><w:r><w:t>Первый </w:t></w:r><w:r><w:t xml:space='preserve'>абзац &amp; ещё</w:t><w:tab/><w:t>конец</w:t></w:r></w:p>\
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p><w:p><w:r><w:t>c</w:t></w:r></w:p></w:tc></w:tr>\
        <w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>\
        <w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>В рамке</w:t></w:r></w:p></w:txbxContent></mc:Choice>\
        <mc:Fallback><w:txbxContent><w:p><w:r><w:t>В рамке</w:t></w:r></w:p></w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>\
        <w:p><w:del><w:r><w:delText>удалено</w:delText><w:t>удалено</w:t></w:r></w:del><w:r><w:t>Последний</w:t></w:r></w:p>";
    let found = read(&files::docx(body)).await.unwrap();
    assert_eq!(found.text, "Первый абзац & ещё\tконец\n\na\tb c\n1\n\nВ рамке\n\nПоследний");
    assert!(found.mime.ends_with("wordprocessingml.document"));
}

#[tokio::test]
async fn docx_says_who_wrote_it_and_where_pages_begin() {
    let core = "<cp:coreProperties><dc:title>Договор</dc:title><dc:creator>Иванов</dc:creator><dcterms:created>2024-01-02T00:00:00Z</dcterms:created></cp:coreProperties>";
    let body = "<w:document><w:body><w:p><w:r><w:t>Один</w:t><w:br w:type='page'/></w:r></w:p><w:p><w:r><w:lastRenderedPageBreak/><w:t>Два</w:t>\
        <w:lastRenderedPageBreak/><w:t>Три</w:t></w:r></w:p></w:body></w:document>";
    let found = read(&files::docx_with(body, &[("docProps/core.xml", core)])).await.unwrap();
    assert_eq!(
        (found.title.as_deref(), found.author.as_deref(), found.date.as_deref()),
        (Some("Договор"), Some("Иванов"), Some("2024-01-02T00:00:00Z"))
    );
    assert_eq!(at_marks(&found), [(1, None, "Один".to_owned()), (2, None, "Два".to_owned()), (3, None, "Три".to_owned())]);
}

#[tokio::test]
async fn slides_come_in_the_order_of_the_presentation_with_their_notes() {
    let slide = |title: &str, text: &str| {
        format!(
            "<p:sld><p:sp><p:nvPr><p:ph type='title'/></p:nvPr><a:p><a:r><a:t>{title}</a:t></a:r></a:p></p:sp>\
            <p:sp><p:nvPr><p:ph type='sldNum'/></p:nvPr><a:p><a:fld><a:t>7</a:t></a:fld></a:p></p:sp>\
            <p:sp><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sp></p:sld>"
        )
    };
    let found = read(&files::pptx(&[
        ("ppt/presentation.xml", "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='rId2'/><p:sldId id='257' r:id='rId1'/></p:sldIdLst></p:presentation>"),
        (
            "ppt/_rels/presentation.xml.rels",
            "<Relationships><Relationship Id='rId1' Type='x/slide' Target='slides/slide1.xml'/><Relationship Id='rId2' Type='x/slide' Target='slides/slide2.xml'/></Relationships>",
        ),
        ("ppt/slides/slide1.xml", &slide("Итоги", "рост")),
        ("ppt/slides/slide2.xml", &slide("План", "чай")),
        ("ppt/slides/_rels/slide1.xml.rels", "<Relationships><Relationship Id='r' Type='x/notesSlide' Target='../notesSlides/n1.xml'/></Relationships>"),
        ("ppt/notesSlides/n1.xml", "<p:notes><p:sp><a:p><a:r><a:t>сказать о сроках</a:t></a:r></a:p></p:sp></p:notes>"),
    ]))
    .await
    .unwrap();
    assert_eq!(found.text, "План\n\nчай\n\nИтоги\n\nрост\n\nсказать о сроках");
    assert_eq!(at_marks(&found), [(1, Some("План"), "План".to_owned()), (2, Some("Итоги"), "Итоги".to_owned())]);
    assert!(found.marks.iter().all(|mark| mark.kind == MarkKind::Slide));
}

#[tokio::test]
async fn sheets_have_names_rows_and_dates() {
    let found = read(&files::xlsx(&[
        ("xl/workbook.xml", "<workbook><sheets><sheet name='Цены' r:id='rId1'/><sheet name='Сроки' r:id='rId2'/></sheets></workbook>"),
        (
            "xl/_rels/workbook.xml.rels",
            "<Relationships><Relationship Id='rId1' Type='x/worksheet' Target='/xl/worksheets/a.xml'/><Relationship Id='rId2' Type='x/worksheet' Target='worksheets/b.xml'/>\
             <Relationship Id='rId3' Type='x/sharedStrings' Target='sharedStrings.xml'/><Relationship Id='rId4' Type='x/styles' Target='styles.xml'/></Relationships>",
        ),
        ("xl/sharedStrings.xml", "<sst><si><t>чай</t></si><si><r><t>ко</t></r><r><t>фе</t></r></si></sst>"),
        ("xl/styles.xml", "<styleSheet><numFmts><numFmt numFmtId='165' formatCode='dd.mm.yyyy'/></numFmts><cellXfs><xf numFmtId='0'/><xf numFmtId='165'/></cellXfs></styleSheet>"),
        ("xl/worksheets/a.xml", "<worksheet><sheetData><row><c r='A1' t='s'><v>0</v></c><c r='C1'><v>10.5</v></c></row><row><c r='A2' t='s'><v>1</v></c><c r='B2' t='b'><v>1</v></c></row></sheetData></worksheet>"),
        ("xl/worksheets/b.xml", "<worksheet><sheetData><row><c r='A1' t='inlineStr'><is><t>до</t></is></c><c r='B1' s='1'><v>45000</v></c></row></sheetData></worksheet>"),
    ]))
    .await
    .unwrap();
    assert_eq!(found.text, "чай\t\t10.5\nкофе\tTRUE\n\nдо\t2023-03-15");
    assert_eq!(at_marks(&found), [(1, Some("Цены"), "чай\t\t10.5".to_owned()), (2, Some("Сроки"), "до\t2023-03-15".to_owned())]);
}

#[tokio::test]
async fn odt_keeps_text_tables_pages_and_its_author() {
    let odt = |content: &str, manifest: &str| {
        files::archive(&[
            ("mimetype", "application/vnd.oasis.opendocument.text"),
            ("content.xml", content),
            ("META-INF/manifest.xml", manifest),
            (
                "meta.xml",
                "<office:meta><dc:title>Отчёт</dc:title><meta:initial-creator>Петров</meta:initial-creator><dc:creator>Другой</dc:creator></office:meta>",
            ),
        ])
    };
    let content = "<office:document-content><text:tracked-changes><text:p>удалено</text:p></text:tracked-changes><text:h>Заголовок</text:h>\
        <text:p>Раз<text:s text:c='2'/>два<text:line-break/>три</text:p><table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>\
        <table:table-cell><text:p>b</text:p></table:table-cell><table:table-cell table:number-columns-repeated='16000'/></table:table-row></table:table>\
        <text:p><text:soft-page-break/>Вторая</text:p></office:document-content>";
    let found = read(&odt(content, "")).await.unwrap();
    assert_eq!(found.text, "Заголовок\n\nРаз два\nтри\n\na\tb\n\nВторая");
    assert_eq!((found.title.as_deref(), found.author.as_deref()), (Some("Отчёт"), Some("Петров")));
    assert_eq!(at_marks(&found)[1], (2, None, "Вторая".to_owned()));
    let refusal = read(&odt(content, "<manifest:encryption-data/>")).await.unwrap_err();
    assert_eq!(refusal.reason, RefusalReason::Encrypted);
}

#[tokio::test]
async fn pdf_is_read_column_by_column_with_marks_for_its_pages() {
    let left = [
        "The left column begins here and goes on",
        "with a word that is divi-",
        "ded at the end of its line, and then it",
        "ends in the middle of the page.",
    ];
    let right = [
        "The right column comes second, and it",
        "has as many lines as the left one, so",
        "that both of them stand side by side",
        "on the first page of this document.",
    ];
    let first = files::lines(50, 700, &left) + &files::lines(320, 700, &right);
    let second = files::lines(50, 700, &["The second page has a single line of text."]);
    let found = read(&files::pages(&[first, second], &[])).await.unwrap();
    let words: Vec<&str> = found.text.split_whitespace().collect();
    let text = words.join(" ");
    assert!(
        text.contains("a word that is divided at the end") && text.contains("middle of the page. The right column"),
        "{text}"
    );
    assert_eq!(found.marks.len(), 2);
    assert_eq!(at_marks(&found)[1], (2, None, "The second page has a single line of text.".to_owned()));
}

#[tokio::test]
async fn a_wrong_name_and_a_wrong_type_change_nothing() {
    let docx = files::docx("<w:p><w:r><w:t>Текст</w:t></w:r></w:p>");
    assert_eq!(read_named(&docx, "photo.jpg").await.unwrap().text, "Текст");
    let found = read_named(b"just some words, one after another", "report.pdf").await.unwrap();
    assert_eq!((found.text.as_str(), found.mime.as_str()), ("just some words, one after another", "text/plain"));
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_by_its_reason() {
    let ole: Vec<u8> = [
        &b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"[..],
        &[0; 600],
        &"EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
    ]
    .concat();
    for (bytes, reason) in [
        (&b""[..], RefusalReason::Empty),
        (&ole, RefusalReason::Encrypted),
        (b"OggS\0\x02\0\0\0\0", RefusalReason::Audio),
        (b"\x7fELF\x02\x01\x01\0", RefusalReason::Foreign),
        (b"PK\x03\x04 cut off", RefusalReason::Broken),
        (b"%PDF-1.7\ncut off", RefusalReason::Broken),
        (&files::archive(&[("photos/1.txt", "x")]), RefusalReason::Foreign),
        (&files::docx("<w:p/>"), RefusalReason::Empty),
        (&files::docx("<w:p><w:r><w:t>cut off"), RefusalReason::Broken),
    ] {
        let refusal = read(bytes).await.unwrap_err();
        assert_eq!(refusal.reason, reason, "{refusal} {:?}", &bytes[..bytes.len().min(20)]);
        assert!(refusal.message.ends_with('.') && refusal.message.starts_with(char::is_uppercase), "{refusal}");
    }
}
