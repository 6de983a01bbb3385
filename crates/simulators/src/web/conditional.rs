//! Conditional requests: whether what the client has is still the page. `If-None-Match` wins over
//! `If-Modified-Since`, as RFC 9110 has it.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

pub(super) fn is_fresh(page: &[(HeaderName, HeaderValue)], asked: &HeaderMap) -> bool {
    let of_page = |name: HeaderName| page.iter().find(|(known, _)| *known == name).and_then(|(_, value)| value.to_str().ok());
    let asked_for = |name: HeaderName| asked.get(name).and_then(|value| value.to_str().ok());
    if let Some(known) = asked_for(header::IF_NONE_MATCH) {
        // Weak comparison: W/ does not count.
        let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let tag = of_page(header::ETAG).map(strong);
        return tag.is_some_and(|tag| known.split(',').any(|known| known.trim() == "*" || strong(known) == tag));
    }
    let modified = of_page(header::LAST_MODIFIED).and_then(date);
    let since = asked_for(header::IF_MODIFIED_SINCE).and_then(date);
    matches!((modified, since), (Some(modified), Some(since)) if modified <= since)
}

/// `Sun, 06 Nov 1994 08:49:37 GMT` as something that can be compared.
fn date(text: &str) -> Option<(u32, usize, u32, &str)> {
    let (_, text) = text.split_once(", ")?;
    let mut words = text.split_ascii_whitespace();
    let day = words.next()?.parse().ok()?;
    let name = words.next()?;
    let month = MONTHS.into_iter().position(|known| known == name)?;
    let year = words.next()?.parse().ok()?;
    Some((year, month, day, words.next()?))
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_compared_as_dates() {
        let later = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:38 GMT", "Mon, 05 Dec 1994 01:00:00 GMT"];
        assert!(later.windows(2).all(|pair| date(pair[0]) < date(pair[1])));
        assert_eq!(date("yesterday"), None);
    }
}
