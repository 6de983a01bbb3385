//! The flags of `beresta knowledge`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::{
    cli::DataPlace,
    commands::{ops::args::Common, webhook::args::Doer},
};

/// The archive of Telegram chats: which chats are kept and for whom, what is forgotten, and histories from before. docs/knowledge.md
#[derive(Subcommand)]
pub(crate) enum KnowledgeCommand {
    /// Chats that are kept, what may be kept of them, and who may ask
    #[command(subcommand)]
    Chat(ChatCommand),
    /// Forget for good a message, a chat, a person or a page; without --yes it says how much would go
    #[command(subcommand)]
    Forget(ForgetCommand),
    /// Import an export of Telegram Desktop, one chat or a whole account; again it changes nothing
    Import(ImportArgs),
    /// Try a document that has no text once more, from where it stopped
    Retry(RetryArgs),
    /// Search as a person would, and show what each leg of the ranking says
    Search(SearchArgs),
    /// Measure how well questions find their paragraphs, in a workspace that is made for it and removed afterwards
    Eval(EvalArgs),
}

#[derive(Subcommand)]
pub(crate) enum ChatCommand {
    /// Keep what a group or channel shares from now on; switches a disabled one on again
    Register(RegisterArgs),
    /// List the registered chats and how much is kept of each
    List(Common),
    /// Keep nothing new of a chat and answer nobody in it; what is kept stays
    Disable(OneChat),
    /// Show what may be kept of a chat and for how long, or change it
    Policy(PolicyArgs),
    /// Put a person on the allowlist, or change their role
    Allow(AllowArgs),
    /// List the allowlist: nobody else gets an answer or has a private archive
    People(Common),
}

#[derive(Args)]
pub(crate) struct RegisterArgs {
    /// The id of the chat, as bots know it: below zero
    #[arg(allow_negative_numbers = true)]
    pub(crate) chat_id: i64,
    /// The bot that is in the chat, by name or id [default: the oldest one that serves knowledge]
    #[arg(long)]
    pub(crate) bot: Option<String>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args)]
pub(crate) struct OneChat {
    /// The id of the chat
    #[arg(allow_negative_numbers = true)]
    pub(crate) chat_id: i64,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args)]
pub(crate) struct PolicyArgs {
    /// The id of the chat; a private chat has the id of its person
    #[arg(allow_negative_numbers = true)]
    pub(crate) chat_id: i64,
    /// Whether pages that are linked may be fetched
    #[arg(long, value_name = "true|false")]
    pub(crate) allow_url_fetch: Option<bool>,
    /// Whether files that are shared may be downloaded
    #[arg(long, value_name = "true|false")]
    pub(crate) allow_file_download: Option<bool>,
    /// Whether its content may be found; false takes it out of the index at once
    #[arg(long, value_name = "true|false")]
    pub(crate) allow_embedding: Option<bool>,
    /// For how many days updates are kept as they came
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(i32).range(1..=36_500))]
    pub(crate) raw_days: Option<i32>,
    /// For how many days messages and documents are kept
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(i32).range(1..=36_500))]
    pub(crate) document_days: Option<i32>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum PersonRole {
    Admin,
    User,
    Blocked,
}

#[derive(Args)]
pub(crate) struct AllowArgs {
    /// The id of the person in Telegram
    #[arg(allow_negative_numbers = true)]
    pub(crate) tg_user_id: i64,
    /// What they may do; an admin registers chats and forgets for others [default: user, or the role they have]
    #[arg(long)]
    pub(crate) role: Option<PersonRole>,
    /// A name for this list
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The person that tokens name (`beresta token create --person`): their assistants search and ask as this Telegram user
    #[arg(long)]
    pub(crate) person: Option<String>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Subcommand)]
pub(crate) enum ForgetCommand {
    /// One message
    Message {
        /// The id of its chat
        #[arg(allow_negative_numbers = true)]
        chat_id: i64,
        /// The number of the message in the chat
        #[arg(allow_negative_numbers = true)]
        message_id: i32,
        #[command(flatten)]
        how: ForgetArgs,
    },
    /// Everything that was said in a chat until now
    Chat {
        /// The id of the chat
        #[arg(allow_negative_numbers = true)]
        chat_id: i64,
        #[command(flatten)]
        how: ForgetArgs,
    },
    /// Everything that a person said until now, in every chat
    Person {
        /// The id of the person in Telegram
        tg_user_id: i64,
        #[command(flatten)]
        how: ForgetArgs,
    },
    /// A page that was linked; the messages that link it stay
    Url {
        /// Its address
        url: String,
        #[command(flatten)]
        how: ForgetArgs,
    },
}

#[derive(Args)]
pub(crate) struct ForgetArgs {
    /// Do it
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) doer: Doer,
}

#[derive(Args)]
pub(crate) struct ImportArgs {
    /// The file result.json of the export; its files are looked for beside it
    pub(crate) export: PathBuf,
    /// The bot that the messages belong to, by name or id [default: the bot of the chat, or the oldest one that serves knowledge]
    #[arg(long)]
    pub(crate) bot: Option<String>,
    /// Only this chat
    #[arg(long = "chat", value_name = "CHAT_ID", allow_negative_numbers = true)]
    pub(crate) chat_id: Option<i64>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args)]
pub(crate) struct RetryArgs {
    /// The document, as the console and /api/knowledge/documents name it
    pub(crate) document_id: i64,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args)]
pub(crate) struct SearchArgs {
    /// What is asked
    pub(crate) question: String,
    /// As whom: the id of a person in Telegram; what this person may not see is not found
    #[arg(long = "as", value_name = "TG_USER_ID")]
    pub(crate) tg_user_id: i64,
    /// The group in which it is asked [default: in private]
    #[arg(long = "chat", value_name = "CHAT_ID", allow_negative_numbers = true)]
    pub(crate) chat_id: Option<i64>,
    /// How many at most
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=50))]
    pub(crate) limit: u16,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Args)]
pub(crate) struct EvalArgs {
    /// The texts, one JSON object a line: {"pid", "text"}
    #[arg(long, value_name = "FILE")]
    pub(crate) paragraphs: PathBuf,
    /// The questions, one JSON object a line: {"pid", "question"}, where pid names the text with the answer
    #[arg(long, value_name = "FILE")]
    pub(crate) questions: PathBuf,
    /// Questions whose answer is in none of the texts, in the same form: how well they are refused
    #[arg(long, value_name = "FILE")]
    pub(crate) foreign: Option<PathBuf>,
    /// Whose vectors count beside the words: none, local, gemini or openai, the latter also as openai:MODEL [default: as configured]
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// How much of the score is the vectors', 0 to 1 [default: what the model has]
    #[arg(long, value_name = "SHARE")]
    pub(crate) vector_weight: Option<f64>,
    /// Spread the texts over so many groups; each question is then asked in the group of its text
    #[arg(long, default_value_t = 1)]
    pub(crate) groups: usize,
    /// Ask in private instead, as a member of all groups
    #[arg(long)]
    pub(crate) in_private: bool,
    /// How many ask at the same time
    #[arg(long, default_value_t = 1)]
    pub(crate) askers: usize,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) place: DataPlace,
}
