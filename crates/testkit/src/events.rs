//! The events that modules tell the outside, as tests look at them.

use kernel::WorkspaceId;
use serde_json::Value;

use crate::TestDb;

/// A subscription that asks for every event of a workspace. Nothing is sent.
pub async fn subscribe(test: &TestDb, workspace: WorkspaceId) {
    let query = "insert into core.webhook_subscriptions (workspace_id, name, url, secret_ref, events)
                 values ($1, 'everything', 'https://example.org/', 'env:NONE', '{*}')";
    sqlx::query(query).bind(workspace.uuid()).execute(test.db.pool()).await.expect("a subscription");
}

/// What was told so far: the types, each of which a module has declared, and the data, oldest first.
pub async fn told(test: &TestDb) -> Vec<(String, Value)> {
    let query = "select d.event_type, d.body::jsonb->'data', t.event_type is not null from ops.webhook_deliveries d
                   left join ops.event_types t using (event_type) order by d.created_at, d.event_type, d.body";
    let rows: Vec<(String, Value, bool)> = sqlx::query_as(query).fetch_all(test.db.pool()).await.expect("deliveries");
    let told = |(event_type, data, is_declared): (String, Value, bool)| {
        assert!(is_declared, "no migration declares {event_type}");
        (event_type, data)
    };
    rows.into_iter().map(told).collect()
}

/// The types of what was told so far, in one line.
pub async fn types(test: &TestDb) -> String {
    told(test).await.into_iter().map(|(event_type, _)| event_type).collect::<Vec<_>>().join(", ")
}
