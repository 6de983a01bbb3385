//! XLSX: sheets in the order of the workbook, a row a line, cells separated by tabs; dates as dates.

use super::{Archive, XmlPiece, relations};
use crate::{
    model::{MarkKind, Refusal},
    plain::write_row,
    read::Found,
    text::Writing,
};

/// Empty cells that keep the ones behind them in their columns; more would be nothing but tabs.
const GAP_MAX: usize = 64;

pub(crate) fn read(archive: &mut Archive<'_>, main: &str) -> Result<Found, Refusal> {
    let mut found = Found { mime: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ..Found::default() };
    let targets = relations(archive, main)?;
    let of_kind = |kind: &str| targets.iter().find(|relation| relation.kind == kind).map(|relation| relation.target.clone());
    let strings = of_kind("sharedStrings").map_or(Ok(Vec::new()), |part| shared_strings(archive, &part))?;
    let dates = of_kind("styles").map_or(Ok(Vec::new()), |part| date_styles(archive, &part))?;
    let workbook = workbook(archive, main)?;
    let book = Book { strings, dates, is_1904: workbook.is_1904 };
    for (number, (name, id)) in (1..).zip(&workbook.sheets) {
        let Some(relation) = targets.iter().find(|relation| relation.id == *id) else { continue };
        found.writing.mark(MarkKind::Sheet, number, Some(name));
        sheet(archive, &relation.target, &book, &mut found.writing)?;
    }
    Ok(found)
}

struct Workbook {
    /// Names and the ids of their parts.
    sheets: Vec<(String, String)>,
    is_1904: bool,
}

fn workbook(archive: &mut Archive<'_>, main: &str) -> Result<Workbook, Refusal> {
    let Some(mut xml) = archive.xml(main)? else {
        return Err(Refusal::broken("The workbook is damaged: its list of sheets is missing."));
    };
    let mut found = Workbook { sheets: Vec::new(), is_1904: false };
    while let Some(piece) = xml.next()? {
        let XmlPiece::Open(element) = piece else { continue };
        match element.name.as_str() {
            "sheet" => {
                let name = element.attribute("name").unwrap_or_default().to_owned();
                found.sheets.push((name, element.prefixed(":id").unwrap_or_default().to_owned()));
            }
            "workbookPr" => found.is_1904 = matches!(element.attribute("date1904"), Some("1" | "true")),
            _ => {}
        }
    }
    Ok(found)
}

/// What cells refer to.
struct Book {
    strings: Vec<String>,
    /// By the number of a style: whether it shows a date.
    dates: Vec<bool>,
    is_1904: bool,
}

fn shared_strings(archive: &mut Archive<'_>, part: &str) -> Result<Vec<String>, Refusal> {
    let Some(mut xml) = archive.xml(part)? else { return Ok(Vec::new()) };
    let (mut found, mut text, mut is_text, mut is_phonetic) = (Vec::new(), String::new(), false, false);
    while let Some(piece) = xml.next()? {
        match piece {
            XmlPiece::Open(element) => match element.name.as_str() {
                "t" => is_text = true,
                "rPh" => is_phonetic = true,
                _ => {}
            },
            XmlPiece::Close(name) => match name.as_str() {
                "t" => is_text = false,
                "rPh" => is_phonetic = false,
                "si" => found.push(std::mem::take(&mut text)),
                _ => {}
            },
            XmlPiece::Text(part) if is_text && !is_phonetic => text.push_str(&part),
            XmlPiece::Text(_) => {}
        }
    }
    Ok(found)
}

fn date_styles(archive: &mut Archive<'_>, part: &str) -> Result<Vec<bool>, Refusal> {
    let Some(mut xml) = archive.xml(part)? else { return Ok(Vec::new()) };
    let (mut custom, mut found, mut is_cells) = (Vec::new(), Vec::new(), false);
    while let Some(piece) = xml.next()? {
        match piece {
            XmlPiece::Open(element) => match element.name.as_str() {
                "numFmt" => {
                    let code = element.attribute("formatCode").unwrap_or_default();
                    if is_date_format(code) {
                        custom.push(element.attribute("numFmtId").unwrap_or_default().to_owned());
                    }
                }
                "cellXfs" => is_cells = true,
                "xf" if is_cells => {
                    let id = element.attribute("numFmtId").unwrap_or_default();
                    found.push(
                        matches!(id.parse(), Ok(14..=22 | 27..=36 | 45..=47 | 50..=58_u32))
                            || custom.iter().any(|custom| custom == id),
                    );
                }
                _ => {}
            },
            XmlPiece::Close(name) if name == "cellXfs" => is_cells = false,
            _ => {}
        }
    }
    Ok(found)
}

