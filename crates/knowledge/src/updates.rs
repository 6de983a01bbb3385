//! WF10 as the webhook of a bot that serves knowledge: an update is stored and acknowledged with its envelope.

use axum::response::Response;
use platform::{
    door::{BotModule, BotUpdate},
    http::{App, Failure, parse_json},
};
use serde_json::Value;

use crate::{Knowledge, http::workflows as envelopes, workflows};

pub(crate) fn bot_module(knowledge: Knowledge) -> BotModule {
    BotModule::answering("knowledge", move |_: App, update| receive(knowledge.clone(), update))
}

/// Whatever comes with the right secret is acknowledged; what cannot be read is kept and shown. Only while it cannot be stored is
/// the provider asked to come again.
async fn receive(knowledge: Knowledge, update: BotUpdate) -> Result<Response, Failure> {
    let parsed = match &update.oversize {
        Some(problem) => Err(problem.clone()),
        None => parse_json(&update.body).map_err(|problem| problem.message),
    };
    let parsed = parsed.and_then(|body| if body.is_object() { Ok(body) } else { Err("the update is not an object".to_owned()) });
    let given = parsed.as_ref().map_err(|problem| (&*update.body, problem.as_str()));
    let trace = update.trace.to_string();
    let data = workflows::take(&knowledge, update.workspace, update.bot_id, given, &trace).await?;
    let meta = envelopes::meta("WF10", &Value::Null, &update.trace, update.workspace);
    Ok(envelopes::respond(Ok(data), meta))
}
