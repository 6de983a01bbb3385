//! Senders of replies that die: what they held is said again, not for ever, and the journal knows.

use platform::alerts::{self, PLATFORM, StorageLimits};
use serde_json::{Value, json};

use crate::world::{Archive, message};

#[tokio::test]
async fn a_reply_whose_senders_die_again_and_again_is_dead_after_as_many_attempts_as_one_that_fails() {
    let archive = Archive::new().await;
    let claim = async |token: &str| {
        let claimed = format!("(select count(*) from knowledge.claim_replies($ws, '{token}', 10, interval '1 minute'))");
        archive.ask(&claimed).await
    };
    archive.process(&message(1, 1, "/help")).await;
    for attempt in 1..=8 {
        assert_eq!(claim(&format!("worker {attempt}")).await, 1, "attempt {attempt}");
        archive.advance(61);
        assert_eq!(archive.ask("knowledge.expire_leases($ws)").await, 1);
        let status = archive.ask("(select to_jsonb(status) from knowledge.replies)").await;
        assert_eq!(status, if attempt < 8 { "retry" } else { "dead" });
    }
    assert_eq!(claim("one more").await, 0);
    let told = "select jsonb_build_array(action, data->'attempt') from ops.journal
                 where data->>'reason' = 'lease_expired' order by ts, id";
    let mut expected: Vec<Value> = (1..8).map(|attempt| json!(["reply_retry", attempt])).collect();
    expected.push(json!(["reply_dead", 8]));
    assert_eq!(archive.list(told).await, expected);
    // The same number where an attempt ends with an error.
    archive.process(&message(2, 2, "/help")).await;
    archive.run("update knowledge.replies set attempt = 6 where status = 'queued'").await;
    let reply = "(select reply_id from knowledge.replies where status = 'sending')";
    for outcome in ["retry", "dead"] {
        assert_eq!(claim("worker").await, 1);
        let error = r#"{"category": "TRANSIENT"}"#;
        assert_eq!(archive.ask(&format!("knowledge.record_reply($ws, {reply}, 'worker', null, '{error}')")).await, outcome);
        archive.advance(3600);
    }
}

#[tokio::test]
async fn a_bot_whose_token_cannot_be_read_is_an_alert_of_the_platform_until_it_can() {
    let archive = Archive::new().await;
    let trouble = async || {
        alerts::check(&archive.test.db, &[PLATFORM], &StorageLimits::default()).await;
        archive.list("select jsonb_build_array(alert, subject, sample, why) from ops.alerts where cleared_at is null").await
    };
    archive.run("update core.bots set secret_ref = 'env:NO_SUCH_VARIABLE'").await;
    archive.process(&message(1, 1, "/help")).await;
    assert!(trouble().await.is_empty(), "nothing was sent yet");
    archive.say().await;
    let why = "the variable NO_SUCH_VARIABLE is not set";
    assert_eq!(trouble().await, [json!(["bot_without_token", "archive", "knowledge", why])]);
    archive.run(&format!("update core.bots set secret_ref = '{}'", archive.secret_ref("telegram"))).await;
    archive.advance(60);
    archive.say().await;
    assert!(trouble().await.is_empty());
}
