//! WF00c: who may ask.

use serde_json::{Value, json};

use crate::world::{ADMIN, Archive, GROUP, MEMBER, OUTSIDER, message};

async fn load(archive: &Archive, user: i64, chat: Value, channel: &str) -> (u16, Value) {
    archive.call("WF00c", json!({"tg_user_id": user, "chat_id": chat, "channel": channel})).await
}

#[tokio::test]
async fn a_member_on_the_allowlist_gets_its_context_and_the_policy_of_the_chat() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "я здесь")).await;
    let (status, body) = load(&archive, MEMBER, json!(GROUP), "group").await;
    assert_eq!(status, 200, "{body}");
    let ctx = &body["data"]["ctx"];
    assert_eq!((&ctx["role"], &ctx["is_allowed"], &ctx["visibility"]), (&json!("user"), &json!(true), &json!("group")));
    assert_eq!((&ctx["tg_user_id"], &ctx["chat_id"], &ctx["dm_owner_user_id"]), (&json!(MEMBER), &json!(GROUP), &Value::Null));
    assert_eq!(
        ctx["chat_policy"],
        json!({"allow_url_fetch": true, "allow_file_download": true, "allow_embedding": true,
        "retention_days_raw": 90, "retention_days_documents": 3650})
    );
    assert!(ctx["correlation_id"].is_string());
}

#[tokio::test]
async fn whoever_is_unknown_blocked_or_no_member_is_a_403() {
    let archive = Archive::new().await;
    assert_eq!(load(&archive, OUTSIDER, json!(GROUP), "group").await.0, 403);
    assert_eq!(load(&archive, OUTSIDER, Value::Null, "dm").await.0, 403);
    let (status, body) = load(&archive, ADMIN, json!(GROUP), "group").await;
    assert_eq!((status, &body["error"]["kind"]), (403, &json!("auth")), "an admin who is no member: {body}");
    archive.process(&message(1, 1, "я здесь")).await;
    archive.run(&format!("update core.tenant_users set role = 'blocked' where tg_user_id = {MEMBER}")).await;
    assert_eq!(load(&archive, MEMBER, json!(GROUP), "group").await.0, 403);
}

#[tokio::test]
async fn a_chat_that_is_not_registered_or_disabled_is_a_404() {
    let archive = Archive::new().await;
    archive.process(&message(1, 1, "я здесь")).await;
    assert_eq!(load(&archive, MEMBER, json!(-42), "group").await.0, 404);
    archive.run("update core.tenant_chats set status = 'disabled'").await;
    assert_eq!(load(&archive, MEMBER, json!(GROUP), "group").await.0, 404);
}

#[tokio::test]
async fn in_private_the_asker_owns_what_is_there() {
    let archive = Archive::new().await;
    let (_, body) = load(&archive, MEMBER, json!(MEMBER), "dm").await;
    assert_eq!(body["data"]["ctx"]["dm_owner_user_id"], MEMBER);
    assert_eq!(body["data"]["ctx"]["visibility"], "dm");
}
