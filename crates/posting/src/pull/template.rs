//! From the parts of an item to the text of a post.

use super::item::Item;

const PLACEHOLDERS: &[&str] = &["title", "summary", "text", "link"];
const DEFAULT: &str = "{title}\n\n{summary}\n\n{link}";

#[derive(Clone, Debug)]
pub(super) struct Template {
    /// Paragraphs, each a list of what stands in it.
    paragraphs: Vec<Vec<Piece>>,
}

#[derive(Clone, Debug)]
enum Piece {
    Words(String),
    Part(&'static str),
}

impl Template {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let paragraphs = text.split("\n\n").map(pieces).collect::<Result<Vec<_>, _>>()?;
        let has_part = paragraphs.iter().flatten().any(|piece| matches!(piece, Piece::Part(_)));
        if has_part { Ok(Self { paragraphs }) } else { Err("holds at least one of {title}, {summary}, {text}, {link}".into()) }
    }

    /// A paragraph whose parts are all empty is left out, with the words around them.
    fn render(&self, item: &Item) -> String {
        let paragraphs = self.paragraphs.iter().filter_map(|pieces| {
            let parts =
                || pieces.iter().filter_map(|piece| if let Piece::Part(name) = piece { Some(part(item, name)) } else { None });
            if parts().next().is_some() && parts().all(str::is_empty) {
                return None;
            }
            let words = pieces.iter().map(|piece| match piece {
                Piece::Words(words) => words.as_str(),
                Piece::Part(name) => part(item, name),
            });
            Some(words.collect::<String>())
        });
        paragraphs.collect::<Vec<_>>().join("\n\n")
    }
}

/// The text of a post: by the template that was given, else the item's own text, else its title, summary and link.
pub(super) fn post_text(template: Option<&Template>, item: &Item) -> String {
    match (template, &item.text) {
        (Some(template), _) => template.render(item),
        (None, Some(text)) => text.clone(),
        (None, None) => Template::parse(DEFAULT).map(|template| template.render(item)).unwrap_or_default(),
    }
}

fn part<'a>(item: &'a Item, name: &str) -> &'a str {
    let part = match name {
        "title" => &item.title,
        "summary" => &item.summary,
        "text" => &item.text,
        _ => &item.link,
    };
    part.as_deref().unwrap_or_default()
}

fn pieces(paragraph: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = paragraph;
    while let Some(start) = rest.find('{') {
        let Some(length) = rest[start..].find('}') else { break };
        let name = &rest[start + 1..start + length];
        let Some(known) = PLACEHOLDERS.iter().find(|known| **known == name) else {
            let shown: String = name.chars().take(30).collect();
            return Err(format!("knows {{title}}, {{summary}}, {{text}} and {{link}}, not {{{shown}}}"));
        };
        pieces.push(Piece::Words(rest[..start].to_owned()));
        pieces.push(Piece::Part(known));
        rest = &rest[start + length + 1..];
    }
    pieces.push(Piece::Words(rest.to_owned()));
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(title: &str, summary: &str, link: &str) -> Item {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Item { title: some(title), summary: some(summary), link: some(link), ..Item::new("key") }
    }

    #[test]
    fn empty_parts_leave_no_holes() {
        assert_eq!(post_text(None, &item("T", "S", "L")), "T\n\nS\n\nL");
        assert_eq!(post_text(None, &item("T", "", "L")), "T\n\nL");
        assert_eq!(post_text(None, &item("", "", "L")), "L");
        assert_eq!(post_text(None, &item("", "", "")), "");
    }

    #[test]
    fn a_template_places_the_parts_and_a_placeholder_inside_a_part_stays_what_it_is() {
        let template = Template::parse("News: {title}\n\nRead {link}\n\n-- ours").unwrap();
        assert_eq!(post_text(Some(&template), &item("{link}", "S", "")), "News: {link}\n\n-- ours");
    }

    #[test]
    fn the_text_of_an_item_is_the_post_unless_a_template_says_otherwise() {
        let item = Item { text: Some("whole".into()), ..item("T", "", "") };
        assert_eq!(post_text(None, &item), "whole");
        assert_eq!(post_text(Some(&Template::parse("{title}: {text}").unwrap()), &item), "T: whole");
    }

    #[test]
    fn a_template_without_a_part_or_with_an_unknown_one_is_refused() {
        assert!(Template::parse("hello").unwrap_err().contains("at least one"));
        assert!(Template::parse("{titel}").unwrap_err().contains("{titel}"));
        Template::parse("a } b { c {title}").unwrap_err();
        Template::parse("{title} { open").unwrap();
    }
}
