//! Configuration: flags over environment over `beresta.toml`. Every setting is declared once, here or in the module that uses it.
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
use platform::{
    http::Limits,
    module::Role,
    objects,
    settings::{Setting, SettingError, Values, list, setting},
};

use crate::{
    alerts::Mail,
    models::{self, Models},
    modules,
};

/// The settings of the program itself.
const SETTINGS: &[Setting] = &[
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
        "host:port pairs inside your own network that feeds and media may be fetched from and webhooks sent to, such as feeds.local:8080",
    ),
    setting(
        "database_alert_gigabytes",
        "BERESTA_DATABASE_ALERT_GIGABYTES",
        "20",
        "how large the database may become before an alert says so",
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
    setting("max_ca_bundle", "BERESTA_MAX_CA_BUNDLE", "", "more certificate authorities to trust for MAX (PEM file)"),
];

/// Every setting there is: the program's own and those of the modules.
pub(crate) fn settings() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().chain(models::SETTINGS).chain(modules::ALL.iter().flat_map(|module| module.settings))
}

#[derive(Clone, Debug)]
pub(crate) struct ProviderConfig {
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
    pub(crate) providers: Vec<ProviderConfig>,
    pub(crate) fetch_allow: Vec<String>,
    pub(crate) mail: Option<Mail>,
    pub(crate) database_alert_bytes: u64,
    pub(crate) dispatch_in_flight_max: usize,
    pub(crate) actions: actions::ActionsSettings,
    pub(crate) planner: planner::PlannerSettings,
    pub(crate) models: Models,
    pub(crate) membership_proof_max: Duration,
}

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
        let mut values = Values::default();
        let from_file = read_toml(toml_text, toml_path)?;
        for setting in settings() {
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
            let (value, place) = found.unwrap_or_else(default);
            values.set(setting.key, value, place);
        }
        config(&values)
    }
}

