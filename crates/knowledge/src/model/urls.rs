//! The normal form of an address (WF30). Two addresses of one page that differ only in what is listed here are one row of `content.urls`:
//!
//! - scheme and host are lower case, a name in another script is in its ASCII form, a dot at the end of the host goes;
//! - an address without a scheme is one of https; only http and https are addresses; a user name or password is refused;
//! - the default port, the fragment, an empty query and the parameters that only follow people around go;
//! - dot segments are resolved, an empty path is `/`, a percent code has upper-case digits, and one that stands for a letter, a
//!   digit, `-`, `.`, `_` or `~` is that character. The order of the other parameters stays: it may matter.

use std::fmt::Write;

use url::Url;

pub const BYTES_MAX: usize = 2048;

/// Parameters that tell who shared a link, not which page it is.
const TRACKING: [&str; 24] = [
    "fbclid",
    "gclid",
    "dclid",
    "gbraid",
    "wbraid",
    "yclid",
    "ysclid",
    "msclkid",
    "ttclid",
    "twclid",
    "igshid",
    "igsh",
    "mc_cid",
    "mc_eid",
    "_ga",
    "_gl",
    "_openstat",
    "ref_src",
    "ref_url",
    "vero_id",
    "wickedid",
    "oly_anon_id",
    "oly_enc_id",
    "mkt_tok",
];
const TRACKING_PREFIXES: [&str; 3] = ["utm_", "pk_", "mtm_"];
/// `si` follows people around on these, and means something elsewhere.
const SHARE_ID_HOSTS: [&str; 4] = ["youtu.be", "youtube.com", "www.youtube.com", "open.spotify.com"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAUrl(pub &'static str);

impl std::fmt::Display for NotAUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

pub fn normalize(text: &str) -> Result<String, NotAUrl> {
    let text = text.trim();
    if text.len() > 2 * BYTES_MAX {
        return Err(NotAUrl("the address is longer than 2048 bytes"));
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(NotAUrl("an address has no spaces and no control characters inside"));
    }
    let mut url = Url::parse(&with_scheme(text)).map_err(|_| NotAUrl("this is not an address"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(NotAUrl("only http and https addresses can be fetched"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(NotAUrl("an address with a user name or a password is not kept"));
    }
    let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_owned();
    if host.is_empty() {
        return Err(NotAUrl("the address has no host"));
    }
    url.set_host(Some(&host)).map_err(|_| NotAUrl("the host of the address cannot be"))?;
    url.set_fragment(None);
    let path = percent_normal(url.path());
    url.set_path(&path);
    let kept: Vec<String> = url
        .query()
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty() && !is_tracking(pair.split('=').next().unwrap_or_default(), &host))
        .map(percent_normal)
        .collect();
    url.set_query((!kept.is_empty()).then(|| kept.join("&")).as_deref());
    let normal = String::from(url);
    if normal.len() > BYTES_MAX { Err(NotAUrl("the address is longer than 2048 bytes")) } else { Ok(normal) }
}

/// `example.org/x` and `example.org:8080` are addresses as people write them; `mailto:x` is not.
fn with_scheme(text: &str) -> String {
    let scheme = text.split_once(':');
    let has_scheme = scheme.is_some_and(|(scheme, rest)| {
        let is_word = !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        let is_port = rest.chars().next().is_some_and(|c| c.is_ascii_digit()) && scheme.contains('.');
        is_word && !is_port
    });
    if has_scheme { text.to_owned() } else { format!("https://{}", text.trim_start_matches('/')) }
}

fn is_tracking(name: &str, host: &str) -> bool {
    let name = name.to_ascii_lowercase();
    TRACKING.contains(&name.as_str())
        || TRACKING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || (name == "si" && SHARE_ID_HOSTS.contains(&host))
}

fn percent_normal(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut normal = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let code =
            code.and_then(|digits| std::str::from_utf8(digits).ok()).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') => {
                normal.push(char::from(byte));
                at += 3;
            }
            Some(byte) => {
                // Writing to a string cannot fail.
                let _ = write!(normal, "%{byte:02X}");
                at += 3;
            }
            None => {
                // `Url` has left nothing but ASCII.
                normal.push(char::from(bytes[at]));
                at += 1;
            }
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[(&str, &str)] = &[
        ("HTTP://Example.ORG", "http://example.org/"),
        ("https://example.org:443/a", "https://example.org/a"),
        ("http://example.org:80", "http://example.org/"),
        ("https://example.org:8443/a", "https://example.org:8443/a"),
        ("https://example.org./a", "https://example.org/a"),
        ("https://пример.рф/путь", "https://xn--e1afmkfd.xn--p1ai/%D0%BF%D1%83%D1%82%D1%8C"),
        ("https://example.org/a/./b/../c", "https://example.org/a/c"),
        ("https://example.org/a#part", "https://example.org/a"),
        ("https://example.org/a?", "https://example.org/a"),
        ("https://example.org/a?&&", "https://example.org/a"),
        ("https://example.org/?utm_source=x&id=5&UTM_medium=y", "https://example.org/?id=5"),
        ("https://example.org/?fbclid=1&yclid=2&_openstat=3", "https://example.org/"),
        ("https://example.org/?b=2&a=1", "https://example.org/?b=2&a=1"),
        ("https://youtu.be/abc?si=xyz", "https://youtu.be/abc"),
        ("https://example.org/?si=xyz", "https://example.org/?si=xyz"),
        ("https://example.org/%7euser/%d0%b0%2fb", "https://example.org/~user/%D0%B0%2Fb"),
        ("example.org/x", "https://example.org/x"),
        ("www.example.org", "https://www.example.org/"),
        ("example.org:8080/x", "https://example.org:8080/x"),
        ("  https://example.org/  ", "https://example.org/"),
    ];

    #[test]
    fn an_address_has_one_normal_form() {
        for (given, normal) in TABLE {
            assert_eq!(normalize(given).as_deref(), Ok(*normal), "{given}");
        }
    }

    #[test]
    fn the_normal_form_of_a_normal_form_is_itself() {
        for (_, normal) in TABLE {
            assert_eq!(normalize(normal).as_deref(), Ok(*normal));
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_words() {
        for given in [
            "",
            "mailto:a@example.org",
            "javascript:alert(1)",
            "https://user:pw@example.org/",
            "https://a b/",
            "http://",
            "ftp://x/",
        ] {
            assert!(normalize(given).is_err(), "{given}");
        }
        assert!(normalize(&format!("https://example.org/{}", "a".repeat(3000))).is_err());
    }
}
