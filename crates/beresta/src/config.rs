//! Configuration: flags over environment over `beresta.toml`, every setting declared once in the table below.
//!
//! A value that cannot be used is refused with the name of the place it came from and what would be right.

use std::{
    collections::BTreeMap,
    fmt::Write,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use kernel::{Secret, SecretRef};
use platform::{http::Limits, objects};

/// One setting: its key in `beresta.toml`, its variable, its default, and what it does.
pub(crate) struct Setting {
    pub(crate) key: &'static str,
    pub(crate) env: &'static str,
    pub(crate) default: &'static str,
    pub(crate) help: &'static str,
}

const fn setting(key: &'static str, env: &'static str, default: &'static str, help: &'static str) -> Setting {
    Setting { key, env, default, help }
}

/// Every setting there is. An empty default means "not set".
pub(crate) const SETTINGS: &[Setting] = &[
    setting("listen", "BERESTA_LISTEN", "127.0.0.1:7400", "address of the HTTP server; port 0 takes a free one"),
    setting("data_dir", "BERESTA_DATA_DIR", "./beresta-data", "where the embedded PostgreSQL and stored files live"),
    setting("database_url", "DATABASE_URL", "", "an existing PostgreSQL to use instead of the embedded one"),
    setting("roles", "BERESTA_ROLES", "api,dispatcher,runner,monitor", "what this process does"),
    setting("database_connections_max", "BERESTA_DATABASE_CONNECTIONS_MAX", "20", "size of the connection pool"),
    setting("statement_timeout_seconds", "BERESTA_STATEMENT_TIMEOUT_SECONDS", "30", "how long one SQL statement may take"),
    setting("body_bytes_max", "BERESTA_BODY_BYTES_MAX", "1048576", "how large a request body may be"),
    setting("request_timeout_seconds", "BERESTA_REQUEST_TIMEOUT_SECONDS", "30", "how long a request may take"),
    setting("requests_max", "BERESTA_REQUESTS_MAX", "512", "how many requests are served at once"),
    setting("connections_max", "BERESTA_CONNECTIONS_MAX", "10000", "how many HTTP connections are open at once"),
    setting(
        "public_url",
        "BERESTA_PUBLIC_URL",
        "",
        "the address people use, if it is not the listen address; https makes cookies Secure",
    ),
    setting("log", "BERESTA_LOG", "info", "what is logged: error, warn, info, debug, or a filter such as platform=debug"),
    setting("log_format", "BERESTA_LOG_FORMAT", "text", "text, or json with one object per line"),
    setting("otlp_endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT", "", "where traces are sent by OpenTelemetry (HTTP), if anywhere"),
    setting("objects_url", "BERESTA_OBJECTS_URL", "", "s3://bucket/prefix to keep files in S3; the data directory otherwise"),
    setting("s3_endpoint", "BERESTA_S3_ENDPOINT", "", "address of an S3 server other than Amazon's"),
    setting("s3_region", "BERESTA_S3_REGION", "us-east-1", "region of the S3 bucket"),
    setting("s3_access_key_id", "BERESTA_S3_ACCESS_KEY_ID", "", "the S3 access key id"),
    setting("s3_secret_access_key", "BERESTA_S3_SECRET_ACCESS_KEY", "", "where the S3 secret key is kept: env:NAME or file:PATH"),
    setting("telegram_base_url", "BERESTA_TELEGRAM_BASE_URL", "https://api.telegram.org", "the Telegram Bot API"),
    setting(
        "telegram_ca_bundle",
        "BERESTA_TELEGRAM_CA_BUNDLE",
        "",
        "more certificate authorities to trust for Telegram (PEM file)",
    ),
    setting("max_base_url", "BERESTA_MAX_BASE_URL", "https://platform-api2.max.ru", "the MAX Bot API"),
    setting(
        "fetch_allow",
        "BERESTA_FETCH_ALLOW",
        "",
        "host:port pairs inside your own network that feeds and media may be fetched from, such as feeds.local:8080",
    ),
    setting("smtp_url", "BERESTA_SMTP_URL", "", "the mail server for alerts by e-mail, such as smtps://mail.example.org:465"),
    setting("smtp_from", "BERESTA_SMTP_FROM", "beresta@localhost", "whom alerts by e-mail come from"),
    setting("smtp_user", "BERESTA_SMTP_USER", "", "the user name at the mail server, if it wants one"),
    setting(
        "smtp_password",
        "BERESTA_SMTP_PASSWORD",
        "",
        "where the password for the mail server is kept: env:NAME or file:PATH",
    ),
    setting("dispatch_in_flight_max", "BERESTA_DISPATCH_IN_FLIGHT_MAX", "2048", "how many deliveries one process sends at once"),
    setting(
        "bot_action_max_processing_hours",
        "BOT_ACTION_MAX_PROCESSING_HOURS",
        "2",
        "how long an action of a bot may be processing before it counts as lost",
    ),
    setting(
        "bot_action_watchdog_interval_minutes",
        "BOT_ACTION_WATCHDOG_INTERVAL_MINUTES",
        "30",
        "how often lost actions are looked for",
    ),
    setting(
        "mcp_hosts",
        "BERESTA_MCP_HOSTS",
        "",
        "more names by which assistants call /mcp, besides localhost and the public address",
    ),
    setting(
        "mcp_origins",
        "BERESTA_MCP_ORIGINS",
        "",
        "origins whose pages may call /mcp, such as https://app.example.org; besides localhost and the public address",
    ),
    setting(
        "planner_results_hours",
        "BERESTA_PLANNER_RESULTS_HOURS",
        "168",
        "how long the answer of an applied batch is kept for retries with its key",
    ),
    setting(
        "chat_origins",
        "BERESTA_CHAT_ORIGINS",
        "",
        "origins whose pages may call the chat API, such as https://app.example.org; besides localhost and the public address",
    ),
    setting("streams_max", "BERESTA_STREAMS_MAX", "8000", "how many people watch chats through this process at once"),
    setting("streams_per_token_max", "BERESTA_STREAMS_PER_TOKEN_MAX", "1000", "how many of them with one token"),
    setting("streams_per_address_max", "BERESTA_STREAMS_PER_ADDRESS_MAX", "1000", "how many of them from one address"),
    setting("max_ca_bundle", "BERESTA_MAX_CA_BUNDLE", "", "more certificate authorities to trust for MAX (PEM file)"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Api,
    Dispatcher,
    Runner,
    Monitor,
}

impl Role {
    const ALL: [(&'static str, Self); 4] =
        [("api", Self::Api), ("dispatcher", Self::Dispatcher), ("runner", Self::Runner), ("monitor", Self::Monitor)];

    pub(crate) fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, role)| *role == self).map_or("", |(name, _)| name)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Provider {
    pub(crate) name: &'static str,
    pub(crate) base_url: String,
    pub(crate) ca_bundle: Option<PathBuf>,
}

/// The configuration of this process, complete and checked.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) data_dir: PathBuf,
    pub(crate) database_url: Option<Secret>,
    pub(crate) database_connections_max: u32,
    pub(crate) statement_timeout: Duration,
    pub(crate) roles: Vec<Role>,
    pub(crate) limits: Limits,
    pub(crate) connections_max: usize,
    pub(crate) public_url: Option<String>,
    pub(crate) log: String,
    pub(crate) is_log_json: bool,
    pub(crate) otlp_endpoint: Option<String>,
    pub(crate) objects: objects::Place,
    pub(crate) providers: Vec<Provider>,
    pub(crate) fetch_allow: Vec<String>,
    pub(crate) mail: Option<posting::alerts::Mail>,
    pub(crate) dispatch_in_flight_max: usize,
    pub(crate) actions: actions::http::Settings,
    /// Whose pages may call the chat API.
    pub(crate) chat_origins: Vec<String>,
    pub(crate) mcp: planner::mcp::Settings,
    pub(crate) planner: planner::Settings,
    pub(crate) watchdog_interval: Duration,
}

/// Values by key, with the place each came from.
struct Values(BTreeMap<&'static str, (String, String)>);

impl Config {
    /// Reads every layer. `flags` are the values given on the command line, by key.
    pub(crate) fn load(flags: &[(&'static str, Option<String>)]) -> Result<Self> {
        let file = std::env::var_os("BERESTA_CONFIG").map(PathBuf::from);
        let file = file.or_else(|| Some(PathBuf::from("beresta.toml")).filter(|path| path.exists()));
        let text = match &file {
            Some(path) => std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?,
            None => String::new(),
        };
        let source = file.as_deref().unwrap_or(Path::new("beresta.toml"));
        Self::from_layers(flags, |name| std::env::var(name).ok(), &text, source)
    }

    fn from_layers(
        flags: &[(&'static str, Option<String>)],
        env: impl Fn(&str) -> Option<String>,
        toml_text: &str,
        toml_path: &Path,
    ) -> Result<Self> {
        let mut values = Values(BTreeMap::new());
        let from_file = read_toml(toml_text, toml_path)?;
        for setting in SETTINGS {
            let flag = flags.iter().find(|(key, _)| *key == setting.key).and_then(|(_, value)| value.clone());
            let found = flag
                .map(|value| (value, format!("--{}", setting.key.replace('_', "-"))))
                .or_else(|| env(setting.env).filter(|value| !value.is_empty()).map(|value| (value, setting.env.to_owned())))
                .or_else(|| {
                    from_file
                        .get(setting.key)
                        .map(|value| (value.clone(), format!("`{}` in {}", setting.key, toml_path.display())))
                });
            let default = || (setting.default.to_owned(), "the default".to_owned());
            values.0.insert(setting.key, found.unwrap_or_else(default));
        }
        values.into_config()
    }
}

fn read_toml(text: &str, path: &Path) -> Result<BTreeMap<String, String>> {
    let table: toml::Table = toml::from_str(text).with_context(|| format!("{} is not valid TOML", path.display()))?;
    let mut values = BTreeMap::new();
    for (key, value) in table {
        if !SETTINGS.iter().any(|setting| setting.key == key) {
            let near = nearest(&key);
            bail!("{}: there is no setting `{key}`; did you mean `{near}`?", path.display());
        }
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Float(number) => number.to_string(),
            toml::Value::Array(items) => {
                let texts: Option<Vec<&str>> = items.iter().map(toml::Value::as_str).collect();
                texts.with_context(|| format!("{}: `{key}` is a list of texts", path.display()))?.join(",")
            }
            other => bail!("{}: `{key}` cannot be {}", path.display(), other.type_str()),
        };
        values.insert(key, value);
    }
    Ok(values)
}

fn nearest(key: &str) -> &'static str {
    let shared = |other: &str| {
        let pairs = |text: &str| text.as_bytes().windows(2).map(<[u8]>::to_vec).collect::<Vec<_>>();
        let theirs = pairs(other);
        pairs(key).iter().filter(|pair| theirs.contains(pair)).count()
    };
    SETTINGS.iter().max_by_key(|setting| shared(setting.key)).map_or("", |setting| setting.key)
}

impl Values {
    fn text(&self, key: &str) -> &str {
        &self.0[key].0
    }

    fn optional(&self, key: &str) -> Option<String> {
        Some(self.text(key).to_owned()).filter(|value| !value.is_empty())
    }

    /// A parsed value, or an error that says where the bad one came from and what would be right.
    fn parsed<T>(&self, key: &str, expected: &str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        let (value, place) = &self.0[key];
        parse(value).with_context(|| format!("{place}: `{}` is not {expected}", kernel::redact::snippet(value, 100)))
    }

    fn number(&self, key: &str, min: u64, max: u64) -> Result<u64> {
        let expected = format!("a whole number from {min} to {max}");
        self.parsed(key, &expected, |value| value.parse().ok().filter(|number| (min..=max).contains(number)))
    }

    /// Whom /mcp answers: this machine and the public address always, others by name.
    fn mcp(&self) -> Result<planner::mcp::Settings> {
        let mut settings = planner::mcp::Settings { origins: self.origins("mcp_origins")?, ..planner::mcp::Settings::default() };
        let is_host = |host: &String| host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']'));
        let hosts = |value: &str| Some(list(value)).filter(|hosts| hosts.iter().all(is_host));
        settings.hosts.extend(self.parsed("mcp_hosts", "a list of host names separated by commas", hosts)?);
        if self.optional("public_url").is_some() {
            let public = self.url("public_url")?;
            let authority = public.split_once("://").and_then(|(_, rest)| rest.split('/').next());
            // Clients leave the default port out.
            let default_port = if public.starts_with("https://") { ":443" } else { ":80" };
            settings.hosts.extend(authority.map(|host| host.strip_suffix(default_port).unwrap_or(host).to_owned()));
        }
        Ok(settings)
    }

    /// Whose pages may call: those of this machine and of the public address always, others as they are listed.
    fn origins(&self, key: &str) -> Result<Vec<String>> {
        let listed = |value: &str| list(value).iter().map(|url| origin(url)).collect::<Option<Vec<_>>>();
        let mut origins = platform::http::loopback_origins();
        origins.extend(self.parsed(key, "a list of origins such as https://app.example.org", listed)?);
        if self.optional("public_url").is_some() {
            origins.extend(origin(&self.url("public_url")?));
        }
        Ok(origins)
    }

    fn url(&self, key: &str) -> Result<String> {
        let parse = |value: &str| {
            let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"))?;
            (!rest.is_empty() && !rest.contains(['@', ' '])).then(|| value.trim_end_matches('/').to_owned())
        };
        self.parsed(key, "an address such as https://example.org", parse)
    }

    fn seconds(&self, key: &str) -> Result<Duration> {
        Ok(Duration::from_secs(self.number(key, 1, 3600)?))
    }

    /// A time in units of so many seconds; parts of a unit are fine. At least a millisecond, at most a year.
    fn span(&self, key: &str, unit_seconds: f64) -> Result<Duration> {
        let parse = |value: &str| {
            let seconds = value.parse::<f64>().ok()? * unit_seconds;
            (0.001..=365.0 * 86400.0).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
        };
        self.parsed(key, "a number above 0, such as 2 or 0.5", parse)
    }

    fn into_config(self) -> Result<Config> {
        let whole = |key, min, max| self.number(key, min, max).map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let data_dir = PathBuf::from(self.text("data_dir"));
        let limits = Limits {
            body_bytes_max: whole("body_bytes_max", 1024, 1 << 30)?,
            request_timeout: self.seconds("request_timeout_seconds")?,
            requests_max: whole("requests_max", 1, 100_000)?,
        };
        let provider = |name, url, bundle| {
            Ok::<_, anyhow::Error>(Provider {
                name,
                base_url: self.url(url)?,
                ca_bundle: self.optional(bundle).map(PathBuf::from),
            })
        };
        Ok(Config {
            listen: self.parsed("listen", "an address such as 127.0.0.1:7400", |value| value.parse().ok())?,
            objects: self.objects(&data_dir)?,
            data_dir,
            database_url: self.database_url()?,
            database_connections_max: u32::try_from(self.number("database_connections_max", 2, 1000)?)?,
            statement_timeout: self.seconds("statement_timeout_seconds")?,
            roles: self.roles()?,
            limits,
            connections_max: whole("connections_max", 1, 1_000_000)?,
            public_url: self.optional("public_url").map(|_| self.url("public_url")).transpose()?,
            log: self.text("log").to_owned(),
            is_log_json: self.parsed("log_format", "`text` or `json`", |value| match value {
                "text" => Some(false),
                "json" => Some(true),
                _ => None,
            })?,
            otlp_endpoint: self.optional("otlp_endpoint").map(|_| self.url("otlp_endpoint")).transpose()?,
            fetch_allow: self.fetch_allow()?,
            mail: self.mail()?,
            dispatch_in_flight_max: whole("dispatch_in_flight_max", 2, 100_000)?,
            chat_origins: self.origins("chat_origins")?,
            mcp: self.mcp()?,
            planner: planner::Settings {
                results_kept: Duration::from_hours(self.number("planner_results_hours", 24, 24 * 3650)?),
            },
            actions: actions::http::Settings {
                processing_max: self.span("bot_action_max_processing_hours", 3600.0)?,
                limits: actions::Limits {
                    streams_max: whole("streams_max", 1, 1_000_000)?,
                    per_token_max: whole("streams_per_token_max", 1, 1_000_000)?,
                    per_address_max: whole("streams_per_address_max", 1, 1_000_000)?,
                    ..actions::Limits::default()
                },
            },
            watchdog_interval: self.span("bot_action_watchdog_interval_minutes", 60.0)?,
            providers: vec![
                provider("telegram", "telegram_base_url", "telegram_ca_bundle")?,
                provider("max", "max_base_url", "max_ca_bundle")?,
            ],
        })
    }

    fn fetch_allow(&self) -> Result<Vec<String>> {
        let expected = "a list of host:port pairs separated by commas";
        let is_pair =
            |text: &String| text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
        self.parsed("fetch_allow", expected, |value| Some(list(value)).filter(|pairs| pairs.iter().all(is_pair)))
    }

    fn mail(&self) -> Result<Option<posting::alerts::Mail>> {
        let Some(url) = self.optional("smtp_url") else { return Ok(None) };
        let is_address = |value: &str| (value.starts_with("smtp://") || value.starts_with("smtps://")) && !value.contains('@');
        self.parsed("smtp_url", "an address such as smtps://mail.example.org:465, without a password in it", |value| {
            is_address(value).then_some(())
        })?;
        let password = self.optional("smtp_password").map(|text| read_secret(&SecretRef::parse(&text)?)).transpose()?;
        let login = self.optional("smtp_user").zip(password);
        Ok(Some(posting::alerts::Mail { url, from: self.text("smtp_from").to_owned(), login }))
    }

    fn database_url(&self) -> Result<Option<Secret>> {
        let Some(url) = self.optional("database_url") else { return Ok(None) };
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            // The value is not repeated: it may hold a password.
            bail!("{} is not the address of a PostgreSQL, such as postgresql://user@host/database", self.0["database_url"].1);
        }
        Ok(Some(Secret::new(url)))
    }

    fn roles(&self) -> Result<Vec<Role>> {
        let expected = "a list of roles out of api, dispatcher, runner, monitor";
        let role = |name: &str| Role::ALL.iter().find(|(known, _)| *known == name.trim()).map(|(_, role)| *role);
        let mut roles = self.parsed("roles", expected, |value| value.split(',').map(role).collect::<Option<Vec<_>>>())?;
        roles.sort_unstable();
        roles.dedup();
        Ok(roles)
    }

    fn objects(&self, data_dir: &Path) -> Result<objects::Place> {
        let Some(url) = self.optional("objects_url") else {
            return Ok(objects::Place::Files { dir: data_dir.join("objects") });
        };
        if let Some(dir) = url.strip_prefix("file://") {
            return Ok(objects::Place::Files { dir: dir.into() });
        }
        let rest = self.parsed("objects_url", "s3://bucket/prefix or file:///directory", |value| {
            value.strip_prefix("s3://").map(ToOwned::to_owned)
        })?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((&rest, ""));
        let key = self
            .optional("s3_secret_access_key")
            .context("BERESTA_S3_SECRET_ACCESS_KEY is needed for s3://, as env:NAME or file:PATH")?;
        Ok(objects::Place::S3(objects::S3 {
            bucket: bucket.to_owned(),
            prefix: prefix.to_owned(),
            region: self.text("s3_region").to_owned(),
            endpoint: self.optional("s3_endpoint").map(|_| self.url("s3_endpoint")).transpose()?,
            access_key_id: self.optional("s3_access_key_id").context("BERESTA_S3_ACCESS_KEY_ID is needed for s3://")?,
            secret_access_key: read_secret(&SecretRef::parse(&key)?)?,
        }))
    }
}

/// Fetches a secret from where its reference points.
pub(crate) fn read_secret(reference: &SecretRef) -> Result<Secret> {
    platform::secrets::read(reference).map_err(anyhow::Error::msg)
}

/// The settings as a `beresta.toml` with every default, for `beresta doctor --settings`.
pub(crate) fn reference() -> String {
    let mut text =
        String::from("# Every setting of Beresta with its default. Flags win over variables, variables over this file.\n");
    for setting in SETTINGS {
        let value =
            if setting.default.parse::<u64>().is_ok() { setting.default.to_owned() } else { format!("{:?}", setting.default) };
        let _ = write!(text, "\n# {} ({})\n# {} = {value}\n", setting.help, setting.env, setting.key);
    }
    text
}

/// The parts of a list that are separated by commas.
fn list(value: &str) -> Vec<String> {
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

#[cfg(test)]
mod tests;
