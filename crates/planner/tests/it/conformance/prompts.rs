//! The fixture prompts.

use rmcp::{
    ErrorData,
    model::{
        ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
    },
};
use serde_json::{Value, json};

use super::{
    rounds::{Given, question, required},
    tools::PNG,
};

pub(super) fn list() -> Vec<Prompt> {
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments: Vec<_> = arguments.iter().map(|name| PromptArgument::new(*name).with_required(true)).collect();
        Prompt::new(name, Some("A fixture of the conformance suite."), Some(arguments).filter(|arguments| !arguments.is_empty()))
    };
    vec![
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
        prompt("test_input_required_result_prompt", &[]),
    ]
}

pub(super) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
        value.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let user = |content| PromptMessage::new(Role::User, content);
    let text = |words: &str| user(ContentBlock::text(words));
    let messages = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            vec![text(&format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2")))]
        }
        "test_prompt_with_embedded_resource" => {
            let resource = ContentBlock::embedded_text(argument("resourceUri"), "Embedded resource content for testing.");
            vec![user(resource), text("Please process the embedded resource above.")]
        }
        "test_prompt_with_image" => vec![user(ContentBlock::image(PNG, "image/png")), text("Please analyze the image above.")],
        "test_input_required_result_prompt" => {
            let Some(given) = Given(request.input_responses.as_ref()).field("user_context", "context").cloned() else {
                let form = question("What context should the prompt use?", "context", "string");
                return Ok(required(json!({ "user_context": form }), None).into());
            };
            vec![text(&format!("Prompt with context: {given}"))]
        }
        other => return Err(ErrorData::invalid_params(format!("Unknown prompt: {other}"), None)),
    };
    Ok(GetPromptResult::new(messages).into())
}
