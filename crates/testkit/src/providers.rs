//! A world with the simulated providers on a socket, and the control plane by which a test steers them.

use std::{fmt::Display, ops::Deref};

use platform::SqlModule;
use serde_json::{Value, json};
use simulators::Simulators;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{World, http::client};

pub struct WorldWithProviders {
    world: World,
    /// Where they are: `/telegram`, `/max`, `/gemini/v1beta`, `/openai/v1`, `/web` and `/control`.
    pub base: String,
    client: reqwest::Client,
    _stop: DropGuard,
}

impl Deref for WorldWithProviders {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl WorldWithProviders {
    pub async fn new(modules: &[SqlModule]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let stop = CancellationToken::new();
        tokio::spawn(simulators::serve(listener, Simulators::new(), stop.clone()));
        let world = World::new(modules).await;
        for (provider, token) in [("telegram", "123456:test-token"), ("max", "max-test-token")] {
            std::fs::write(world.files.path().join(provider), token).expect("a token is written");
        }
        Self { world, base, client: client(), _stop: stop.drop_guard() }
    }

    pub fn gemini_url(&self) -> String {
        format!("{}/gemini/v1beta", self.base)
    }

    pub fn openai_url(&self) -> String {
        format!("{}/openai/v1", self.base)
    }

    /// The address of a page of the simulated web site, set with `control("pages", …)`.
    pub fn web_url(&self, path: &str) -> String {
        format!("{}/web/{}", self.base, path.trim_start_matches('/'))
    }

    /// Where a module finds the token of a provider.
    pub fn secret_ref(&self, provider: &str) -> String {
        format!("file:{}", self.files.path().join(provider).display())
    }

    pub async fn control(&self, path: &str, body: Value) -> Value {
        let request = self.client.post(format!("{}/control/{path}", self.base)).json(&body);
        request.send().await.expect("the simulators answer").json().await.unwrap_or_default()
    }

    /// The next calls to a target fail like this.
    pub async fn fault(&self, provider: &str, target: impl Copy + Display, fault: Value) {
        let mut body = json!({ "provider": provider, "target": target.to_string() });
        body.as_object_mut().expect("an object").extend(fault.as_object().expect("an object").clone());
        self.control("faults", body).await;
    }

    /// What a provider accepted for a target, oldest first.
    pub async fn sent(&self, provider: &str, target: impl Copy + Display) -> Vec<Value> {
        let url = format!("{}/control/sent?provider={provider}&target={target}", self.base);
        let answer: Value = self.client.get(url).send().await.expect("the simulators answer").json().await.expect("JSON");
        answer["sent"].as_array().cloned().unwrap_or_default()
    }
}
