//! What the machine can do at most: the paths of actions on plain axum, with a broadcast channel for each chat in memory.
//! Nothing is written, checked or kept. What a watcher was not there for is gone, and so is everything when the process ends.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Result;
use axum::{
    Router,
    body::Bytes,
    extract::{Path, State},
    response::sse::{Event, KeepAlive, Sse},
    routing::{get, post},
};
use futures::{Stream, StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::broadcast;

#[derive(Clone, Default)]
struct Chats(Arc<Mutex<Rooms>>);

#[derive(Default)]
struct Rooms {
    channels: HashMap<String, broadcast::Sender<Arc<str>>>,
    /// The chat of each action.
    actions: HashMap<String, String>,
}

impl Chats {
    fn with<T>(&self, what: impl FnOnce(&mut Rooms) -> T) -> T {
        what(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tell(&self, chat: &str, action: Value) {
        let event: Arc<str> = json!({"type": "action", "action": action}).to_string().into();
        self.with(|state| {
            if let Some(channel) = state.channels.get(chat) {
                let _ = channel.send(event);
            }
        });
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let router = Router::new()
        .route("/api/chat/actions/start", post(start))
        .route("/api/chat/actions/update", post(update))
        .route("/api/chats/{chat}/events", get(watch))
        .with_state(Chats::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("plain_broadcast serves on http://{}", listener.local_addr()?);
    use axum::serve::ListenerExt;
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, router).await?)
}

async fn start(State(chats): State<Chats>, body: Bytes) -> String {
    let action: Value = serde_json::from_slice(&body).unwrap_or_default();
    let name = |key: &str| action[key].as_str().unwrap_or_default().to_owned();
    let (chat, id) = (name("chatId"), name("actionId"));
    chats.with(|state| state.actions.insert(id, chat.clone()));
    chats.tell(&chat, action.clone());
    action.to_string()
}

async fn update(State(chats): State<Chats>, body: Bytes) -> String {
    let action: Value = serde_json::from_slice(&body).unwrap_or_default();
    let chat = chats.with(|state| state.actions.remove(action["actionId"].as_str().unwrap_or_default()));
    chats.tell(&chat.unwrap_or_default(), action.clone());
    action.to_string()
}

async fn watch(State(chats): State<Chats>, Path(chat): Path<String>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let receiver = chats.with(|state| state.channels.entry(chat).or_insert_with(|| broadcast::channel(1024).0).subscribe());
    let live = stream::unfold(receiver, |mut receiver| async {
        let event = receiver.recv().await.ok()?;
        Some((Ok(Event::default().data(&*event)), receiver))
    });
    let hello = stream::iter([Ok(Event::default().comment("hello"))]);
    Sse::new(hello.chain(live)).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}
