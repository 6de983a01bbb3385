//! The commands and their flags.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use platform::http::docs;

use crate::{
    commands,
    commands::{knowledge::args::KnowledgeCommand, ops::args::OpsCommand, webhook::args::WebhookCommand},
    config::Config,
    modules, telemetry,
};

#[derive(Parser)]
#[command(name = "beresta", version, about, long_about = None, max_term_width = 100)]
#[command(after_help = "Every setting, with its default: beresta doctor --settings")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run everything at once on simulated providers, with a tour that checks each part
    Demo(Demo),
    /// Run the server
    Serve(Serve),
    /// Run the provider simulators: Telegram under /telegram, MAX under /max, steered by /control
    Simulate(Simulate),
    /// Load the demo workspace and print its credentials; safe to repeat
    Seed(Seed),
    /// Apply migrations and functions to the database
    Migrate(DataPlace),
    /// Check configuration, database and providers, and say what to do
    Doctor(Doctor),
    /// The running database, for any other client
    #[command(subcommand)]
    Database(DatabaseCommand),
    /// Workspaces: the tenants
    #[command(subcommand)]
    Workspace(WorkspaceCommand),
    /// API tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// The runbook of posting: look, requeue, pause, enable, rotate, release, settle
    #[command(subcommand)]
    Ops(OpsCommand),
    /// Try the rules of the shop bot: talk to it, or replay conversations
    #[command(subcommand)]
    Shopbot(ShopbotCommand),
    /// Webhooks: programs that are told of events
    #[command(subcommand)]
    Webhook(WebhookCommand),
    /// The archive of Telegram chats: register, allow, forget, import
    #[command(subcommand)]
    Knowledge(KnowledgeCommand),
    /// Serve MCP on standard input and output, for the person that a token names
    Mcp(Mcp),
    /// Print the OpenAPI document
    Openapi,
}

/// Where the data is.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DataPlace {
    /// Where the embedded PostgreSQL and stored files live [default: ./beresta-data]
    #[arg(long)]
    pub(crate) data_dir: Option<String>,
    /// An existing PostgreSQL to use instead of the embedded one
    #[arg(long)]
    pub(crate) database_url: Option<String>,
}

impl DataPlace {
    fn flags(&self) -> Vec<(&'static str, Option<String>)> {
        vec![("data_dir", self.data_dir.clone()), ("database_url", self.database_url.clone())]
    }

    pub(crate) fn config(&self) -> Result<Config> {
        Config::load(&self.flags())
    }

    /// With settings that other flags of the command decide.
    pub(crate) fn config_with(&self, settings: Vec<(&'static str, Option<String>)>) -> Result<Config> {
        Config::load(&[self.flags(), settings].concat())
    }
}

#[derive(Args)]
struct Demo {
    /// End after the tour, with status 0 only if every check passed
    #[arg(long)]
    exit: bool,
    /// Address of the HTTP server; port 0 takes a free one [default: 127.0.0.1:7400]
    #[arg(long)]
    listen: Option<String>,
    #[command(flatten)]
    place: DataPlace,
}

#[derive(Args)]
struct Serve {
    /// Address of the HTTP server; port 0 takes a free one [default: 127.0.0.1:7400]
    #[arg(long)]
    listen: Option<String>,
    /// What this process does, out of api, dispatcher, runner, monitor [default: all]
    #[arg(long)]
    roles: Option<String>,
    /// Also run the jobs of the demo tour; the crash tests use them
    #[arg(long, hide = true)]
    demo_jobs: bool,
    #[command(flatten)]
    place: DataPlace,
}

#[derive(Args)]
struct Mcp {
    /// Where the token is kept: env:NAME or file:PATH [default: env:BERESTA_TOKEN]
    #[arg(long)]
    token: Option<String>,
    #[command(flatten)]
    place: DataPlace,
}

#[derive(Args)]
struct Simulate {
    /// Address to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:7401")]
    listen: std::net::SocketAddr,
}

#[derive(Args)]
struct Seed {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: DataPlace,
}

#[derive(Args)]
struct Doctor {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print every setting with its default, as a beresta.toml, and do nothing else
    #[arg(long)]
    settings: bool,
    #[command(flatten)]
    place: DataPlace,
}

#[derive(Subcommand)]
enum DatabaseCommand {
    /// Print the URL of the running database
    Url(DataPlace),
    /// Open psql on the running database; further arguments are psql's own
    Psql {
        #[command(flatten)]
        place: DataPlace,
        #[arg(trailing_var_arg = true)]
        args: Vec<String>,
    },
}

#[derive(Subcommand)]
enum WorkspaceCommand {
    /// Make a workspace, or print the id of the one that has this name
    Create {
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: DataPlace,
    },
    /// List the workspaces
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: DataPlace,
    },
}

