//! The fixture tools that ask the client something and go on when it comes back (`input_required`).

use kernel::Secret;
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult, InputResponses},
    service::RequestContext,
};
use serde_json::{Value, json};

use super::tools::has_capability;

pub(super) const NAMES: &[&str] = &[
    "test_streaming_elicitation",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

pub(super) fn call(request: &CallToolRequestParams, context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let name = || question("What is your name?", "name", "string");
    let given = Given(request.input_responses.as_ref());
    let state = request.request_state.as_deref();
    Ok(match request.name.trim_start_matches("test_input_required_result_") {
        "test_streaming_elicitation" | "elicitation" => match given.field("user_name", "name") {
            Some(name) => done(&format!("Hello, {}!", name.as_str().unwrap_or_default())),
            None => ask(json!({ "user_name": name() }), None),
        },
        "sampling" => match given.answer("capital_question") {
            Some(answer) => done(answer["content"]["text"].as_str().unwrap_or_default()),
            None => ask(json!({ "capital_question": sampling("What is the capital of France?") }), None),
        },
        "list_roots" => match given.answer("client_roots") {
            Some(answer) => done(&format!("Roots: {}", answer["roots"])),
            None => ask(json!({ "client_roots": roots() }), None),
        },
        "request_state" | "tampered_state" => match (given.field("confirm", "ok"), state) {
            (Some(_), Some(state)) => {
                opened(state)?;
                done("state-ok")
            }
            _ => ask(json!({ "confirm": question("Please confirm", "ok", "boolean") }), Some("asked")),
        },
        "multiple_inputs" => {
            let all = ["user_name", "greeting", "client_roots"];
            if all.iter().all(|key| given.answer(key).is_some()) && state.map(opened).transpose()?.is_some() {
                done("All of it came.")
            } else {
                let requests =
                    json!({ "user_name": name(), "greeting": sampling("Generate a greeting"), "client_roots": roots() });
                ask(requests, Some("asked"))
            }
        }
        "multi_round" => {
            let reached = state.map(opened).transpose()?;
            let second =
                || ask(json!({ "step2": question("Step 2: What is your favorite color?", "color", "string") }), Some("second"));
            match reached.as_deref() {
                Some("second") if given.field("step2", "color").is_some() => done("Both steps are done."),
                Some("second") => second(),
                Some("first") if given.field("step1", "name").is_some() => second(),
                _ => ask(json!({ "step1": question("Step 1: What is your name?", "name", "string") }), Some("first")),
            }
        }
        "capabilities" => {
            let mut requests = json!({});
            if has_capability(context, "sampling") {
                requests["greeting"] = sampling("Generate a greeting");
            }
            if has_capability(context, "elicitation") {
                requests["user_name"] = name();
            }
            ask(requests, None)
        }
        _ => done("Done."),
    })
}

/// What the client has answered so far. It is attacker's input: anything that is not an answer counts as none.
pub(super) struct Given<'a>(pub(super) Option<&'a InputResponses>);

impl Given<'_> {
    fn answer(&self, key: &str) -> Option<&Value> {
        self.0?.get(key).filter(|answer| answer.is_object())
    }

    /// A field of a form that was accepted.
    pub(super) fn field(&self, key: &str, field: &str) -> Option<&Value> {
        let answer = self.answer(key).filter(|answer| answer["action"] == "accept")?;
        answer["content"].get(field)
    }
}

fn done(words: &str) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(words)]).into()
}

fn ask(requests: Value, state: Option<&str>) -> CallToolResponse {
    required(requests, state).into()
}

pub(super) fn required(requests: Value, state: Option<&str>) -> InputRequiredResult {
    InputRequiredResult::new(Some(serde_json::from_value(requests).unwrap()), state.map(sealed))
}

pub(super) fn question(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] });
    json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } })
}

fn sampling(text: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 100 } })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

/// The state with a signature.
fn sealed(state: &str) -> String {
    format!("{state}.{}", Secret::new(format!("a key of this test:{state}")).sha256_hex())
}

fn opened(sealed_state: &str) -> Result<String, ErrorData> {
    let state = sealed_state.split_once('.').map(|(state, _)| state).filter(|state| sealed(state) == sealed_state);
    state.map(ToOwned::to_owned).ok_or_else(|| ErrorData::invalid_params("this request state is not ours", None))
}
