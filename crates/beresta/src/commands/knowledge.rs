//! `beresta knowledge`: the archive of Telegram chats, by hand.
//!
//! Rows go to standard output, what was done and what to do next to standard error.

pub(crate) mod args;
mod eval;
mod import;
mod search;

use std::process::ExitCode;

use anyhow::Result;
use args::{AllowArgs, ChatCommand, ForgetArgs, ForgetCommand, KnowledgeCommand, PersonRole, PolicyArgs, RegisterArgs};
use kernel::WorkspaceId;
use knowledge::{
    Knowledge, jobs,
    manage::{self, ForgetTarget},
};
use platform::{embedded::Use, objects::Objects, workspaces};
use serde_json::{Value, json};

use super::{
    ops::{args::Common, show::show},
    progress,
};
use crate::{database::Database, outside::Outside};

const CHAT: &[&str] = &["chat_id", "title", "type", "status", "bot", "messages", "documents"];
const PERSON: &[&str] = &["tg_user_id", "role", "name", "person", "username"];
const POLICY: &[&str] =
    &["chat_id", "allow_url_fetch", "allow_file_download", "allow_embedding", "retention_days_raw", "retention_days_documents"];
const FORGOTTEN: &[&str] = &["messages", "documents", "chunks", "raw_updates"];

