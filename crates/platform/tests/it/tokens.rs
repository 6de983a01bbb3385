//! Tokens: only their hash is stored, and a dead one is like an unknown one.

use jiff::SignedDuration;
use kernel::{Scope, Scopes, Secret};
use platform::tokens;
use testkit::TestDb;

#[tokio::test]
async fn a_token_says_whose_it_is_and_what_it_may_do() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    let (id, token) = tokens::create(db.db.pool(), ours, "laptop", &Scopes::from_iter([Scope::Read]), None, None).await.unwrap();
    let principal = tokens::authenticate(db.db.pool(), &token).await.unwrap().unwrap();
    assert_eq!((principal.workspace_id, principal.token_id, principal.workspace_name.as_str()), (ours, id, "ours"));
    assert!(principal.scopes.require(Scope::Read).is_ok() && principal.scopes.require(Scope::Write).is_err());
    assert_eq!(tokens::authenticate(db.db.pool(), &Secret::new_token()).await.unwrap(), None);
}

#[tokio::test]
async fn the_token_itself_is_nowhere_in_the_database() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    let (_, token) = tokens::create(db.db.pool(), ours, "laptop", &Scopes::all(), None, None).await.unwrap();
    let found: i64 = sqlx::query_scalar(
        "select (select count(*) from core.api_tokens t where t::text like '%' || $1 || '%')
              + (select count(*) from ops.journal j where j::text like '%' || $1 || '%')",
    )
    .bind(token.expose())
    .fetch_one(db.db.pool())
    .await
    .unwrap();
    assert_eq!(found, 0);
}

#[tokio::test]
async fn a_revoked_and_an_expired_token_are_unknown() {
    let db = TestDb::frozen().await;
    let ours = db.workspace("ours").await;
    let (id, revoked) = tokens::create(db.db.pool(), ours, "a", &Scopes::all(), None, None).await.unwrap();
    let expires_at = db.clock.now() + SignedDuration::from_hours(1);
    let (_, expiring) = tokens::create(db.db.pool(), ours, "b", &Scopes::all(), Some(expires_at), None).await.unwrap();
    assert!(tokens::revoke(db.db.pool(), ours, id).await.unwrap());
    assert!(!tokens::revoke(db.db.pool(), ours, id).await.unwrap());
    assert_eq!(tokens::authenticate(db.db.pool(), &revoked).await.unwrap(), None);
    assert!(tokens::authenticate(db.db.pool(), &expiring).await.unwrap().is_some());
    db.clock.advance(SignedDuration::from_hours(1));
    assert_eq!(tokens::authenticate(db.db.pool(), &expiring).await.unwrap(), None);
}

#[tokio::test]
async fn the_tokens_of_a_disabled_workspace_are_unknown() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    let (_, token) = tokens::create(db.db.pool(), ours, "a", &Scopes::all(), None, None).await.unwrap();
    sqlx::query("update core.workspaces set status = 'disabled' where workspace_id = $1")
        .bind(ours.uuid())
        .execute(db.db.pool())
        .await
        .unwrap();
    assert_eq!(tokens::authenticate(db.db.pool(), &token).await.unwrap(), None);
}

#[tokio::test]
async fn a_token_may_name_the_person_whose_it_is() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    let (_, of_anna) = tokens::create(db.db.pool(), ours, "assistant", &Scopes::all(), None, Some("Анна")).await.unwrap();
    let (_, of_nobody) = tokens::create(db.db.pool(), ours, "program", &Scopes::all(), None, None).await.unwrap();
    let person = async |token| tokens::authenticate(db.db.pool(), token).await.unwrap().unwrap().person;
    assert_eq!((person(&of_anna).await.as_deref(), person(&of_nobody).await), (Some("Анна"), None));
    for name in ["", " ", "a\nb", &"x".repeat(65)] {
        assert!(tokens::create(db.db.pool(), ours, "t", &Scopes::all(), None, Some(name)).await.is_err(), "{name:?}");
    }
}
