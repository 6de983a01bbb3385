//! What a module brings to the console: a page of its own, which the console shows without knowing the module.

use std::fmt::Write;

use futures::future::BoxFuture;

use crate::http::{Ctx, Failure};

/// A page with an entry in the menu. The console mounts it for people who are signed in, puts it into its layout, and fetches it
/// anew after a message on one of its topics.
#[derive(Clone, Copy, Debug)]
pub struct ConsolePage {
    /// Its address after `/console/`.
    pub path: &'static str,
    pub title: &'static str,
    /// A sentence under the title.
    pub lead: &'static str,
    /// Topics of the bus; each stands for itself and everything under it (`chat` is also `chat:1`).
    pub topics: &'static [&'static str],
    pub render: RenderPage,
}

/// Makes the HTML of a page from the signed-in context and the query of its address. It escapes what it did not write itself, with
/// [`escape`] or by using [`table`].
pub type RenderPage = for<'a> fn(&'a Ctx, &'a str) -> BoxFuture<'a, Result<String, Failure>>;

/// A text as HTML prints it, inside an element or an attribute in quotes.
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

/// A panel with a table of texts, which are escaped. `caption` says what it lists, for those who cannot see it.
pub fn table<const N: usize>(caption: &str, columns: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let caption = escape(caption);
    let mut html = format!(r#"<section class="panel"><table class="table"><caption class="sr">{caption}</caption><thead><tr>"#);
    for column in columns {
        let _ = write!(html, r#"<th scope="col">{}</th>"#, escape(column));
    }
    html.push_str("</tr></thead><tbody>");
    for row in rows {
        html.push_str("<tr>");
        for cell in row {
            let _ = write!(html, "<td>{}</td>", escape(&cell));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></section>");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_table_shows_is_printed_as_text() {
        let html = table("<i>", ["a & b"], [["<script>alert('1')</script>".to_owned()], ["\"".to_owned()]]);
        assert!(html.contains("<td>&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;</td>"), "{html}");
        assert!(!html.contains("<script>") && !html.contains("<i>") && html.contains("a &amp; b") && html.contains("&quot;"));
    }
}
