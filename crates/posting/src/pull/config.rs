//! What a source is told: read strictly, because a setting that is silently ignored is found out by the readers of a
//! channel. Every refusal says what to write instead and repeats no value, since a value may be a secret.

use std::ops::RangeInclusive;

use kernel::{Problem, SecretRef, redact};
use serde_json::{Map, Value, json};

use super::template::Template;

/// Whether these settings make a source of this kind; the error says what to correct.
pub fn validate(kind: &str, config: &Value) -> Result<(), Problem> {
    SourceConfig::parse(kind, config).map(drop)
}

#[derive(Clone, Debug)]
pub(super) struct SourceConfig {
    pub(super) every_seconds: u32,
    pub(super) first_run: FirstRun,
    pub(super) items_max: usize,
    pub(super) tags: Vec<String>,
    pub(super) template: Option<Template>,
    pub(super) with_media: bool,
    pub(super) origin: Origin,
}

/// What becomes of the items that are there when a source is read for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstRun {
    Latest(usize),
    All,
    Nothing,
}

#[derive(Clone, Debug)]
pub(super) enum Origin {
    Feed(SourcePage),
    Api(Box<Api>),
    Database(DatabaseSource),
}

#[derive(Clone, Debug)]
pub(super) struct SourcePage {
    pub(super) url: String,
    pub(super) headers: Vec<(String, HeaderText)>,
    pub(super) body_bytes_max: usize,
}

#[derive(Clone, Debug)]
pub(super) enum HeaderText {
    Plain(String),
    Secret(SecretRef),
}

#[derive(Clone, Debug)]
pub(super) struct Api {
    pub(super) page: SourcePage,
    /// JSON pointers: to the list, and inside each of its items.
    pub(super) items: String,
    pub(super) id: String,
    pub(super) text: Option<String>,
    pub(super) title: Option<String>,
    pub(super) link: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) published: Option<String>,
    pub(super) cursor: Option<ApiCursor>,
}

#[derive(Clone, Debug)]
pub(super) struct ApiCursor {
    /// The name of the query parameter that takes the cursor.
    pub(super) param: String,
    /// Where an answer says its next cursor.
    pub(super) next: String,
}

#[derive(Clone, Debug)]
pub(super) struct DatabaseSource {
    pub(super) url: SecretRef,
    pub(super) query: String,
}

const FEED_BYTES_DEFAULT: u64 = 10_000_000;
/// Less than for a feed: any JSON is read into memory whole, where it takes many times its length.
const ANSWER_BYTES_DEFAULT: u64 = 2_000_000;

impl SourceConfig {
    pub(super) fn parse(kind: &str, config: &Value) -> Result<Self, Problem> {
        let mut fields = Fields::new(config, "config")?;
        let every_seconds = fields.number("every_seconds", 10..=604_800, 300)?;
        let latest = fields.number("first_run_items", 1..=500, 1)?;
        let first_run = match fields.optional_text("first_run")?.as_deref() {
            None | Some("latest") => FirstRun::Latest(size(latest)),
            Some("all") => FirstRun::All,
            Some("none") => FirstRun::Nothing,
            Some(_) => return Err(fields.refuse("first_run", "is `latest`, `all` or `none`")),
        };
        let items_max = fields.number("items_max", 1..=500, 50)?;
        let tags = fields.tags()?;
        let template = match fields.optional_text("template")? {
            None => None,
            Some(text) => Some(Template::parse(&text).map_err(|why| fields.refuse("template", &why))?),
        };
        let with_media = fields.flag("media", true)?;
        let origin = match kind {
            "rss" => Origin::Feed(fields.page(FEED_BYTES_DEFAULT)?),
            "api" => Origin::Api(Box::new(Api::parse(&mut fields)?)),
            "db" => Origin::Database(DatabaseSource::parse(&mut fields)?),
            _ => return Err(Problem::validation("kind", "a source is of kind `rss`, `api` or `db`")),
        };
        fields.finish()?;
        Ok(Self {
            every_seconds: u32::try_from(every_seconds).unwrap_or(u32::MAX),
            first_run,
            items_max: size(items_max),
            tags,
            template,
            with_media,
            origin,
        })
    }

    /// What the cursor belongs to: it means nothing for another address or query.
    pub(super) fn place(&self) -> String {
        match &self.origin {
            Origin::Feed(page) => page.url.clone(),
            Origin::Api(api) => format!("{} {}", api.page.url, api.items),
            Origin::Database(database) => format!("{} {}", database.url, database.query),
        }
    }
}

