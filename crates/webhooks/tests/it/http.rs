//! `/api/webhooks`: the API as a program calls it.

use axum::{Router, body::Body, http::Request};
use kernel::{Bundle, Scopes, Secret, WorkspaceId};
use platform::{
    bus::Bus,
    http::{App, Limits, wrap},
    objects::{Objects, Place},
    tokens,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use utoipa::OpenApi;

use crate::world::World;

struct Api {
    router: Router,
    token: Secret,
}

impl Api {
    async fn new(world: &World, workspace: WorkspaceId, scopes: &[Bundle]) -> Self {
        let db = world.test.db.clone();
        let objects = Objects::open(&Place::Files { dir: world.files.path().join("objects") }).unwrap();
        let scopes: Scopes = scopes.iter().copied().collect();
        let (_, token) = tokens::create(db.pool(), workspace, "a program", &scopes, None, None).await.unwrap();
        let app = App { bus: Bus::new(db.clone()), objects, stop: CancellationToken::new(), db };
        let router = wrap(webhooks::http::router(world.desk.clone()), Limits::default()).with_state(app);
        Self { router, token }
    }

    async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = Request::builder().method(method).uri(path);
        request = request.header("authorization", format!("Bearer {}", self.token.expose()));
        let body = body.map_or(Body::empty(), |body| Body::from(body.to_string()));
        let request = request.header("content-type", "application/json").body(body).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }

    async fn post(&self, path: &str, body: Option<Value>) -> (u16, Value) {
        self.ask("POST", path, body).await
    }

    async fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, None).await;
        assert_eq!(status, 200, "{path}: {body}");
        body["data"].clone()
    }
}

#[tokio::test]
async fn a_program_adds_tests_watches_resends_pauses_and_removes_a_webhook() {
    let world = World::new().await;
    let api = Api::new(&world, world.workspace, &[Bundle::Read, Bundle::Write]).await;
    let known = api.get("/api/webhooks/events").await;
    assert!(known["events"].as_array().unwrap().iter().any(|event| event["event_type"] == "alert.raised"), "{known}");
    let new = json!({ "name": "crm", "url": format!("{}/crm", world.receiver.base), "events": ["post.*"] });
    let (status, added) = api.post("/api/webhooks", Some(new.clone())).await;
    assert_eq!(status, 201, "{added}");
    assert!(added["data"]["secret"].as_str().unwrap().starts_with("whsec_"));
    let (status, again) = api.post("/api/webhooks", Some(new)).await;
    assert_eq!((status, again["error"]["details"]["field"].as_str()), (422, Some("name")));
    let (status, tested) = api.post("/api/webhooks/crm/test", None).await;
    assert_eq!(status, 202);
    let id = tested["data"]["delivery_id"].as_str().unwrap().to_owned();
    world.drain().await;
    let delivery = api.get(&format!("/api/webhooks/deliveries/{id}")).await;
    assert_eq!((delivery["delivery"]["status"].as_str(), &delivery["attempts"][0]["status"]), (Some("delivered"), &json!(204)));
    let (status, resent) = api.post(&format!("/api/webhooks/deliveries/{id}/resend"), None).await;
    assert_eq!(status, 202, "{resent}");
    let list = api.get("/api/webhooks/deliveries?status=queued&event_type=webhook.test").await;
    assert_eq!((list["deliveries"].as_array().unwrap().len(), &list["deliveries"][0]["resend_of"]), (1, &json!(id)));
    let (status, paused) = api.post("/api/webhooks/crm/pause", Some(json!({ "reason": "call anna@example.org" }))).await;
    assert_eq!((status, paused["data"]["webhook"]["stopped_why"].as_str()), (200, Some("call [email]")));
    assert_eq!(api.post("/api/webhooks/crm/test", None).await.0, 409);
    assert_eq!(api.post("/api/webhooks/crm/enable", None).await.0, 200);
    let (status, rotated) = api.post("/api/webhooks/crm/rotate", None).await;
    assert!(status == 200 && rotated["data"]["secret"] != added["data"]["secret"], "{rotated}");
    let listed = api.get("/api/webhooks").await;
    assert_eq!((listed["webhooks"][0]["name"].as_str(), &listed["webhooks"][0]["delivered"]), (Some("crm"), &json!(1)));
    assert!(!listed.to_string().contains("whsec_") && !listed.to_string().contains("secret_ref"), "{listed}");
    assert_eq!(api.ask("DELETE", "/api/webhooks/crm", None).await.0, 200);
    assert_eq!(api.ask("DELETE", "/api/webhooks/crm", None).await.0, 404);
}

#[tokio::test]
async fn a_page_of_deliveries_leads_to_the_next() {
    let world = World::with_webhook().await;
    world.emit_many(5).await;
    let api = Api::new(&world, world.workspace, &[Bundle::Read]).await;
    let mut path = "/api/webhooks/deliveries?limit=2".to_owned();
    let mut sizes = Vec::new();
    loop {
        let page = api.get(&path).await;
        sizes.push(page["deliveries"].as_array().unwrap().len());
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/webhooks/deliveries?limit=2&before={next}");
    }
    assert_eq!(sizes, [2, 2, 1]);
    assert_eq!(api.ask("GET", "/api/webhooks/deliveries?status=sent", None).await.0, 422);
}

#[tokio::test]
async fn a_token_reads_or_writes_as_its_scopes_say_and_sees_no_other_workspace() {
    let world = World::with_webhook().await;
    world.emit_many(1).await;
    world.drain().await;
    let id = world.delivery().await["delivery_id"].as_str().unwrap().to_owned();
    let reader = Api::new(&world, world.workspace, &[Bundle::Read]).await;
    let changes = ["/api/webhooks/all/test", "/api/webhooks/all/enable", "/api/webhooks/all/rotate"];
    for path in changes.into_iter().chain([format!("/api/webhooks/deliveries/{id}/resend").as_str()]) {
        assert_eq!(reader.post(path, None).await.0, 403, "{path}");
    }
    assert_eq!(reader.ask("DELETE", "/api/webhooks/all", None).await.0, 403);
    let writer = Api::new(&world, world.workspace, &[Bundle::Write]).await;
    assert_eq!(writer.ask("GET", "/api/webhooks", None).await.0, 403);
    let other = world.test.workspace("other").await;
    let stranger = Api::new(&world, other, &[Bundle::Read, Bundle::Write]).await;
    assert_eq!(stranger.get("/api/webhooks").await["webhooks"], json!([]));
    assert_eq!(stranger.get("/api/webhooks/deliveries").await["deliveries"], json!([]));
    for path in changes.into_iter().chain([format!("/api/webhooks/deliveries/{id}/resend").as_str()]) {
        assert_eq!(stranger.post(path, None).await.0, 404, "{path}");
    }
}

#[tokio::test]
async fn a_secret_cannot_be_named_through_the_api() {
    let world = World::new().await;
    let api = Api::new(&world, world.workspace, &[Bundle::Write]).await;
    let new = json!({ "name": "a", "url": "https://example.org/", "events": ["*"], "secret_ref": "env:OTHERS_SECRET" });
    assert_eq!(api.post("/api/webhooks", Some(new)).await.0, 422);
}

#[test]
fn every_path_is_described() {
    let document = platform::http::docs::openapi_json(&webhooks::http::Docs::openapi(), webhooks::scopes::ALL);
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["paths"].as_object().unwrap().len(), 10);
}