/// Whether a format shows years, days or hours: outside of quotes and brackets, it has their letters.
fn is_date_format(code: &str) -> bool {
    let (mut is_quoted, mut is_bracketed) = (false, false);
    code.chars().any(|c| {
        match c {
            '"' => is_quoted = !is_quoted,
            '[' => is_bracketed = true,
            ']' => is_bracketed = false,
            _ => {}
        }
        !is_quoted && !is_bracketed && matches!(c, 'y' | 'Y' | 'd' | 'D' | 'h' | 'H')
    })
}

#[derive(Default)]
struct SheetCell {
    column: Option<usize>,
    kind: String,
    style: usize,
    value: String,
}

fn sheet(archive: &mut Archive<'_>, part: &str, book: &Book, writing: &mut Writing) -> Result<(), Refusal> {
    let Some(mut xml) = archive.xml(part)? else { return Ok(()) };
    let (mut row, mut cell, mut is_value, mut has_rows) = (Vec::<String>::new(), SheetCell::default(), false, false);
    while let Some(piece) = xml.next()? {
        match piece {
            XmlPiece::Open(element) => match element.name.as_str() {
                "row" => row.clear(),
                "c" => {
                    let number = |name: &str| element.attribute(name).and_then(|text| text.parse().ok());
                    cell = SheetCell {
                        column: element.attribute("r").and_then(column),
                        kind: element.attribute("t").unwrap_or_default().to_owned(),
                        style: number("s").unwrap_or(0),
                        value: String::new(),
                    };
                }
                "v" | "t" => is_value = true,
                _ => {}
            },
            XmlPiece::Close(name) => match name.as_str() {
                "v" | "t" => is_value = false,
                "c" => {
                    let text = book.show(&cell);
                    let gap = cell.column.unwrap_or(row.len()).saturating_sub(row.len()).min(GAP_MAX);
                    if !text.is_empty() {
                        row.extend(std::iter::repeat_n(String::new(), gap));
                        row.push(text);
                    }
                }
                "row" => write_row(writing, &row, &mut has_rows)?,
                _ => {}
            },
            XmlPiece::Text(text) if is_value => cell.value.push_str(&text),
            XmlPiece::Text(_) => {}
        }
    }
    Ok(())
}

/// `C7` is in column 2.
fn column(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_uppercase).take(4);
    letters.fold(0, |sum, letter| sum * 26 + usize::from(letter - b'A') + 1).checked_sub(1)
}

impl Book {
    fn show(&self, cell: &SheetCell) -> String {
        let value = cell.value.trim();
        match cell.kind.as_str() {
            "s" => value.parse().ok().and_then(|index: usize| self.strings.get(index)).cloned().unwrap_or_default(),
            "b" => if value == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            "str" | "inlineStr" | "e" | "d" => cell.value.clone(),
            _ if self.dates.get(cell.style) == Some(&true) => {
                value.parse().ok().and_then(|days| date(days, self.is_1904)).unwrap_or_else(|| value.to_owned())
            }
            _ => number(value),
        }
    }
}

/// Fifteen digits, which is what Excel has and shows; files hold the rest of the binary number too.
fn number(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(parsed) if parsed.is_finite() && value.len() > 15 => {
            format!("{parsed:.14e}").parse::<f64>().map_or_else(|_| value.to_owned(), |rounded| rounded.to_string())
        }
        _ => value.to_owned(),
    }
}

/// Days since the end of 1899, or since 1904, as a date; the rest of the day as its time.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn date(days: f64, is_1904: bool) -> Option<String> {
    if !(0.0..2_958_466.0).contains(&days) {
        return None;
    }
    let seconds = ((days.fract() * 86_400.0).round() as i64).min(86_399);
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if days < 1.0 {
        return Some(time);
    }
    // Excel believes that 1900 was a leap year, so its days before March 1900 are one off.
    let day = days.trunc() as i64 + if is_1904 { 1462 } else { i64::from(days < 60.0) };
    // Days since 0000-03-01, then the well-known way to a date of our calendar.
    let from_march = day - 25_569 + 719_468;
    let (era, day_of_era) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) = (day_of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(if seconds == 0 { date } else { format!("{date} {time}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_excel_shows_them() {
        assert_eq!(date(45_000.0, false).as_deref(), Some("2023-03-15"));
        assert_eq!(date(60.5, true).as_deref(), Some("1904-03-01 12:00:00"));
        assert_eq!(date(1.0, false).as_deref(), Some("1900-01-01"));
        assert_eq!(date(0.25, false).as_deref(), Some("06:00:00"));
        assert_eq!(date(1e300, false), None);
        assert_eq!(number("0.30000000000000004"), "0.3");
        assert_eq!(number("12345678901234567890"), "12345678901234600000");
        assert_eq!(number("007"), "007");
        assert_eq!((column("A1"), column("AB12"), column("12")), (Some(0), Some(27), None));
        assert!(is_date_format("dd.mm.yyyy") && !is_date_format("#,##0 \"days\"") && !is_date_format("[Red]0.00"));
    }
}
