//! Alerts on their way out: the monitor finds trouble, and every target hears of it through the real adapters.

use std::sync::{Arc, Mutex};

use kernel::Clock;
use serde_json::Value;
use simulators::Simulators;
use testkit::TestDb;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
};
use tokio_util::sync::CancellationToken;

use crate::support::{Serving, beresta, client, until};

/// A mail server that takes one message.
async fn mail_server() -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    let got = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&got);
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let (read, mut write) = stream.into_split();
        let mut lines = BufReader::new(read).lines();
        write.write_all(b"220 test\r\n").await.unwrap();
        let mut in_data = false;
        while let Ok(Some(line)) = lines.next_line().await {
            kept.lock().unwrap().extend([line.as_str(), "\n"]);
            let answer: &[u8] = match line.as_str() {
                "." => {
                    in_data = false;
                    b"250 ok\r\n"
                }
                _ if in_data => continue,
                "DATA" => {
                    in_data = true;
                    b"354 go on\r\n"
                }
                "QUIT" => b"221 bye\r\n",
                _ => b"250 ok\r\n",
            };
            write.write_all(answer).await.unwrap();
        }
    });
    (url, got)
}

/// A workspace with a paused channel and a bot that cannot read what it is told, and somebody to tell in each messenger.
async fn troubled(tokens: &std::path::Path) -> TestDb {
    let db = TestDb::with(&[platform::SQL, posting::SQL, shopbot::SQL], Clock::system()).await;
    let workspace = db.workspace("team").await;
    let statements = [
        "insert into posting.credential_bindings (workspace_id, auth_ref, platform, secret_ref)
         values ($1, 'bot', 'telegram', 'file:' || $2 || '/telegram')",
        "insert into posting.channels (workspace_id, channel_id, platform, target_id, auth_ref, rate_group, paused_until)
         select $1, 'news', 'telegram', '-1001', 'bot', 'bot', now() + interval '1 hour' where $2 <> ''",
        "insert into posting.policies (workspace_id, alert_telegram_chat_id, alert_telegram_auth_ref, alert_email)
         select $1, '777', 'bot', 'admin@example.org' where $2 <> ''",
        "with registered as (
             insert into core.bots (workspace_id, provider, name, secret_ref, serves)
             values ($1, 'max', 'shop', 'file:' || $2 || '/max', 'shopbot') returning *)
         insert into shopbot.bots (workspace_id, bot_id, provider, alert_chat_id, alert_min_messages)
         select workspace_id, bot_id, provider, '900', 1 from registered",
        "select shopbot.keep_poison($1, 'max', null, $2, repeat('a', 64), 'x')",
    ];
    for statement in statements {
        sqlx::query(statement)
            .bind(workspace.uuid())
            .bind(tokens.display().to_string())
            .execute(db.db.pool())
            .await
            .unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    db
}

#[tokio::test]
async fn trouble_is_told_in_both_messengers_and_by_e_mail_with_a_link_to_the_console() {
    let tokens = tempfile::tempdir().unwrap();
    std::fs::write(tokens.path().join("telegram"), "123456:test-token").unwrap();
    std::fs::write(tokens.path().join("max"), "max-test-token").unwrap();
    let db = troubled(tokens.path()).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let providers = format!("http://{}", listener.local_addr().unwrap());
    let stop = CancellationToken::new();
    tokio::spawn(simulators::serve(listener, Simulators::new(), stop.clone()));
    let (mail, got) = mail_server().await;
    let mut command = beresta(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--database-url",
        &db.url,
        "--data-dir",
        &tokens.path().display().to_string(),
    ]);
    command
        .env("BERESTA_TELEGRAM_BASE_URL", format!("{providers}/telegram"))
        .env("BERESTA_MAX_BASE_URL", format!("{providers}/max"))
        .env("BERESTA_PUBLIC_URL", "https://beresta.example.org")
        .env("BERESTA_SMTP_URL", mail);
    let _serving = Serving::start(command);
    let told = async |provider: &str, target: &str| {
        let url = format!("{providers}/control/sent?provider={provider}&target={target}");
        let sent: Value = client().get(url).send().await.unwrap().json().await.unwrap();
        sent["sent"][0]["text"].as_str().map(ToOwned::to_owned)
    };
    let text = until("Telegram is told", async || told("telegram", "777").await).await;
    assert!(text.starts_with("team: paused channels\n- news: paused until "), "{text}");
    assert!(text.ends_with("\nhttps://beresta.example.org/console/channels"), "{text}");
    let text = until("MAX is told", async || told("max", "900").await).await;
    assert!(text.contains("- max: of 1 messages in the last 15 minutes, 1 went wrong"), "{text}");
    let mail = until("the mail is there", async || Some(got.lock().unwrap().clone()).filter(|mail| mail.contains("\n.\n"))).await;
    assert!(mail.contains("RCPT TO:<admin@example.org>") && mail.contains("Subject: Beresta: paused channels in team"), "{mail}");
    stop.cancel();
}