impl Api {
    fn parse(fields: &mut Fields<'_>) -> Result<Self, Problem> {
        let api = Self {
            page: fields.page(ANSWER_BYTES_DEFAULT)?,
            items: fields.pointer("items")?.unwrap_or_default(),
            id: fields
                .pointer("id")?
                .ok_or_else(|| fields.refuse("id", "is needed: the pointer to what tells items apart, such as `/id`"))?,
            text: fields.pointer("text")?,
            title: fields.pointer("title")?,
            link: fields.pointer("link")?,
            summary: fields.pointer("summary")?,
            published: fields.pointer("published")?,
            cursor: match fields.take("cursor") {
                None | Some(Value::Null) => None,
                Some(value) => {
                    let mut inner = Fields::new(value, "cursor")?;
                    let param = inner.text("param", "is the name of the query parameter that takes the cursor")?;
                    let next = inner.pointer("next")?;
                    let next = next.ok_or_else(|| inner.refuse("next", "is the pointer to the next cursor in an answer"))?;
                    inner.finish()?;
                    Some(ApiCursor { param, next })
                }
            },
        };
        if api.text.is_none() && api.title.is_none() && api.summary.is_none() {
            return Err(fields.refuse("text", "or `title` or `summary` is needed, or a post would have no words"));
        }
        Ok(api)
    }
}

impl DatabaseSource {
    fn parse(fields: &mut Fields<'_>) -> Result<Self, Problem> {
        let expected = "is a reference to a secret, `env:NAME` or `file:PATH`: the address holds a password";
        let url = fields.text("database_url", expected)?;
        let url = SecretRef::parse(&url).map_err(|_| fields.refuse("database_url", expected))?;
        let query = fields.text("query", "is a select that returns id, text and ts, for rows after ($1, $2)")?;
        // The query becomes a part of a larger one.
        let query = query.trim().trim_end_matches(';').trim_end().to_owned();
        let starts = query.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        if !matches!(starts.as_str(), "select" | "with" | "table" | "values") {
            return Err(fields.refuse("query", "is one select"));
        }
        Ok(Self { url, query })
    }
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The fields of an object, of which every one has to be asked for.
struct Fields<'a> {
    all: &'a Map<String, Value>,
    asked: Vec<&'static str>,
    place: &'static str,
}

impl<'a> Fields<'a> {
    fn new(value: &'a Value, place: &'static str) -> Result<Self, Problem> {
        let all = value.as_object().ok_or_else(|| Problem::validation(place, format!("`{place}` is an object")))?;
        Ok(Self { all, asked: Vec::new(), place })
    }

    fn take(&mut self, name: &'static str) -> Option<&'a Value> {
        self.asked.push(name);
        self.all.get(name)
    }

    fn refuse(&self, name: &str, why: &str) -> Problem {
        Problem::validation(&format!("{}.{name}", self.place), format!("`{name}` {why}"))
    }

    fn optional_text(&mut self, name: &'static str) -> Result<Option<String>, Problem> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.len() <= 20_000 && !text.contains('\0') => Ok(Some(text.clone())),
            Some(_) => Err(self.refuse(name, "is a text of at most 20000 bytes")),
        }
    }

    fn text(&mut self, name: &'static str, expected: &str) -> Result<String, Problem> {
        match self.optional_text(name)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            _ => Err(self.refuse(name, expected)),
        }
    }

    fn number(&mut self, name: &'static str, range: RangeInclusive<u64>, default: u64) -> Result<u64, Problem> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value
                .as_u64()
                .filter(|number| range.contains(number))
                .ok_or_else(|| self.refuse(name, &format!("is a whole number from {} to {}", range.start(), range.end()))),
        }
    }

    fn flag(&mut self, name: &'static str, default: bool) -> Result<bool, Problem> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value.as_bool().ok_or_else(|| self.refuse(name, "is true or false")),
        }
    }

    fn pointer(&mut self, name: &'static str) -> Result<Option<String>, Problem> {
        match self.optional_text(name)? {
            Some(text) if !text.is_empty() && !text.starts_with('/') => {
                Err(self.refuse(name, "is a JSON pointer, such as `/data/items`, or empty for the whole answer"))
            }
            other => Ok(other),
        }
    }

    fn tags(&mut self) -> Result<Vec<String>, Problem> {
        let Some(value) = self.take("tags").filter(|value| !value.is_null()) else { return Ok(Vec::new()) };
        let tags: Option<Vec<String>> = value.as_array().filter(|tags| tags.len() <= 20).and_then(|tags| {
            tags.iter().map(|tag| tag.as_str().filter(|tag| tag.chars().count() <= 64).map(ToOwned::to_owned)).collect()
        });
        tags.ok_or_else(|| self.refuse("tags", "is a list of at most 20 texts of at most 64 characters"))
    }

    fn page(&mut self, bytes_default: u64) -> Result<SourcePage, Problem> {
        let url = self.text("url", "is the address to fetch, with http:// or https://")?;
        let parsed = url::Url::parse(&url).map_err(|error| self.refuse("url", &format!("is not an address: {error}")))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(self.refuse("url", "starts with http:// or https://"));
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(self.refuse("url", "carries no user name and no password: give them in `headers`, by reference"));
        }
        let headers = self.headers()?;
        let body_bytes_max = size(self.number("body_bytes_max", 1000..=64_000_000, bytes_default)?);
        Ok(SourcePage { url, headers, body_bytes_max })
    }

    fn headers(&mut self) -> Result<Vec<(String, HeaderText)>, Problem> {
        let Some(value) = self.take("headers").filter(|value| !value.is_null()) else { return Ok(Vec::new()) };
        let Some(object) = value.as_object().filter(|object| object.len() <= 20) else {
            return Err(self.refuse("headers", "is an object of at most 20 names and texts"));
        };
        let mut headers = Vec::new();
        for (name, value) in object {
            let text = value.as_str().ok_or_else(|| self.refuse("headers", "holds texts only"))?;
            let text = match SecretRef::parse(text) {
                Ok(reference) => HeaderText::Secret(reference),
                Err(_) if names_a_secret(name) => {
                    return Err(self.refuse("headers", &format!("gives `{name}` by reference, as `env:NAME` or `file:PATH`")));
                }
                Err(_) => HeaderText::Plain(text.to_owned()),
            };
            headers.push((name.clone(), text));
        }
        Ok(headers)
    }

    fn finish(self) -> Result<(), Problem> {
        match self.all.keys().find(|key| !self.asked.contains(&key.as_str())) {
            None => Ok(()),
            Some(stray) => {
                let stray = redact::snippet(stray, 50);
                Err(self.refuse(&stray, &format!("is not a setting here; the settings are {}", self.asked.join(", "))))
            }
        }
    }
}

