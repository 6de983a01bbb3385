//! Leases: who may finish what, what a dead sender leaves behind, and what nobody knows.

use serde_json::{Value, json};

use crate::world::World;

async fn mark(world: &World, run_id: &str, provider_message_id: &str) -> Value {
    world
        .ask(&format!(
            "select m.outcome from shopbot.bot_outbox o,
                    shopbot.mark_answers_sent(array[o.workspace_id], array[o.answer_id], array['{run_id}'], array['{provider_message_id}'], array[platform.now()]) m"
        ))
        .await
}

async fn answer(world: &World) -> Value {
    world.rows("select status, attempt, unknown_outcomes, provider_message_id from shopbot.bot_outbox").await.remove(0)
}

#[tokio::test]
async fn a_sender_that_lost_its_lease_can_change_nothing_and_its_success_is_a_possible_duplicate() {
    let world = World::new().await;
    world.says("1", "доставка").await;
    world.claim("slow", 10).await;
    world.advance(61);
    assert_eq!(world.ask("shopbot.expire_answer_leases()").await, json!(1));
    world.advance(3);
    assert_eq!(world.claim("fresh", 10).await, ["1"]);
    for function in ["retry_answer", "fail_answer"] {
        let call = format!("select shopbot.{function}(workspace_id, answer_id, 'slow', '{{}}') from shopbot.bot_outbox");
        assert_eq!(world.ask(&call).await, json!("lost"), "{function}");
    }
    assert_eq!(mark(&world, "slow", "77").await, json!("possible_duplicate"));
    assert_eq!(mark(&world, "fresh", "78").await, json!("sent"));
    assert_eq!(mark(&world, "fresh", "78").await, json!("repeated"));
    assert_eq!(
        answer(&world).await,
        json!({ "status": "sent", "attempt": 2, "unknown_outcomes": 1, "provider_message_id": "78" })
    );
    let told = world.rows("select data->>'provider_message_id' as id from ops.journal where action = 'possible_duplicate'").await;
    assert_eq!(told, [json!({ "id": "77" })]);
}

#[tokio::test]
async fn a_late_success_is_taken_if_nobody_sent_again() {
    let world = World::new().await;
    world.says("1", "доставка").await;
    world.claim("slow", 10).await;
    world.advance(61);
    world.ask("shopbot.expire_answer_leases()").await;
    assert_eq!(mark(&world, "slow", "77").await, json!("late"));
    assert_eq!(answer(&world).await["status"], "sent");
    assert_eq!(world.drain().await, 0);
}

#[tokio::test]
async fn an_answer_whose_senders_die_again_and_again_is_dead_after_its_last_attempt() {
    let world = World::new().await;
    world.set_bot("attempts_max = 3").await;
    world.says("1", "доставка").await;
    world.says("1", "оплата").await;
    for attempt in 1..=3 {
        assert_eq!(world.claim(&format!("crash {attempt}"), 10).await, ["1"]);
        world.advance(61);
        world.ask("shopbot.expire_answer_leases()").await;
        world.advance(3);
    }
    assert_eq!(world.statuses().await, "dead, queued");
    assert_eq!(world.ask("select unknown_outcomes from shopbot.bot_outbox where status = 'dead'").await, json!(3));
    let errors = world.rows("select source, retryable, error->>'code' as code from ops.errors").await;
    assert_eq!(errors, [json!({ "source": "shopbot", "retryable": false, "code": "outcome_unknown" })]);
    assert_eq!(world.drain().await, 1, "the next answer of the chat goes");
}

#[tokio::test]
async fn what_is_the_bots_trouble_uses_up_no_answer_for_a_day() {
    let world = World::new().await;
    world.says("1", "доставка").await;
    let refused =
        json!({ "category": "PERMANENT", "scope": "channel", "kind": "unauthorized", "code": "7", "message": "no such token" });
    let attempt = async |n: u32| {
        world.run("update shopbot.bots set closed_until = null, next_allowed_at = null").await;
        world.run("update shopbot.bot_outbox set next_retry_at = platform.now()").await;
        world.run(&format!("select shopbot.claim_answers('r{n}', 10, interval '1 minute', $ws)")).await;
        world
            .ask(&format!("select shopbot.fail_answer($ws, (select answer_id from shopbot.bot_outbox), 'r{n}', '{refused}')"))
            .await
    };
    for n in 0..20 {
        assert_eq!(attempt(n).await, json!("retry"));
    }
    world.advance(86_401);
    assert_eq!(attempt(20).await, json!("dead"));
}

#[tokio::test]
async fn what_a_provider_accepted_without_answering_is_sent_again_and_counted() {
    let world = World::new().await;
    world.fault("max", "5", json!({ "drop": "after", "times": 1 })).await;
    world.says("5", "доставка").await;
    world.drain().await;
    assert_eq!(world.statuses().await, "retry");
    world.advance(3);
    world.drain().await;
    assert_eq!(world.received("max", "5").await.len(), 2);
    let counted = world.rows("select status, attempt, unknown_outcomes from shopbot.bot_outbox").await;
    assert_eq!(counted, [json!({ "status": "sent", "attempt": 2, "unknown_outcomes": 1 })]);
}