fn read_toml(text: &str, path: &Path) -> Result<BTreeMap<String, String>> {
    let table: toml::Table = toml::from_str(text).with_context(|| format!("{} is not valid TOML", path.display()))?;
    let mut values = BTreeMap::new();
    for (key, value) in table {
        if !settings().any(|setting| setting.key == key) {
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
    settings().max_by_key(|setting| shared(setting.key)).map_or("", |setting| setting.key)
}

fn config(values: &Values) -> Result<Config> {
    let data_dir = PathBuf::from(values.text("data_dir"));
    let limits = Limits {
        body_bytes_max: values.count("body_bytes_max", 1024, 1 << 30)?,
        request_timeout: values.seconds("request_timeout_seconds")?,
        requests_max: values.count("requests_max", 1, 100_000)?,
    };
    let provider = |name, url, bundle| {
        Ok::<_, anyhow::Error>(ProviderConfig {
            name,
            base_url: values.url(url)?,
            ca_bundle: values.optional(bundle).map(PathBuf::from),
        })
    };
    Ok(Config {
        listen: values.parsed("listen", "an address such as 127.0.0.1:7400", |value| value.parse().ok())?,
        objects: object_place(values, &data_dir)?,
        data_dir,
        database_url: database_url(values)?,
        database_connections_max: u32::try_from(values.number("database_connections_max", 2, 1000)?)?,
        statement_timeout: values.seconds("statement_timeout_seconds")?,
        roles: roles(values)?,
        limits,
        connections_max: values.count("connections_max", 1, 1_000_000)?,
        public_url: values.optional_url("public_url")?,
        log: values.text("log").to_owned(),
        is_log_json: values.parsed("log_format", "`text` or `json`", |value| match value {
            "text" => Some(false),
            "json" => Some(true),
            _ => None,
        })?,
        otlp_endpoint: values.optional_url("otlp_endpoint")?,
        fetch_allow: fetch_allow(values)?,
        mail: mail(values)?,
        database_alert_bytes: values.number("database_alert_gigabytes", 1, 1_000_000)? << 30,
        dispatch_in_flight_max: values.count("dispatch_in_flight_max", 2, 100_000)?,
        actions: actions::ActionsSettings::read(values)?,
        planner: planner::PlannerSettings::read(values)?,
        models: Models::read(values)?,
        membership_proof_max: values.span("membership_proof_minutes", 60.0)?,
        providers: vec![
            provider("telegram", "telegram_base_url", "telegram_ca_bundle")?,
            provider("max", "max_base_url", "max_ca_bundle")?,
        ],
    })
}

fn fetch_allow(values: &Values) -> Result<Vec<String>, SettingError> {
    let expected = "a list of host:port pairs separated by commas";
    let is_pair =
        |text: &String| text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
    values.parsed("fetch_allow", expected, |value| Some(list(value)).filter(|pairs| pairs.iter().all(is_pair)))
}

fn mail(values: &Values) -> Result<Option<Mail>> {
    let Some(url) = values.optional("smtp_url") else { return Ok(None) };
    let is_address = |value: &str| (value.starts_with("smtp://") || value.starts_with("smtps://")) && !value.contains('@');
    values.parsed("smtp_url", "an address such as smtps://mail.example.org:465, without a password in it", |value| {
        is_address(value).then_some(())
    })?;
    let password = values.optional("smtp_password").map(|text| read_secret(&SecretRef::parse(&text)?)).transpose()?;
    let login = values.optional("smtp_user").zip(password);
    Ok(Some(Mail { url, from: values.text("smtp_from").to_owned(), login }))
}

fn database_url(values: &Values) -> Result<Option<Secret>> {
    let Some(url) = values.optional("database_url") else { return Ok(None) };
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        // The value is not repeated: it may hold a password.
        bail!("{} is not the address of a PostgreSQL, such as postgresql://user@host/database", values.place("database_url"));
    }
    Ok(Some(Secret::new(url)))
}

fn roles(values: &Values) -> Result<Vec<Role>> {
    let expected = "a list of roles out of api, dispatcher, runner, monitor";
    let role = |name: &str| Role::ALL.iter().find(|(known, _)| *known == name.trim()).map(|(_, role)| *role);
    let mut roles = values.parsed("roles", expected, |value| value.split(',').map(role).collect::<Option<Vec<_>>>())?;
    roles.sort_unstable();
    roles.dedup();
    Ok(roles)
}

fn object_place(values: &Values, data_dir: &Path) -> Result<objects::Place> {
    let Some(url) = values.optional("objects_url") else {
        return Ok(objects::Place::Files { dir: data_dir.join("objects") });
    };
    if let Some(dir) = url.strip_prefix("file://") {
        return Ok(objects::Place::Files { dir: dir.into() });
    }
    let rest = values.parsed("objects_url", "s3://bucket/prefix or file:///directory", |value| {
        value.strip_prefix("s3://").map(ToOwned::to_owned)
    })?;
    let (bucket, prefix) = rest.split_once('/').unwrap_or((&rest, ""));
    let key = values
        .optional("s3_secret_access_key")
        .context("BERESTA_S3_SECRET_ACCESS_KEY is needed for s3://, as env:NAME or file:PATH")?;
    Ok(objects::Place::S3(objects::S3 {
        bucket: bucket.to_owned(),
        prefix: prefix.to_owned(),
        region: values.text("s3_region").to_owned(),
        endpoint: values.optional_url("s3_endpoint")?,
        access_key_id: values.optional("s3_access_key_id").context("BERESTA_S3_ACCESS_KEY_ID is needed for s3://")?,
        secret_access_key: read_secret(&SecretRef::parse(&key)?)?,
    }))
}

/// Fetches a secret from where its reference points.
pub(crate) fn read_secret(reference: &SecretRef) -> Result<Secret> {
    platform::secrets::read(reference).map_err(anyhow::Error::msg)
}

/// The settings as a `beresta.toml` with every default, for `beresta doctor --settings`.
pub(crate) fn reference() -> String {
    let mut text =
        String::from("# Every setting of Beresta with its default. Flags win over variables, variables over this file.\n");
    for setting in settings() {
        let value =
            if setting.default.parse::<u64>().is_ok() { setting.default.to_owned() } else { format!("{:?}", setting.default) };
        let _ = write!(text, "\n# {} ({})\n# {} = {value}\n", setting.help, setting.env, setting.key);
    }
    text
}

#[cfg(test)]
mod tests;
