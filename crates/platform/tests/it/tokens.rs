//! Tokens: only their hash is stored, and a dead one is like an unknown one.

use jiff::SignedDuration;
use kernel::{Bundle, Scopes, Secret, WorkspaceId};
use platform::{SqlModule, install, scopes, tokens};
use testkit::TestDb;

#[tokio::test]
async fn a_token_says_whose_it_is_and_what_it_may_do() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    let (id, token) = tokens::create(db.db.pool(), ours, "laptop", &Scopes::from_iter([Bundle::Read]), None, None).await.unwrap();
    let principal = tokens::authenticate(db.db.pool(), &token).await.unwrap().unwrap();
    assert_eq!((principal.workspace_id, principal.token_id, principal.workspace_name.as_str()), (ours, id, "ours"));
    assert!(principal.scopes.require(scopes::READ).is_ok() && principal.scopes.require(scopes::WRITE).is_err());
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

/// A token whose scopes are stored as they are written here.
async fn stored(db: &TestDb, workspace: WorkspaceId, scopes: &str) -> Result<Secret, sqlx::Error> {
    let token = Secret::new_token();
    sqlx::query("select core.create_token($1, 'old', $2, $3::text[], null)")
        .bind(workspace.uuid())
        .bind(token.sha256_hex())
        .bind(scopes)
        .execute(db.db.pool())
        .await?;
    Ok(token)
}

#[tokio::test]
async fn what_is_not_the_name_of_a_scope_is_not_stored() {
    let db = TestDb::new().await;
    let ours = db.workspace("ours").await;
    for scopes in ["{}", "{read}", "{console,read,write}", "{posting:write,read}", "{a_1:b_2}"] {
        stored(&db, ours, scopes).await.unwrap_or_else(|error| panic!("{scopes}: {error}"));
    }
    for scopes in [
        r#"{""}"#,
        r#"{"read write"}"#,
        "{Read}",
        "{posting:}",
        "{:write}",
        "{a:b:c}",
        "{posting:*}",
        "{null}",
        "{read,null}",
        r#"{"read,write"}"#,
        r#"{"read
"}"#,
        r#"{" read"}"#,
        r#"{read,""}"#,
        "{{read},{write}}",
        "{posting-write}",
    ] {
        let error = stored(&db, ours, scopes).await.unwrap_err().to_string();
        assert!(error.contains("token_scopes_are_names"), "{scopes}: {error}");
    }
}

#[tokio::test]
async fn tokens_from_before_scopes_had_modules_keep_their_rights_and_get_no_others() {
    drop(TestDb::new().await);
    let db = TestDb::empty().await;
    let count = platform::SQL.migrations.iter().position(|file| file.name == "0012_scope_names").unwrap();
    let before = SqlModule { migrations: &platform::SQL.migrations[..count], ..platform::SQL };
    install(&mut db.owner().await, &[before]).await.unwrap();
    let ours = db.workspace("ours").await;
    let cases = [
        ("{read}", [true, false, false]),
        ("{write}", [false, true, false]),
        ("{console}", [false, false, true]),
        ("{console,read,write}", [true, true, true]),
        ("{everything}", [false, false, false]),
        (r#"{read,null,"Read Write",*,""}"#, [true, false, false]),
        ("{}", [false, false, false]),
    ];
    let mut old = Vec::new();
    for (scopes, may) in cases {
        old.push((stored(&db, ours, scopes).await.unwrap(), may, scopes));
    }
    install(&mut db.owner().await, &[platform::SQL]).await.unwrap();
    for (token, may, stored) in old {
        let principal = tokens::authenticate(db.db.pool(), &token).await.unwrap().unwrap();
        let has = [scopes::READ, scopes::WRITE, scopes::CONSOLE].map(|scope| principal.scopes.contains(scope));
        assert_eq!(has, may, "{stored}");
        assert!(tokens::revoke(db.db.pool(), ours, principal.token_id).await.unwrap(), "{stored}");
    }
}