#[derive(Subcommand)]
enum TokenCommand {
    /// Make a token; it is shown once and only its hash is stored
    Create(TokenCreate),
    /// List the tokens of a workspace
    List {
        /// Name or id of the workspace
        #[arg(long)]
        workspace: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: DataPlace,
    },
    /// End a token
    Revoke {
        /// The id that `token list` prints
        token_id: uuid::Uuid,
        /// Name or id of the workspace
        #[arg(long)]
        workspace: String,
        #[command(flatten)]
        place: DataPlace,
    },
}

#[derive(Subcommand)]
enum ShopbotCommand {
    /// Talk to the bot in the terminal, against the real rules; shows the matched rule and the state after each line, and
    /// neither writes nor sends anything
    Try {
        /// Name or id of the workspace
        #[arg(long)]
        workspace: String,
        /// Whose bot: max or telegram
        #[arg(long, default_value = "max")]
        provider: String,
        #[command(flatten)]
        place: DataPlace,
    },
    /// Replay conversations with expected answers; ends with status 0 only if every one went as expected
    Test {
        /// A YAML file of scenarios; docs/shopbot.md shows one
        file: std::path::PathBuf,
        /// Name or id of the workspace
        #[arg(long)]
        workspace: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        place: DataPlace,
    },
}

#[derive(Args)]
pub(crate) struct TokenCreate {
    /// Name or id of the workspace
    #[arg(long)]
    pub(crate) workspace: String,
    /// What it may do: `read`, `write`, `console`, or rights of one module such as `posting:write`; several are possible
    #[arg(long = "scope", required = true, num_args = 1.., value_delimiter = ',', long_help = scope_help())]
    pub(crate) scopes: Vec<String>,
    /// What it is for
    #[arg(long, default_value = "command line")]
    pub(crate) name: String,
    /// Whose it is, by name: an assistant's token needs this, because goals belong to people
    #[arg(long)]
    pub(crate) person: Option<String>,
    /// After how many days it ends by itself
    #[arg(long)]
    pub(crate) days: Option<u16>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: DataPlace,
}

fn scope_help() -> String {
    format!("What it may do; several are possible:\n\n{}", docs::list_scopes(&modules::scopes()))
}

pub(crate) async fn run() -> Result<ExitCode> {
    match Cli::parse().command {
        Command::Demo(demo) => {
            let mut flags = demo.place.flags();
            flags.push(("listen", demo.listen));
            let config = Config::load(&flags)?;
            let _telemetry = telemetry::start(&config, "warn")?;
            commands::demo::run(config, demo.exit).await
        }
        Command::Serve(serve) => {
            let mut flags = serve.place.flags();
            flags.extend([("listen", serve.listen), ("roles", serve.roles)]);
            let config = Config::load(&flags)?;
            let _telemetry = telemetry::start(&config, "info")?;
            commands::serve::run(config, serve.demo_jobs).await
        }
        Command::Simulate(simulate) => commands::simulate::run(simulate.listen).await,
        Command::Seed(seed) => commands::seed::run(&seed.place.config()?, seed.json).await,
        Command::Migrate(place) => commands::migrate::run(&place.config()?).await,
        Command::Doctor(doctor) if doctor.settings => {
            print!("{}", crate::config::reference());
            Ok(ExitCode::SUCCESS)
        }
        Command::Doctor(doctor) => commands::doctor::run(doctor.place.config(), doctor.json).await,
        Command::Database(DatabaseCommand::Url(place)) => commands::database::url(&place.config()?),
        Command::Database(DatabaseCommand::Psql { place, args }) => commands::database::psql(&place.config()?, &args),
        Command::Workspace(WorkspaceCommand::Create { name, json, place }) => {
            commands::workspace::create(&place.config()?, &name, json).await
        }
        Command::Workspace(WorkspaceCommand::List { json, place }) => commands::workspace::list(&place.config()?, json).await,
        Command::Token(TokenCommand::Create(create)) => commands::token::create(&create.place.config()?, &create).await,
        Command::Token(TokenCommand::List { workspace, json, place }) => {
            commands::token::list(&place.config()?, &workspace, json).await
        }
        Command::Token(TokenCommand::Revoke { token_id, workspace, place }) => {
            commands::token::revoke(&place.config()?, &workspace, token_id).await
        }
        Command::Ops(command) => commands::ops::run(command).await,
        Command::Shopbot(ShopbotCommand::Try { workspace, provider, place }) => {
            commands::shopbot::try_rules(&place.config()?, &workspace, &provider).await
        }
        Command::Shopbot(ShopbotCommand::Test { file, workspace, json, place }) => {
            commands::shopbot::test_rules(&place.config()?, &workspace, &file, json).await
        }
        Command::Webhook(command) => commands::webhook::run(command).await,
        Command::Knowledge(command) => commands::knowledge::run(command).await,
        Command::Mcp(mcp) => {
            let config = mcp.place.config()?;
            let _telemetry = telemetry::start(&config, "warn")?;
            commands::mcp::run(&config, mcp.token.as_deref()).await
        }
        Command::Openapi => {
            println!("{}", crate::operations::openapi_json());
            Ok(ExitCode::SUCCESS)
        }
    }
}
