//! `POST /control/faults`, `GET /control/faults` and `DELETE /control/faults`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::faults::{Drop, Fault, Provider};
use crate::random::Random;
use crate::simulators::World;

use super::fields::Fields;
use super::{Answer, respond};

pub(super) const DELAY_MS_MAX: u64 = 600_000;
/// The same faults in every run unless the test brings a seed of its own.
const SEED_DEFAULT: u64 = 1;

pub(super) async fn add(State(world): State<Arc<World>>, body: Bytes) -> Response {
    respond(read(&body).and_then(|fault| {
        let id = world.faults.add(fault).ok_or("faults: the queue is full")?;
        Ok(json!({"id": id, "queued": world.faults.list()}))
    }))
}

pub(super) async fn list(State(world): State<Arc<World>>) -> Response {
    respond(Answer::Ok(json!({"faults": world.faults.list()})))
}

/// Nothing goes wrong from now on; the ledgers and everything else stay.
pub(super) async fn clear(State(world): State<Arc<World>>) -> Response {
    world.faults.reset();
    respond(Answer::Ok(json!({"faults": []})))
}

fn read(body: &[u8]) -> Result<Fault, String> {
    let mut fields = Fields::read(body)?;
    let provider: Provider = fields.need("provider")?;
    let rate: Option<f64> = fields.take("rate")?;
    let times: Option<u64> = fields.take("times")?;
    let fault = Fault {
        id: 0,
        provider,
        target: fields.take_target("target")?,
        method: fields.take("method")?,
        status: fields.take("status")?,
        body: fields.take("body")?,
        retry_after: fields.take("retry_after")?,
        delay_ms: fields.take("delay_ms")?,
        drop: read_drop(fields.take("drop")?)?,
        // A share of the requests goes wrong until reset; a plain fault is used up.
        times: times.or(if rate.is_some() { None } else { Some(1) }),
        rate,
        random: Random::seeded(fields.take("seed")?.unwrap_or(SEED_DEFAULT)),
    };
    fields.finish()?;
    if fault.times == Some(0) {
        return Err("times: must be at least 1".to_owned());
    }
    if fault.rate.is_some_and(|rate| !(0.0..=1.0).contains(&rate)) {
        return Err("rate: must be between 0 and 1".to_owned());
    }
    if fault.status.is_some_and(|status| !(200..=599).contains(&status)) {
        return Err("status: must be between 200 and 599".to_owned());
    }
    if fault.delay_ms.is_some_and(|delay| delay > DELAY_MS_MAX) {
        return Err(format!("delay_ms: must be at most {DELAY_MS_MAX}"));
    }
    if fault.status.is_none() && fault.drop.is_none() && fault.delay_ms.is_none() {
        return Err("status: must be given, unless there is drop or delay_ms".to_owned());
    }
    if fault.status.is_none() && (fault.body.is_some() || fault.retry_after.is_some()) {
        return Err("status: must be given with body or retry_after".to_owned());
    }
    Ok(fault)
}

pub(super) fn read_drop(given: Option<Value>) -> Result<Option<Drop>, String> {
    match given {
        None | Some(Value::Bool(false)) => Ok(None),
        Some(Value::Bool(true)) => Ok(Some(Drop::After)),
        Some(Value::String(when)) if when == "after" => Ok(Some(Drop::After)),
        Some(Value::String(when)) if when == "before" => Ok(Some(Drop::Before)),
        Some(_) => Err("drop: must be true, \"before\" or \"after\"".to_owned()),
    }
}
