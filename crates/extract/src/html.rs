//! The main text of a page, by a port of Mozilla's Readability; of a page that is no article, everything that a reader would see.

use dom_query::{Document, NodeData, NodeId, NodeRef};
use dom_smoothie::{Config, Readability};

use crate::{model::Refusal, read::Found, text::Writing};

/// A page of more elements is a list, not an article, and Readability would look at it for minutes.
const ELEMENTS_MAX: usize = 100_000;
/// Deeper trees are made to hurt: Readability climbs from every paragraph.
const DEPTH_MAX: usize = 512;
/// Less than this is a notice beside what the page is about, unless it is most of the page.
const ARTICLE_CHARS_MIN: usize = 250;

/// Parsers of HTML climb up from every tag, and compare every attribute of a tag with every other: these keep that short. Browsers show 512.
const OPEN_TAGS_MAX: usize = 2000;
const TAG_WORDS_MAX: usize = 2000;

pub(crate) fn read(html: &str, url: Option<&str>) -> Result<Found, Refusal> {
    check_tags(html)?;
    let doc = Document::from(html);
    let mut found = Found { mime: "text/html", title: title(&doc), language: declared_language(&doc), ..Found::default() };
    let whole = visible(&doc.root());
    let is_hostile = whole.elements > ELEMENTS_MAX || whole.depth > DEPTH_MAX;
    if is_hostile || whole.is_document() {
        write(&mut found.writing, &whole.text)?;
        return Ok(found);
    }
    let config = Config { max_elements_to_parse: ELEMENTS_MAX, ..Config::default() };
    let url = url.filter(|url| url.starts_with("http://") || url.starts_with("https://"));
    let article = Readability::with_document(doc, url, Some(config)).and_then(|mut readability| readability.parse());
    match article {
        Ok(article) => {
            let main = visible(&Document::from(article.content).root());
            let is_enough = main.chars >= ARTICLE_CHARS_MIN || main.chars * 2 >= whole.chars;
            write(&mut found.writing, if is_enough { &main.text } else { &whole.text })?;
            found.title = Some(article.title).filter(|title| !title.trim().is_empty()).or(found.title);
            found.author = article.byline;
            found.date = article.published_time.or(article.modified_time);
            found.language = article.lang.or(found.language);
        }
        Err(_) => write(&mut found.writing, &whole.text)?,
    }
    Ok(found)
}

/// Refuses, in one pass over the source, what would take a parser hours. Tags whose end may be left out do not count as open.
fn check_tags(html: &str) -> Result<(), Refusal> {
    let (mut open, mut rest) = (0_usize, html);
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let (is_end, tag) = rest.strip_prefix('/').map_or((false, rest), |tag| (true, tag));
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).take(16).collect::<String>().to_ascii_lowercase();
        if name.is_empty() {
            continue;
        }
        rest = skip_tag(tag)?;
        match name.as_str() {
            "script" | "style" | "textarea" | "title" if !is_end => rest = skip_raw(rest, &name),
            name if is_often_unclosed(name) => {}
            _ if is_end => open = open.saturating_sub(1),
            _ => open += 1,
        }
        if open > OPEN_TAGS_MAX {
            return Err(Refusal::broken("The page is nested deeper than any browser shows it."));
        }
    }
    Ok(())
}

/// What follows a tag.
fn skip_tag(tag: &str) -> Result<&str, Refusal> {
    let (mut quote, mut words, mut before) = (None, 0_usize, ' ');
    for (at, c) in tag.char_indices() {
        match quote {
            Some(open) => quote = Some(open).filter(|open| *open != c),
            None if c == '>' => return Ok(&tag[at + 1..]),
            // Elsewhere a quote is a part of a name.
            None if matches!(c, '"' | '\'') && before == '=' => quote = Some(c),
            None => words += usize::from(c.is_whitespace() || c == '/'),
        }
        if words > TAG_WORDS_MAX {
            return Err(Refusal::broken("A tag of the page has more attributes than any page needs."));
        }
        before = if c.is_whitespace() { before } else { c };
    }
    Ok("")
}

/// What follows the text of an element that knows no tags but its own end.
fn skip_raw<'a>(rest: &'a str, name: &str) -> &'a str {
    let ends = rest
        .match_indices("</")
        .find(|(at, _)| rest[at + 2..].get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)));
    ends.map_or("", |(at, _)| &rest[at..])
}

fn is_often_unclosed(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
            | "p"
            | "li"
            | "dt"
            | "dd"
            | "option"
            | "html"
            | "body"
            | "head"
    )
}

/// What a reader sees below a node.
#[derive(Default)]
struct Visible {
    text: String,
    chars: usize,
    elements: usize,
    depth: usize,
    /// In links.
    linked_chars: usize,
    /// Elements that only pages of sites have.
    furniture: usize,
}

impl Visible {
    /// A document that was saved as HTML rather than a page of a site: nothing stands around its text, so nothing has to be left out.
    fn is_document(&self) -> bool {
        self.furniture == 0 && self.linked_chars * 10 < self.chars
    }
}

/// A step of the walk, which is a list and not a recursion, because pages nest as deep as they like.
enum TreeStep {
    Enter(NodeId, usize),
    Leave(NodeId),
}

