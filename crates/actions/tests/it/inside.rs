//! From inside: another module starts and ends actions in its own transaction.

use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn a_module_starts_and_ends_an_action_in_its_own_transaction_and_it_is_heard_exactly_if_that_commits() {
    let world = World::new().await;
    let mut watching = world.watch("c").await;
    let start = "select actions.start_action($1, 'c', $2, 'summarize', '2 hours', p_payload => '{\"step\": \"чтение\"}')";
    let mut lost = world.test.db.begin(world.workspace).await.unwrap();
    sqlx::query(start).bind(world.workspace.uuid()).bind("lost").execute(&mut *lost).await.unwrap();
    lost.rollback().await.unwrap();

    let mut kept = world.test.db.begin(world.workspace).await.unwrap();
    sqlx::query("select ops.append_journal($1, 'other', 'worked')")
        .bind(world.workspace.uuid())
        .execute(&mut *kept)
        .await
        .unwrap();
    sqlx::query(start).bind(world.workspace.uuid()).bind("kept").execute(&mut *kept).await.unwrap();
    let end = "select actions.update_action($1, 'kept', 'done')";
    sqlx::query(end).bind(world.workspace.uuid()).execute(&mut *kept).await.unwrap();
    kept.commit().await.unwrap();
    world.test.db.wake().tell(platform::wake::Topic::BUS);
    assert_eq!((watching.word().await, watching.word().await), ("kept processing".to_owned(), "kept done".to_owned()));
    assert_eq!(world.rows("select from actions.actions where action_id = 'lost'").await.len(), 0);
}

#[tokio::test]
async fn a_module_that_works_for_one_workspace_cannot_touch_another() {
    let world = World::new().await;
    world.start("a", json!({})).await;
    let theirs = world.test.workspace("theirs").await;
    for query in [
        "select actions.start_action($1, 'c', 'b', 'x', '2 hours')",
        "select actions.update_action($1, 'a', 'done')",
        "select actions.add_message($1, 'c', 'bot', 'x')",
    ] {
        let mut tx = world.test.db.begin(theirs).await.unwrap();
        assert!(sqlx::query(query).bind(world.workspace.uuid()).execute(&mut *tx).await.is_err(), "{query}");
    }
    assert_eq!(world.published("c").await.len(), 1);
}

#[tokio::test]
async fn a_text_from_a_module_is_made_plain_too() {
    let world = World::new().await;
    let mut tx = world.test.db.begin(world.workspace).await.unwrap();
    for (given, shown) in [
        ("  Читаем\nотчёт.pdf ", Some("Читаем отчёт.pdf")),
        ("photo\u{202e}gpj.exe\u{200f}\u{1b}[31m", Some("photogpj.exe[31m")),
        ("<<<b>img src=x onerror=alert(1)>", Some("img src=x onerror=alert(1)>")),
        ("1 < 2 << 3", Some("1 < 2 << 3")),
        ("\n\u{202e}", None),
        ("\u{200b}\u{2800}\u{2062}", None),
        ("Чит\u{e0041}\u{e0042}аем", Some("Читаем")),
        ("👨\u{200d}👩\u{200d}👧", Some("👨\u{200d}👩\u{200d}👧")),
    ] {
        let plain: Option<String> =
            sqlx::query_scalar("select actions.plain_text($1)").bind(given).fetch_one(&mut *tx).await.unwrap();
        assert_eq!(plain.as_deref(), shown, "{given:?}");
    }
    let start = "select actions.start_action($1, 'c', 'a', 'x', '6 hours', '<b>Читаем</b>\u{202e}')->'action'->>'displayText'";
    let shown: String = sqlx::query_scalar(start).bind(world.workspace.uuid()).fetch_one(&mut *tx).await.unwrap();
    assert_eq!(shown, "Читаем");
    let hours = "select extract(epoch from deadline - created_at)::int / 3600 from actions.actions";
    assert_eq!(sqlx::query_scalar::<_, i32>(hours).fetch_one(&mut *tx).await.unwrap(), 6, "as long as the module says");
}
