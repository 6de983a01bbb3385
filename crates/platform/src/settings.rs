//! Settings: declared once by the crate that uses them, read from flags, environment and `beresta.toml` in that order.
//!
//! A value that cannot be used is refused with the name of the place it came from and what would be right.

use std::{collections::BTreeMap, time::Duration};

/// One setting: its key in `beresta.toml`, its variable, its default, and what it does. An empty default means "not set".
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub key: &'static str,
    pub env: &'static str,
    pub default: &'static str,
    pub help: &'static str,
}

pub const fn setting(key: &'static str, env: &'static str, default: &'static str, help: &'static str) -> Setting {
    Setting { key, env, default, help }
}

/// Which value cannot be used, where it came from, and what would be right.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SettingError(pub String);

/// The value of every setting, with the place it came from.
#[derive(Clone, Debug, Default)]
pub struct Values(BTreeMap<&'static str, (String, String)>);

impl Values {
    pub fn set(&mut self, key: &'static str, value: String, place: String) {
        self.0.insert(key, (value, place));
    }

    /// Empty for what is not set; a key that was not declared is a mistake of ours.
    pub fn text(&self, key: &str) -> &str {
        &self.0[key].0
    }

    /// Where the value came from: a flag, a variable, a line of the file, or `the default`.
    pub fn place(&self, key: &str) -> &str {
        &self.0[key].1
    }

    pub fn optional(&self, key: &str) -> Option<String> {
        Some(self.text(key).to_owned()).filter(|value| !value.is_empty())
    }

    pub fn parsed<T>(&self, key: &str, expected: &str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, SettingError> {
        let (value, place) = &self.0[key];
        let refused = || SettingError(format!("{place}: `{}` is not {expected}", kernel::redact::snippet(value, 100)));
        parse(value).ok_or_else(refused)
    }

    pub fn number(&self, key: &str, min: u64, max: u64) -> Result<u64, SettingError> {
        let expected = format!("a whole number from {min} to {max}");
        self.parsed(key, &expected, |value| value.parse().ok().filter(|number| (min..=max).contains(number)))
    }

    pub fn count(&self, key: &str, min: u64, max: u64) -> Result<usize, SettingError> {
        self.number(key, min, max).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    pub fn seconds(&self, key: &str) -> Result<Duration, SettingError> {
        Ok(Duration::from_secs(self.number(key, 1, 3600)?))
    }

    /// A time in units of so many seconds; parts of a unit are fine. At least a millisecond, at most a year.
    pub fn span(&self, key: &str, unit_seconds: f64) -> Result<Duration, SettingError> {
        let parse = |value: &str| {
            let seconds = value.parse::<f64>().ok()? * unit_seconds;
            (0.001..=365.0 * 86400.0).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
        };
        self.parsed(key, "a number above 0, such as 2 or 0.5", parse)
    }

    pub fn url(&self, key: &str) -> Result<String, SettingError> {
        let parse = |value: &str| {
            let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"))?;
            (!rest.is_empty() && !rest.contains(['@', ' '])).then(|| value.trim_end_matches('/').to_owned())
        };
        self.parsed(key, "an address such as https://example.org", parse)
    }

    pub fn optional_url(&self, key: &str) -> Result<Option<String>, SettingError> {
        self.optional(key).map(|_| self.url(key)).transpose()
    }

    /// Whose pages may call: those of this machine and of the public address always, others as they are listed.
    pub fn origins(&self, key: &str) -> Result<Vec<String>, SettingError> {
        let listed = |value: &str| list(value).iter().map(|url| origin(url)).collect::<Option<Vec<_>>>();
        let mut origins = crate::http::loopback_origins();
        origins.extend(self.parsed(key, "a list of origins such as https://app.example.org", listed)?);
        origins.extend(self.optional_url("public_url")?.and_then(|url| origin(&url)));
        Ok(origins)
    }
}

/// The parts of a list that are separated by commas.
pub fn list(value: &str) -> Vec<String> {
    value.split(',').map(str::trim).filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect()
}

/// `scheme://host:port` of an address, with the port written out: an origin without one would match any.
fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let port = match scheme {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    let authority =
        rest.split('/').next().filter(|authority| !authority.is_empty() && !authority.contains(['@', ' ', '?', '#']))?;
    let has_port = authority.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && !port.ends_with(']'));
    Some(if has_port { format!("{scheme}://{authority}") } else { format!("{scheme}://{authority}:{port}") })
}