/// Asks the one place that knows which names give a secret away.
fn names_a_secret(name: &str) -> bool {
    let mut probe = json!({ name: "x" });
    redact::redact_json(&mut probe);
    probe[name] != "x"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(kind: &str, config: impl Into<Value>) -> String {
        validate(kind, &config.into()).unwrap_err().message
    }

    #[test]
    fn the_least_that_each_kind_needs_is_enough() {
        validate("rss", &json!({"url": "https://example.org/feed.xml"})).unwrap();
        validate("api", &json!({"url": "https://example.org/v1", "items": "/data", "id": "/id", "text": "/text"})).unwrap();
        let query = "select id, text, ts from news where (ts, id) > ($1, $2::bigint) order by ts, id;";
        validate("db", &json!({"database_url": "env:PULL_NEWS", "query": query})).unwrap();
        let config = SourceConfig::parse("rss", &json!({"url": "https://example.org/feed.xml"})).unwrap();
        assert_eq!((config.every_seconds, config.first_run, config.items_max), (300, FirstRun::Latest(1), 50));
    }

    #[test]
    fn a_setting_that_nobody_reads_is_refused_with_the_list_of_those_that_exist() {
        let text = refusal("rss", json!({"url": "https://example.org/", "evry_seconds": 10}));
        assert!(text.contains("`evry_seconds` is not a setting") && text.contains("every_seconds"), "{text}");
        assert!(refusal("rss", json!({"url": "https://example.org/", "query": "select 1"})).contains("`query` is not a setting"));
        let api =
            json!({"url": "https://example.org/", "id": "/id", "text": "/t", "cursor": {"param": "c", "next": "/n", "x": 1}});
        assert!(refusal("api", api).contains("`x` is not a setting"));
    }

    #[test]
    fn every_wrong_value_is_refused_with_what_to_write_instead() {
        let with = |name: &str, value: Value| {
            let mut config = json!({"url": "https://example.org/", "id": "/id", "text": "/text"});
            config[name] = value;
            refusal("api", config)
        };
        assert!(with("every_seconds", json!(5)).contains("from 10 to"));
        assert!(with("every_seconds", json!("300")).contains("whole number"));
        assert!(with("first_run", json!("some")).contains("`latest`, `all` or `none`"));
        assert!(with("items_max", json!(0)).contains("from 1 to 500"));
        assert!(with("tags", json!("news")).contains("list"));
        assert!(with("template", json!("{titel}")).contains("{titel}"));
        assert!(with("media", json!("no")).contains("true or false"));
        assert!(with("url", json!("example.org")).contains("not an address"));
        assert!(with("url", json!("ftp://example.org")).contains("http://"));
        assert!(with("items", json!("data.items")).contains("JSON pointer"));
        assert!(with("id", Value::Null).contains("is needed"));
        assert!(with("cursor", json!({"param": "after"})).contains("pointer to the next cursor"));
        assert!(with("headers", json!(["x"])).contains("object"));
        assert!(refusal("ftp", json!({})).contains("`rss`, `api` or `db`"));
        assert!(refusal("rss", json!([])).contains("object"));
        assert!(refusal("db", json!({"database_url": "env:PULL_X", "query": "delete from news"})).contains("one select"));
    }

    #[test]
    fn a_secret_that_was_pasted_is_refused_and_not_repeated() {
        let url = "postgres://reader:hunter2@db.example.org/news";
        let texts = [
            refusal("db", json!({"database_url": url, "query": "select 1"})),
            refusal("rss", json!({"url": "https://reader:hunter2@example.org/feed"})),
            refusal("rss", json!({"url": "https://example.org/feed", "headers": {"Authorization": "Bearer hunter2"}})),
            refusal("rss", json!({"url": "https://example.org/feed", "headers": {"X-Api-Key": "hunter2"}})),
        ];
        for text in texts {
            assert!(!text.contains("hunter2"), "{text}");
        }
        validate(
            "rss",
            &json!({"url": "https://example.org/", "headers": {"authorization": "env:PULL_X", "accept": "text/xml"}}),
        )
        .unwrap();
    }
}