fn visible(root: &NodeRef<'_>) -> Visible {
    let mut seen = Visible::default();
    let mut steps = vec![TreeStep::Enter(root.id, 0)];
    let (mut links, mut preformatted) = (0_usize, 0_usize);
    while let Some(step) = steps.pop() {
        let (id, entered) = match step {
            TreeStep::Enter(id, depth) => (id, Some(depth)),
            TreeStep::Leave(id) => (id, None),
        };
        let Some(node) = root.tree.get(&id) else { continue };
        let Some(depth) = entered else {
            let name = node.node_name().unwrap_or_default();
            links -= usize::from(&*name == "a");
            preformatted -= usize::from(&*name == "pre");
            if is_block(&name) {
                paragraph(&mut seen.text);
            } else if is_row(&name) {
                seen.text.push('\n');
            }
            continue;
        };
        seen.depth = seen.depth.max(depth);
        let text = node.query_or(None, |node| match &node.data {
            NodeData::Text { contents } => Some(contents.to_string()),
            _ => None,
        });
        if let Some(text) = text {
            let chars = text.chars().filter(|c| !c.is_whitespace()).count();
            seen.chars += chars;
            seen.linked_chars += if links > 0 { chars } else { 0 };
            push_text(&mut seen.text, &text, preformatted > 0);
            continue;
        }
        if let Some(name) = node.node_name() {
            seen.elements += 1;
            seen.furniture += usize::from(is_furniture(&name));
            if is_unseen(&name, &node) {
                continue;
            }
            match &*name {
                "br" => seen.text.push('\n'),
                "td" | "th" if !seen.text.ends_with('\n') && !seen.text.is_empty() => seen.text.push('\t'),
                name if is_block(name) => paragraph(&mut seen.text),
                name if is_row(name) && !seen.text.ends_with('\n') => seen.text.push('\n'),
                _ => {}
            }
            links += usize::from(&*name == "a");
            preformatted += usize::from(&*name == "pre");
            steps.push(TreeStep::Leave(id));
        }
        let children: Vec<NodeId> = root.tree.child_ids_of(&id);
        steps.extend(children.into_iter().rev().map(|child| TreeStep::Enter(child, depth + 1)));
    }
    seen
}

fn paragraph(text: &mut String) {
    let end = text.trim_end_matches([' ', '\t']).len();
    text.truncate(end);
    if !text.is_empty() && !text.ends_with("\n\n") {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
}

/// Spaces and lines of the source mean one space, as browsers show it.
fn push_text(out: &mut String, text: &str, is_preformatted: bool) {
    if is_preformatted {
        out.push_str(text);
        return;
    }
    let is_space = |c: char| matches!(c, ' ' | '\n' | '\r' | '\t' | '\u{c}');
    for (index, word) in text.split(is_space).enumerate() {
        if index > 0 && !out.is_empty() && !out.ends_with([' ', '\n', '\t']) {
            out.push(' ');
        }
        out.push_str(word);
    }
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "main"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "ul"
    )
}

fn is_row(name: &str) -> bool {
    matches!(name, "li" | "tr" | "option")
}

fn is_furniture(name: &str) -> bool {
    matches!(name, "nav" | "aside" | "footer" | "form" | "script" | "iframe" | "button" | "input")
}

fn is_unseen(name: &str, node: &NodeRef<'_>) -> bool {
    matches!(
        name,
        "head"
            | "script"
            | "style"
            | "noscript"
            | "template"
            | "svg"
            | "math"
            | "object"
            | "iframe"
            | "select"
            | "textarea"
            | "canvas"
            | "audio"
            | "video"
    ) || node.has_attr("hidden")
        || node.attr("style").is_some_and(|style| style.replace(' ', "").to_ascii_lowercase().contains("display:none"))
}

fn title(doc: &Document) -> Option<String> {
    let text = |css: &str| Some(doc.select(css).first().text().trim().to_owned()).filter(|title| !title.is_empty());
    text("head title").or_else(|| text("title")).or_else(|| text("h1"))
}

fn declared_language(doc: &Document) -> Option<String> {
    doc.select("html").first().attr("lang").map(|lang| lang.to_string())
}

fn write(writing: &mut Writing, text: &str) -> Result<(), Refusal> {
    writing.paragraph(&text.replace('\u{c}', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(html: &str) -> String {
        read(html, None).unwrap().writing.end().0
    }

    #[test]
    fn a_document_saved_as_html_keeps_all_of_its_text() {
        let html = "<html><head><title>Чай</title><style>p{}</style></head><body><h1>Чай</h1><p>Первый\n абзац.<p>Второй<br>абзац.</p>\
                    <table><tr><td>a</td><td>1</td></tr><tr><td>b</td><td>2</td></tr></table><ul><li>x<li>y</ul><p hidden>нет</p></body></html>";
        assert_eq!(text(html), "Чай\n\nПервый абзац.\n\nВторой\nабзац.\n\na\t1\nb\t2\n\nx\ny");
    }

    #[test]
    fn a_page_of_a_site_loses_what_stands_around_its_article() {
        let paragraph = format!("<p>{}</p>", "Слова статьи, которые читают люди, и запятые между ними. ".repeat(10));
        let html = format!(
            "<html><body><nav><a href=/>Главная</a> <a href=/x>Разделы</a></nav><article><h1>Статья</h1>{}</article>\
             <aside><a href=/y>Реклама рядом</a></aside><footer>Контакты</footer><script>var x</script></body></html>",
            paragraph.repeat(5)
        );
        let text = text(&html);
        assert!(
            text.contains("Слова статьи") && !text.contains("Реклама") && !text.contains("Контакты") && !text.contains("var x"),
            "{text}"
        );
        assert_eq!(text.split("\n\n").filter(|part| part.starts_with("Слова")).count(), 5);
    }

    #[test]
    fn a_page_that_is_no_article_gives_what_a_reader_sees() {
        let html = "<html><body><nav><a href=/>Главная</a></nav><form><p>Часы работы: 10–19</p></form><script>var x</script></body></html>";
        let text = text(html);
        assert!(text.contains("Часы работы: 10–19") && !text.contains("var x"), "{text}");
    }
}
