//! The state machine of an answer: the database itself refuses what is not listed.

use serde_json::json;

use crate::world::{World, code};

const STATUSES: [&str; 6] = ["queued", "sending", "sent", "retry", "failed", "dead"];

/// The last two are successes that came after the lease was lost.
const ALLOWED: [(&str, &str); 8] = [
    ("queued", "sending"),
    ("retry", "sending"),
    ("sending", "sent"),
    ("sending", "retry"),
    ("sending", "failed"),
    ("sending", "dead"),
    ("retry", "sent"),
    ("dead", "sent"),
];

#[tokio::test]
async fn every_pair_of_statuses_is_walked_and_only_the_listed_edges_pass() {
    let world = World::new().await;
    let consistent = |status: &str| {
        let time = |is_set: bool| if is_set { "platform.now()" } else { "null" };
        format!(
            "status = '{status}', claim_token = {}, claimed_until = {}, sent_at = {}, failed_at = {}",
            if status == "sending" { "'t'" } else { "null" },
            time(status == "sending"),
            time(status == "sent"),
            time(matches!(status, "failed" | "dead"))
        )
    };
    for from in STATUSES {
        for to in STATUSES {
            world.run("delete from shopbot.bot_outbox").await;
            world.says(&format!("{from}-{to}"), "доставка").await;
            // Put into the status it begins with: no edge leads to most of them directly.
            world.run("alter table shopbot.bot_outbox disable trigger answer_edge").await;
            world.run(&format!("update shopbot.bot_outbox set {}", consistent(from))).await;
            world.run("alter table shopbot.bot_outbox enable trigger answer_edge").await;
            let result = world.try_run(&format!("update shopbot.bot_outbox set {}", consistent(to))).await;
            let is_allowed = from == to || ALLOWED.contains(&(from, to));
            match result {
                Ok(rows) => assert!(is_allowed && rows == 1, "{from} -> {to} passed"),
                Err(error) => assert!(!is_allowed && code(&error) == "ZP003", "{from} -> {to}: {error}"),
            }
        }
    }
}

#[tokio::test]
async fn a_log_is_never_changed_or_removed_and_a_rule_in_it_has_its_version() {
    let world = World::new().await;
    world.says("1", "доставка").await;
    assert_eq!(code(&world.try_run("update shopbot.bot_logs set outcome = 'muted'").await.unwrap_err()), "ZP001");
    assert_eq!(code(&world.try_run("delete from shopbot.bot_logs").await.unwrap_err()), "ZP001");
    let half =
        "insert into shopbot.bot_logs (workspace_id, provider, chat_id, inbound_provider_message_id, message_text, outcome,
                                              matched_rule_id, state_before, state_after)
                values ($ws, 'max', '1', 'x', '', 'answered', 'delivery', 'default', 'default')";
    assert_eq!(code(&world.try_run(half).await.unwrap_err()), "23514");
    assert_eq!(world.ask("select count(*) from shopbot.bot_logs").await, json!(1));
}
