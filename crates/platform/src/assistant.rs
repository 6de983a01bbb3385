//! What a module brings to assistants: tools of the MCP server, which lists and calls them without knowing the module.
//!
//! Guarantee: the request log of the server keeps of a call only what the module says may be kept, because the log outlives what is
//! forgotten: of each text that was given, its length; of an answer, [`McpAnswer::logged`].

use std::{fmt, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use kernel::{Problem, Scope, TraceId, WorkspaceId};
use serde_json::{Map, Value};

/// A call of a tool of a module: whose token it is, and what was given. The scope was looked at.
#[derive(Clone, Debug)]
pub struct McpCall {
    pub workspace: WorkspaceId,
    /// The name of the person that the token names.
    pub person: String,
    pub trace_id: TraceId,
    pub arguments: Map<String, Value>,
}

/// What a tool answers.
#[derive(Clone, Debug, PartialEq)]
pub struct McpAnswer {
    pub fields: Map<String, Value>,
    /// What the request log keeps of it: ids and counts, no content.
    pub logged: Value,
}

/// A refusal that a model reads: what is wrong, and how to correct the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpRefusal {
    pub error: String,
    pub hint: String,
}

impl From<Problem> for McpRefusal {
    fn from(problem: Problem) -> Self {
        let hint = if problem.retryable {
            "Call again with the same arguments in a moment."
        } else {
            "The same call will fail again: correct its arguments, or tell the person who runs this server."
        };
        Self { error: problem.message, hint: hint.to_owned() }
    }
}

type CallFn = Arc<dyn Fn(McpCall) -> BoxFuture<'static, Result<McpAnswer, McpRefusal>> + Send + Sync>;

/// A tool that reads: nothing that belongs to a person is changed by it, so that clients need not ask before they call it. A call
/// that has begun comes to its end, also when its caller has gone.
#[derive(Clone)]
pub struct McpTool {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub scope: Scope,
    /// The properties of its arguments, as JSON Schema, and which of them must be there. Others are refused.
    pub input: Value,
    pub required: &'static [&'static str],
    /// The properties of its answer.
    pub output: Value,
    /// How long a call may take where it has to answer a request.
    pub takes_up_to: Duration,
    call: CallFn,
}

impl McpTool {
    pub fn new<F, R>(name: &'static str, title: &'static str, description: &'static str, scope: Scope, call: F) -> Self
    where
        F: Fn(McpCall) -> R + Send + Sync + 'static,
        R: Future<Output = Result<McpAnswer, McpRefusal>> + Send + 'static,
    {
        let (input, output) = (Value::Object(Map::new()), Value::Object(Map::new()));
        let call: CallFn = Arc::new(move |given| call(given).boxed());
        Self { name, title, description, scope, input, required: &[], output, takes_up_to: Duration::from_secs(30), call }
    }

    #[must_use]
    pub fn input(mut self, properties: Value, required: &'static [&'static str]) -> Self {
        (self.input, self.required) = (properties, required);
        self
    }

    #[must_use]
    pub fn output(mut self, properties: Value) -> Self {
        self.output = properties;
        self
    }

    #[must_use]
    pub fn takes_up_to(mut self, duration: Duration) -> Self {
        self.takes_up_to = duration;
        self
    }

    pub async fn call(&self, given: McpCall) -> Result<McpAnswer, McpRefusal> {
        if let Some(unknown) = given.arguments.keys().find(|name| self.input.get(name.as_str()).is_none()) {
            let known =
                self.input.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
            let shown = kernel::redact::snippet(unknown, 100);
            return Err(McpRefusal {
                error: format!("Unknown argument: {shown}"),
                hint: format!("{} takes: {known}", self.name),
            });
        }
        (self.call)(given).await
    }

    /// Arguments as the request log keeps them: numbers as they are, of everything else how long it is.
    pub fn logged_arguments(&self, arguments: &Map<String, Value>) -> Map<String, Value> {
        let measured = |value: &Value| match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) => Value::from(format!("[{} characters]", text.chars().count())),
            other => Value::from(format!("[{} bytes]", other.to_string().len())),
        };
        let known = arguments.iter().filter(|(name, _)| self.input.get(name.as_str()).is_some());
        known.map(|(name, value)| (name.clone(), measured(value))).collect()
    }
}

impl fmt::Debug for McpTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpTool").field("name", &self.name).field("scope", &self.scope.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use kernel::Bundle;
    use serde_json::json;

    use super::*;

    fn echo() -> McpTool {
        let scope = Scope::new("echo:say", "say", &[Bundle::Read]);
        McpTool::new("echo", "Echo", "Says it again.", scope, |given: McpCall| async move {
            Ok(McpAnswer { fields: given.arguments, logged: Value::Null })
        })
        .input(json!({ "text": { "type": "string" }, "times": { "type": "integer" } }), &["text"])
    }

    #[tokio::test]
    async fn an_argument_that_a_tool_does_not_have_is_refused_with_those_that_it_has() {
        let call = |arguments: Value| McpCall {
            workspace: WorkspaceId::SYSTEM,
            person: "ann".into(),
            trace_id: TraceId::new(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
        };
        let refused = echo().call(call(json!({ "txt": "a" }))).await.unwrap_err();
        assert_eq!((refused.error.as_str(), refused.hint.as_str()), ("Unknown argument: txt", "echo takes: text, times"));
        assert_eq!(echo().call(call(json!({ "text": "a" }))).await.unwrap().fields["text"], "a");
    }

    #[test]
    fn the_log_keeps_how_long_a_text_was_and_not_the_text() {
        let given = json!({ "text": "секрет", "times": 2, "секрет": "секрет" });
        let logged = echo().logged_arguments(given.as_object().unwrap());
        assert_eq!(Value::Object(logged), json!({ "text": "[6 characters]", "times": 2 }));
    }
}
