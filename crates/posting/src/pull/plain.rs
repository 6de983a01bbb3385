//! From HTML, as feeds carry it, to the plain text that a post is made of.
//!
//! Not a parser of documents: it takes tags away, keeps what a reader would see, and never fails. Linear in its input.

/// Elements whose inside nobody reads.
const UNSEEN: &[&str] = &["script", "style", "head", "template", "noscript", "iframe", "svg"];
/// Elements that start a new line, and those that are set off by an empty one.
const LINES: &str = " div li tr pre section article header footer figure figcaption hr dt dd ";
const PARAGRAPHS: &str = " p h1 h2 h3 h4 h5 h6 blockquote ul ol table ";

/// What a reader sees of this HTML, in plain text.
pub(super) fn from_html(html: &str) -> String {
    let mut out = String::with_capacity(html.len().min(1 << 16));
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&']) {
        push_words(&mut out, &rest[..at]);
        rest = &rest[at..];
        rest = if rest.starts_with('<') { tag(&mut out, rest) } else { entity(&mut out, rest) };
    }
    push_words(&mut out, rest);
    tidy(&out)
}

/// Text whose character references are characters, and nothing else changed.
pub(super) fn decode_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = entity(&mut out, &rest[at..]);
    }
    out.push_str(rest);
    out
}

/// Text as it is, with its white space made orderly.
pub(super) fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut empty_lines = 0;
    for line in text.lines() {
        let mut words = line.split_whitespace().peekable();
        if words.peek().is_none() {
            empty_lines += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if empty_lines > 0 { "\n\n" } else { "\n" });
        }
        empty_lines = 0;
        let mut is_first = true;
        for word in words {
            if !is_first {
                out.push(' ');
            }
            // PostgreSQL stores no NUL, and one in a feed must not stop the feed.
            out.extend(word.chars().filter(|c| *c != '\0'));
            is_first = false;
        }
    }
    out
}

/// At most this many characters, cut between words where there is one near, with `…` for what is missing.
pub(super) fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    let word_end = kept.rfind(char::is_whitespace).filter(|at| kept.len() - at < 120 && *at > 0);
    let kept = word_end.map_or(kept.as_str(), |at| &kept[..at]);
    format!("{}…", kept.trim_end_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation()))
}

/// White space of the source means one space; only tags make lines.
fn push_words(out: &mut String, text: &str) {
    for c in text.chars() {
        if c.is_whitespace() {
            if !out.ends_with([' ', '\n']) {
                out.push(' ');
            }
        } else {
            out.push(c);
        }
    }
}

/// Takes one tag off the front and gives what follows. A `<` that starts no tag is a character.
fn tag<'a>(out: &mut String, rest: &'a str) -> &'a str {
    if let Some(comment) = rest.strip_prefix("<!--") {
        return comment.find("-->").map_or("", |end| &comment[end + 3..]);
    }
    if let Some(words) = rest.strip_prefix("<![CDATA[") {
        return words;
    }
    let inside = &rest[1..];
    let name_at = usize::from(inside.starts_with(['/', '!', '?']));
    if !inside[name_at..].starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.push('<');
        return inside;
    }
    let name: String =
        inside[name_at..].chars().take_while(char::is_ascii_alphanumeric).take(20).collect::<String>().to_ascii_lowercase();
    let Some(end) = tag_end(inside) else { return "" };
    let after = &inside[end + 1..];
    let is_in = |names: &str| names.split(' ').any(|known| known == name);
    match name.as_str() {
        "br" => out.push('\n'),
        _ if is_in(PARAGRAPHS) => break_line(out, "\n\n"),
        _ if is_in(LINES) => break_line(out, "\n"),
        _ => {}
    }
    if inside.starts_with('/') {
        return after;
    }
    if name == "li" {
        out.push_str("• ");
    }
    match UNSEEN.iter().find(|unseen| **unseen == name) {
        Some(unseen) if !inside[..end].ends_with('/') => skip_to_end(after, unseen),
        _ => after,
    }
}

/// Ends the line, or the paragraph, unless that has happened already.
fn break_line(out: &mut String, end: &str) {
    out.truncate(out.trim_end_matches(' ').len());
    while !out.is_empty() && !out.ends_with(end) {
        out.push('\n');
    }
}

