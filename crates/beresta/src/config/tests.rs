//! What settings are read as, and how wrong ones are told.

use super::*;

fn load(flags: &[(&'static str, Option<String>)], env: &[(&str, &str)], file: &str) -> Result<Config> {
    let env = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    Config::from_layers(flags, env, file, Path::new("beresta.toml"))
}

#[test]
fn every_setting_has_a_default_that_works() {
    let config = load(&[], &[], "").unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:7400");
    assert_eq!(config.roles.len(), 4);
    assert!(config.database_url.is_none());
}

#[test]
fn the_defaults_of_actions_are_those_of_the_module() {
    let config = load(&[], &[], "").unwrap();
    let (given, module) = (config.actions.http, actions::http::ChatSettings::default());
    assert_eq!((given.processing_max, config.actions.watchdog_interval), (module.processing_max, actions::watchdog::LOOK_EVERY));
    assert_eq!(
        (given.processing_max.as_secs(), config.actions.watchdog_interval.as_secs()),
        (2 * 3600, 30 * 60),
        "as the specification says"
    );
    let streams = |limits: actions::StreamLimits| [limits.streams_max, limits.per_token_max, limits.per_address_max];
    assert_eq!(streams(given.limits), streams(module.limits));
    let env = [
        ("BERESTA_STREAMS_MAX", "30"),
        ("BERESTA_STREAMS_PER_TOKEN_MAX", "20"),
        ("BERESTA_STREAMS_PER_ADDRESS_MAX", "10"),
        ("BOT_ACTION_MAX_PROCESSING_HOURS", "0.5"),
        ("BOT_ACTION_WATCHDOG_INTERVAL_MINUTES", "1"),
        ("BERESTA_PLANNER_RESULTS_HOURS", "48"),
    ];
    let config = load(&[], &env, "").unwrap();
    assert_eq!(streams(config.actions.http.limits), [30, 20, 10]);
    assert_eq!((config.actions.http.processing_max.as_secs(), config.actions.watchdog_interval.as_secs()), (1800, 60));
    assert_eq!(config.planner.results.results_kept.as_secs(), 48 * 3600);
}

#[test]
fn flags_win_over_the_environment_and_the_environment_over_the_file() {
    let file = "listen = \"127.0.0.1:1\"\nrequests_max = 7\n";
    let config = load(&[], &[], file).unwrap();
    assert_eq!((config.listen.port(), config.limits.requests_max), (1, 7));
    let env = [("BERESTA_LISTEN", "127.0.0.1:2")];
    assert_eq!(load(&[], &env, file).unwrap().listen.port(), 2);
    let flags = [("listen", Some("127.0.0.1:3".to_owned()))];
    assert_eq!(load(&flags, &env, file).unwrap().listen.port(), 3);
}

#[test]
fn a_bad_value_is_refused_with_its_place_and_what_would_be_right() {
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);
    let cases: &[Case<'_>] = &[
        (&[("BERESTA_LISTEN", "localhost")], "", "BERESTA_LISTEN: `localhost` is not an address such as 127.0.0.1:7400"),
        (&[("BERESTA_REQUESTS_MAX", "0")], "", "BERESTA_REQUESTS_MAX: `0` is not a whole number from 1 to 100000"),
        (&[], "requests_max = -1", "`requests_max` in beresta.toml: `-1` is not a whole number"),
        (&[("BERESTA_ROLES", "api,worker")], "", "`api,worker` is not a list of roles out of api, dispatcher, runner, monitor"),
        (&[("BERESTA_LOG_FORMAT", "xml")], "", "`xml` is not `text` or `json`"),
        (&[("BERESTA_TELEGRAM_BASE_URL", "ftp://x")], "", "`ftp://x` is not an address such as https://example.org"),
        (&[], "lissten = \"x\"", "there is no setting `lissten`; did you mean `listen`?"),
        (&[], "listen = {}", "`listen` cannot be table"),
        (&[], "listen = ", "beresta.toml is not valid TOML"),
        (&[("BERESTA_OBJECTS_URL", "s3://b/p")], "", "BERESTA_S3_SECRET_ACCESS_KEY is needed for s3://"),
    ];
    for (env, file, words) in cases {
        let error = format!("{:#}", load(&[], env, file).unwrap_err());
        assert!(error.contains(words), "{error:?} should say {words:?}");
    }
}

#[test]
fn a_bad_database_url_is_refused_without_repeating_its_password() {
    let error = format!("{:#}", load(&[], &[("DATABASE_URL", "mysql://me:hunter2@host/db")], "").unwrap_err());
    assert!(error.contains("DATABASE_URL is not the address of a PostgreSQL") && !error.contains("hunter2"));
}

#[test]
fn the_reference_file_is_itself_a_valid_configuration() {
    let uncommented: String = reference()
        .lines()
        .filter(|line| line.contains(" = "))
        .map(|line| line.trim_start_matches("# ").to_owned() + "\n")
        .collect();
    assert_eq!(uncommented.lines().count(), settings().count());
    load(&[], &[], &uncommented).unwrap();
}

#[test]
fn assistants_may_call_this_machine_the_public_address_and_whoever_is_named() {
    let env = [
        ("BERESTA_PUBLIC_URL", "https://plan.example.org/x"),
        ("BERESTA_MCP_HOSTS", "a.example.org, b:8080"),
        ("BERESTA_MCP_ORIGINS", "http://c:3000"),
    ];
    let mcp = load(&[], &env, "").unwrap().planner.mcp;
    let hosts = ["127.0.0.1", "plan.example.org", "a.example.org", "b:8080"];
    assert!(hosts.iter().all(|host| mcp.hosts.contains(&(*host).to_owned())), "{mcp:?}");
    let origins = ["https://plan.example.org:443", "http://c:3000"];
    assert!(origins.iter().all(|origin| mcp.origins.contains(&(*origin).to_owned())), "{mcp:?}");
    let with_port = load(&[], &[("BERESTA_PUBLIC_URL", "https://plan.example.org:443")], "").unwrap().planner.mcp;
    assert!(with_port.hosts.contains(&"plan.example.org".to_owned()), "clients leave the default port out: {with_port:?}");
    assert!(load(&[], &[("BERESTA_MCP_ORIGINS", "app.example.org")], "").is_err());
}
