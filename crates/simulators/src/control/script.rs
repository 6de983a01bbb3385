//! `POST /control/answers` and `POST /control/transcripts`: what the models say next.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::faults::Provider;
use crate::models::{AnswerScript, Segment, TranscriptScript};
use crate::simulators::World;

use super::fields::Fields;
use super::{Answer, respond};

/// A scripted text without times is said at this pace.
const WORD_SECONDS: u32 = 1;

pub(super) async fn answers(State(world): State<Arc<World>>, body: Bytes) -> Response {
    respond(add_answer(&world, &body))
}

fn add_answer(world: &World, body: &[u8]) -> Answer {
    let mut fields = Fields::read(body)?;
    let provider: Provider = fields.need("provider")?;
    let text: Option<String> = fields.take("text")?;
    let json: Option<Value> = fields.take("json")?;
    let blocked: Option<String> = fields.take("blocked")?;
    let finish: Option<String> = fields.take("finish")?;
    let is_cut = fields.take("cut")?.unwrap_or(false);
    let times = times(&mut fields)?;
    fields.finish()?;
    let text = match (text, json) {
        (Some(_), Some(_)) => return Err("json: excludes text".to_owned()),
        (Some(text), None) => text,
        (None, Some(json)) => json.to_string(),
        (None, None) if blocked.is_some() || finish.is_some() => String::new(),
        (None, None) => return Err("text: must be given, or json, finish or blocked".to_owned()),
    };
    let script = AnswerScript { text, finish, blocked, is_cut };
    let queue = match provider {
        Provider::Gemini => &world.gemini.answers,
        Provider::Openai => &world.openai.answers,
        _ => return Err("provider: must be gemini or openai".to_owned()),
    };
    queued(queue.add(script, times))
}

pub(super) async fn transcripts(State(world): State<Arc<World>>, body: Bytes) -> Response {
    respond(add_transcript(&world, &body))
}

fn add_transcript(world: &World, body: &[u8]) -> Answer {
    let mut fields = Fields::read(body)?;
    if fields.take::<Provider>("provider")?.is_some_and(|provider| provider != Provider::Openai) {
        return Err("provider: must be openai".to_owned());
    }
    let text: Option<String> = fields.take("text")?;
    let segments: Option<Vec<Segment>> = fields.take("segments")?;
    let duration: Option<f64> = fields.take("duration")?;
    let times = times(&mut fields)?;
    fields.finish()?;
    let segments = match (text, segments) {
        (Some(_), Some(_)) => return Err("segments: exclude text".to_owned()),
        (Some(text), None) => vec![one_segment(text)],
        (None, Some(segments)) => segments,
        (None, None) => return Err("text: must be given, or segments".to_owned()),
    };
    queued(world.openai.transcripts.add(TranscriptScript { segments, duration }, times))
}

fn one_segment(text: String) -> Segment {
    let words = u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX);
    Segment { start: 0.0, end: f64::from(words.max(1).saturating_mul(WORD_SECONDS)), text, speaker: "A".to_owned() }
}

fn times(fields: &mut Fields) -> Result<u64, String> {
    let times = fields.take("times")?.unwrap_or(1);
    if times == 0 { Err("times: must be at least 1".to_owned()) } else { Ok(times) }
}

fn queued(waiting: Option<usize>) -> Answer {
    waiting.map(|waiting| json!({"queued": waiting})).ok_or_else(|| "times: the queue is full".to_owned())
}