pub(crate) async fn run(command: KnowledgeCommand) -> Result<ExitCode> {
    match command {
        KnowledgeCommand::Chat(ChatCommand::Register(args)) => register(&args).await?,
        KnowledgeCommand::Chat(ChatCommand::List(common)) => {
            let scene = ArchiveScene::open(&common).await?;
            let rows = scene.chats().await?;
            if rows.is_empty() {
                progress("no chat is registered yet: `beresta knowledge chat register` registers one");
            }
            show(&rows, CHAT, common.json)?;
        }
        KnowledgeCommand::Chat(ChatCommand::Disable(args)) => {
            let scene = ArchiveScene::open(&args.common).await?;
            manage::disable_chat(&scene.database.db, scene.workspace, args.chat_id).await?;
            show(&scene.chat(args.chat_id).await?, CHAT, args.common.json)?;
            progress(&format!("what is kept of it stays; `beresta knowledge forget chat {}` forgets it", args.chat_id));
            scene.close().await;
        }
        KnowledgeCommand::Chat(ChatCommand::Policy(args)) => policy(&args).await?,
        KnowledgeCommand::Chat(ChatCommand::Allow(args)) => allow(&args).await?,
        KnowledgeCommand::Chat(ChatCommand::People(common)) => {
            let scene = ArchiveScene::open(&common).await?;
            let rows = manage::people(&scene.database.db, scene.workspace).await?;
            if rows.is_empty() {
                progress("nobody is on the allowlist yet: `beresta knowledge chat allow` adds somebody");
            }
            show(&rows, PERSON, common.json)?;
        }
        KnowledgeCommand::Forget(command) => forget(command).await?,
        KnowledgeCommand::Search(args) => search::run(&args).await?,
        KnowledgeCommand::Eval(args) => eval::run(&args).await?,
        KnowledgeCommand::Import(args) => return import::run(&args).await,
        KnowledgeCommand::Retry(args) => {
            let scene = ArchiveScene::open(&args.common).await?;
            let job = manage::retry_document(&scene.database.db, scene.workspace, args.document_id, None).await?;
            show(&[json!({ "document_id": args.document_id, "job_id": job })], &["document_id", "job_id"], args.common.json)?;
            scene.close().await;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The database, the workspace that a command is about, and what the archive works with.
struct ArchiveScene {
    database: Database,
    workspace: WorkspaceId,
    archive: Knowledge,
}

impl ArchiveScene {
    async fn open(common: &Common) -> Result<Self> {
        let config = common.place.config()?;
        let database = Database::open(&config, Use::Share, progress).await?;
        let workspace = workspaces::find(&database.db, &common.workspace).await?.id();
        let archive = Outside::new(&config)?.knowledge(&database.db, &Objects::open(&config.objects)?);
        // The queue takes jobs of registered types only, and no server may have run yet.
        jobs::registry(&archive).put_types(&database.db).await?;
        Ok(Self { database, workspace, archive })
    }

    async fn chats(&self) -> Result<Vec<Value>> {
        Ok(manage::chats(&self.database.db, self.workspace).await?)
    }

    async fn chat(&self, chat_id: i64) -> Result<Vec<Value>> {
        Ok(self.chats().await?.into_iter().filter(|row| row["chat_id"] == chat_id).collect())
    }

    /// Workers in other processes hear of it before this one ends.
    async fn close(self) {
        self.database.db.wake().flush().await;
    }
}

async fn register(args: &RegisterArgs) -> Result<()> {
    let scene = ArchiveScene::open(&args.common).await?;
    let db = &scene.database.db;
    let bot = manage::find_bot(db, scene.workspace, args.bot.as_deref(), Some(args.chat_id)).await?;
    manage::register_chat(db, scene.workspace, args.chat_id, bot).await?;
    show(&scene.chat(args.chat_id).await?, CHAT, args.common.json)?;
    progress("what was said before: `beresta knowledge import` takes an export of Telegram Desktop");
    scene.close().await;
    Ok(())
}

async fn policy(args: &PolicyArgs) -> Result<()> {
    let scene = ArchiveScene::open(&args.common).await?;
    let changes = json!({
        "allow_url_fetch": args.allow_url_fetch, "allow_file_download": args.allow_file_download,
        "allow_embedding": args.allow_embedding, "retention_days_raw": args.raw_days,
        "retention_days_documents": args.document_days,
    });
    let policy = manage::policy(&scene.database.db, scene.workspace, args.chat_id, changes).await?;
    show(&[policy], POLICY, args.common.json)?;
    scene.close().await;
    Ok(())
}

async fn allow(args: &AllowArgs) -> Result<()> {
    let scene = ArchiveScene::open(&args.common).await?;
    let role = args.role.map(|role| match role {
        PersonRole::Admin => "admin",
        PersonRole::User => "user",
        PersonRole::Blocked => "blocked",
    });
    let db = &scene.database.db;
    let mut allowed = manage::allow_person(db, scene.workspace, args.tg_user_id, role, args.name.as_deref()).await?;
    if let Some(person) = &args.person {
        manage::tie_person(db, scene.workspace, args.tg_user_id, person).await?;
        allowed["person"] = json!(person);
    }
    show(&[allowed], &PERSON[..4], args.common.json)?;
    scene.close().await;
    Ok(())
}

async fn forget(command: ForgetCommand) -> Result<()> {
    let (target, how) = match command {
        ForgetCommand::Message { chat_id, message_id, how } => (ForgetTarget::Message { chat_id, message_id }, how),
        ForgetCommand::Chat { chat_id, how } => (ForgetTarget::Chat(chat_id), how),
        ForgetCommand::Person { tg_user_id, how } => (ForgetTarget::Person(tg_user_id), how),
        ForgetCommand::Url { url, how } => (ForgetTarget::Url(url), how),
    };
    let ForgetArgs { yes, doer } = how;
    let scene = ArchiveScene::open(&doer.common).await?;
    let db = &scene.database.db;
    let mut counts = if yes {
        manage::forget(db, scene.workspace, &target, &doer.operator).await?
    } else {
        manage::count_forgetting(db, scene.workspace, &target).await?
    };
    counts["forgotten"] = json!(yes);
    show(&[counts], FORGOTTEN, doer.common.json)?;
    if yes {
        progress("forgotten; it does not come back with a late update or an export");
    } else {
        progress("nothing was changed: this much would go; add --yes to forget it");
    }
    scene.close().await;
    Ok(())
}