/// Where a tag ends; a `>` inside quotes does not end it.
fn tag_end(tag: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in tag.char_indices() {
        match (quote, c) {
            (None, '>') => return Some(at),
            (None, '"' | '\'') if tag[..at].ends_with('=') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    // A quote that never closes: better to lose one tag than the rest of the text.
    tag.find('>')
}

fn skip_to_end<'a>(rest: &'a str, name: &str) -> &'a str {
    let mut from = 0;
    while let Some(at) = rest[from..].find("</") {
        let end = from + at + 2;
        if rest.get(end..end + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return rest[end..].find('>').map_or("", |close| &rest[end + close + 1..]);
        }
        from = end;
    }
    ""
}

/// Takes one character reference off the front. What is none stays as it is.
fn entity<'a>(out: &mut String, rest: &'a str) -> &'a str {
    const NAME_BYTES_MAX: usize = 12;
    let name_end = rest.bytes().take(NAME_BYTES_MAX).position(|byte| byte == b';');
    let decoded = name_end.and_then(|end| Some((decode(rest.get(1..end)?)?, end + 1)));
    if let Some((text, length)) = decoded {
        out.push_str(&text);
        &rest[length..]
    } else {
        out.push('&');
        &rest[1..]
    }
}

fn decode(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|c| *c != '\0').map(String::from);
    }
    let text = match name {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        "nbsp" | "ensp" | "emsp" | "thinsp" => " ",
        "shy" | "zwnj" | "zwj" => "",
        "mdash" => "—",
        "ndash" => "–",
        "hellip" => "…",
        "laquo" => "«",
        "raquo" => "»",
        "ldquo" => "“",
        "rdquo" => "”",
        "lsquo" => "‘",
        "rsquo" => "’",
        "bdquo" => "„",
        "bull" => "•",
        "middot" => "·",
        "copy" => "©",
        "reg" => "®",
        "trade" => "™",
        "euro" => "€",
        "pound" => "£",
        "deg" => "°",
        "sect" => "§",
        "para" => "¶",
        "plusmn" => "±",
        "times" => "×",
        "frac12" => "½",
        "rarr" => "→",
        "larr" => "←",
        "numero" => "№",
        _ => return None,
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_the_words_and_the_paragraphs() {
        let html = "<p>Первый&nbsp;абзац,\n  с <b>жирным</b>.</p><p>Второй<br/>строка</p><ul><li>раз</li><li>два</li></ul>";
        assert_eq!(from_html(html), "Первый абзац, с жирным.\n\nВторой\nстрока\n\n• раз\n• два");
    }

    #[test]
    fn what_nobody_reads_is_left_out() {
        let html = "a<script>if (1 < 2) alert('</p>')</script>b<style>p{}</style>c<!-- d > e -->f<img alt='a > b' src=x>g";
        assert_eq!(from_html(html), "abcfg");
    }

    #[test]
    fn what_is_no_tag_and_no_entity_stays() {
        assert_eq!(from_html("1 < 2 && 3 > 2 &unknown; &#x41;&#66;&amp;lt; AT&T &"), "1 < 2 && 3 > 2 &unknown; AB&lt; AT&T &");
        assert_eq!(from_html("&#0;&#xd800;&#x110000;x"), "&#0;&#xd800;&#x110000;x");
    }

    #[test]
    fn broken_html_never_fails() {
        for html in ["<", "</", "<a", "<a href=\"x", "<script>x", "<!--", "&", "&#", "&#x", "<p", "<a href=\"x>y</a> tail", "<й>"]
        {
            from_html(html);
        }
        assert_eq!(from_html("<a title=\"never closed>kept"), "kept");
    }

    #[test]
    fn a_cut_text_ends_between_characters_and_between_words() {
        assert_eq!(cut("привет", 6), "привет");
        assert_eq!(cut("привет мир и все остальные", 12), "привет мир…");
        assert_eq!(cut("приветмириостальные", 5), "прив…");
        assert_eq!(cut("👩‍👩‍👧 семья", 3).chars().count(), 3);
    }

    #[test]
    fn many_open_tags_take_linear_time() {
        let html = "<a x='".repeat(200_000);
        let started = std::time::Instant::now();
        from_html(&html);
        from_html(&"<script></".repeat(200_000));
        from_html(&"<!--".repeat(200_000));
        from_html(&"&".repeat(2_000_000));
        assert!(started.elapsed().as_secs() < 20);
    }
}
