//! Links inside markup: which are kept, and the `tg://` ones that mean something else than a link.

use super::entity::{Entity, Kind};

/// The entity of a link over that range; `None` when the URL is no good, and then the text stays plain.
pub(super) fn entity(url: &str, offset: usize, length: usize) -> Option<Entity> {
    if let Some(user_id) = mentioned_user(url) {
        return Some(Entity::mention(user_id, offset, length));
    }
    checked(url).map(|url| Entity { url: Some(url), ..Entity::new(Kind::TextLink, offset, length) })
}

/// The entity of a MarkdownV2 `![…](…)`.
pub(super) fn emoji_or_time(url: &str, offset: usize, length: usize) -> Option<Entity> {
    let query = tg_query(url, "emoji");
    if let Some(id) = query.and_then(|query| parameter(query, "id")).filter(|id| is_emoji_id(id)) {
        return Some(Entity { custom_emoji_id: Some(id.to_owned()), ..Entity::new(Kind::CustomEmoji, offset, length) });
    }
    let query = tg_query(url, "time")?;
    let unix_time = parameter(query, "unix")?.parse().ok()?;
    let date_time_format = parameter(query, "format").map(ToOwned::to_owned);
    Some(Entity { unix_time: Some(unix_time), date_time_format, ..Entity::new(Kind::DateTime, offset, length) })
}

pub(super) fn is_emoji_id(id: &str) -> bool {
    !id.starts_with(['0', '+', '-']) && id.parse::<i64>().is_ok_and(|id| id > 0)
}

fn mentioned_user(url: &str) -> Option<i64> {
    parameter(tg_query(url, "user")?, "id")?.parse().ok().filter(|id| *id > 0)
}

/// The query of `tg://<host>?…` or `tg:<host>?…`, in any case, without the fragment.
fn tg_query<'a>(url: &'a str, host: &str) -> Option<&'a str> {
    let rest = strip_prefix_ignoring_case(url, "tg:")?;
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let rest = strip_prefix_ignoring_case(rest, host)?;
    let rest = rest.split('#').next().unwrap_or_default();
    rest.strip_prefix('/').unwrap_or(rest).strip_prefix('?')
}

fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// A usable URL in the form the server gives it back: scheme added, host in small letters, at least `/` as path.
pub(super) fn checked(url: &str) -> Option<String> {
    let url = url.trim_start_matches([' ', '\t', '\n', '\r']);
    if strip_prefix_ignoring_case(url, "tg:").is_some() || strip_prefix_ignoring_case(url, "ton:").is_some() {
        return Some(url.to_owned());
    }
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => ("http", rest),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => ("https", rest),
        Some(_) if !url.split_once("://")?.0.contains(['/', '?', '#', '.']) => return None,
        _ => ("http", url),
    };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(authority_end);
    let host = authority.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let host_ok = host.contains('.')
        && host.split('.').all(|label| !label.is_empty())
        && !host.contains(|letter: char| letter.is_whitespace() || letter.is_control() || "<>\"'(){}[]\\".contains(letter));
    if !host_ok || authority.contains(char::is_whitespace) || tail.contains([' ', '\n', '\t']) {
        return None;
    }
    let slash = if tail.starts_with('/') { "" } else { "/" };
    Some(format!("{scheme}://{}{slash}{tail}", authority.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::{checked, emoji_or_time, entity};

    #[test]
    fn a_url_is_completed_and_a_bad_one_is_dropped() {
        for (url, expected) in [
            ("telegram.org", Some("http://telegram.org/")),
            ("HTTPS://Telegram.org?x=1#Y", Some("https://telegram.org/?x=1#Y")),
            ("https://example.com/a b", None),
            ("https://example.com/Path", Some("https://example.com/Path")),
            ("tg://resolve?domain=x", Some("tg://resolve?domain=x")),
            ("nodots", None),
            ("ftp://example.com", None),
            ("", None),
        ] {
            assert_eq!(checked(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn tg_links_become_mentions_emoji_and_times() {
        assert_eq!(entity("tg:user?id=12", 0, 1).and_then(|link| link.user).map(|user| user.id), Some(12));
        let emoji = emoji_or_time("TG://EMoJI/?test=1&id=25#id=32", 0, 1);
        assert_eq!(emoji.and_then(|emoji| emoji.custom_emoji_id).as_deref(), Some("25"));
        assert_eq!(emoji_or_time("tg://emoji?id=025", 0, 1), None);
        assert_eq!(emoji_or_time("tg://time?unix=7&format=d", 0, 1).and_then(|time| time.unix_time), Some(7));
    }
}
