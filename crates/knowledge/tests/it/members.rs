//! Who is a member, whatever the order in which that is told.

use serde_json::{Value, json};

use crate::world::{Archive, GROUP, MEMBER, message};

fn changed(update_id: i64, status: &str, date: i64) -> Value {
    json!({"update_id": update_id, "chat_member": {"chat": {"id": GROUP, "type": "supergroup", "title": "Отдел продаж"}, "date": date,
        "from": {"id": 1, "first_name": "A"}, "old_chat_member": {"user": {"id": MEMBER}, "status": "member"},
        "new_chat_member": {"user": {"id": MEMBER, "first_name": "Анна"}, "status": status}}})
}

async fn is_member(archive: &Archive) -> Value {
    archive.ask(&format!("(select is_member from tg.chat_memberships_current where tg_user_id = {MEMBER})")).await
}

#[tokio::test]
async fn leaving_ends_membership_with_the_next_request() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "я здесь")).await;
    assert_eq!(is_member(&archive).await, true);
    archive.process(&changed(2, "left", 1_790_000_500)).await;
    assert_eq!(is_member(&archive).await, false);
    let (status, _) = archive.call("WF00c", json!({"tg_user_id": MEMBER, "chat_id": GROUP, "channel": "group"})).await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn an_old_event_after_a_new_one_changes_nothing() {
    let archive = Archive::new().await;
    archive.process(&changed(2, "left", 1_790_000_500)).await;
    archive.process(&changed(1, "member", 1_790_000_400)).await;
    archive.process(&message(3, 1, "старое сообщение")).await;
    assert_eq!(is_member(&archive).await, false);
    assert_eq!(archive.count("tg.chat_member_events").await, 2);
}

#[tokio::test]
async fn an_event_that_comes_again_is_there_once() {
    let archive = Archive::new().await;
    for _ in 0..3 {
        archive.process(&changed(1, "administrator", 1_790_000_400)).await;
    }
    assert_eq!(archive.count("tg.chat_member_events").await, 1);
    archive.process(&message(3, 900, "пишет")).await;
    let status = archive.ask("(select status from tg.chat_memberships_current)").await;
    assert_eq!(status, "administrator", "a message says nothing about the rank");
}

#[tokio::test]
async fn what_a_person_said_in_the_second_in_which_they_left_does_not_bring_them_back() {
    for left_first in [true, false] {
        let archive = Archive::new().await;
        let updates = [changed(2, "left", 1_790_000_005), message(1, 5, "всем пока")];
        for at in if left_first { [0, 1] } else { [1, 0] } {
            archive.process(&updates[at]).await;
        }
        assert_eq!(is_member(&archive).await, false, "left first: {left_first}");
    }
}

#[tokio::test]
async fn an_administrator_who_becomes_a_member_is_one() {
    let archive = Archive::new().await;
    archive.process(&changed(1, "administrator", 1_790_000_400)).await;
    archive.process(&changed(2, "member", 1_790_000_500)).await;
    archive.process(&message(3, 600, "пишет")).await;
    assert_eq!(archive.ask("(select status from tg.chat_memberships_current)").await, "member");
}
