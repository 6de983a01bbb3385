//! Answers: what is asked, what comes back, and the successes that say nothing.

use kernel::{Category, ErrorKind, ErrorScope};
use llm::{AnswerFinish, AnswerPrompt, Answerer, GeminiAnswerer, GeminiSettings, OpenAiAnswerOptions, OpenAiAnswerer};
use serde_json::{Value, json};

use crate::harness::Fake;

fn prompt() -> AnswerPrompt {
    AnswerPrompt::new("Answer by the notes.", vec!["Question: when?".into(), "Note 1: at noon.".into()], 300)
}

fn gemini(fake: &Fake) -> Answerer {
    GeminiAnswerer::new(fake.gemini("models/gemini-2.5-flash")).unwrap().into()
}

fn openai(fake: &Fake) -> Answerer {
    OpenAiAnswerer::new(fake.openai("gpt-4o-mini"), OpenAiAnswerOptions::default()).unwrap().into()
}

fn gemini_said(parts: &Value, reason: &str) -> Value {
    let usage = json!({"promptTokenCount": 12, "candidatesTokenCount": "7", "thoughtsTokenCount": 5});
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason}], "usageMetadata": usage})
}

fn openai_said(message: &Value, reason: &str) -> Value {
    let usage = json!({"prompt_tokens": 12, "completion_tokens": 12, "total_tokens": 24});
    json!({"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage})
}

#[tokio::test]
async fn an_answer_is_its_text_its_end_and_its_cost() {
    let parts = json!([{"text": "hm, noon", "thought": true}, {"text": "At "}, {"text": "noon."}]);
    let first = Fake::saying(200, gemini_said(&parts, "STOP")).await;
    let second = Fake::saying(200, openai_said(&json!({"role": "assistant", "content": "At noon."}), "stop")).await;
    for answerer in [gemini(&first), openai(&second)] {
        let answer = answerer.answer(&prompt()).await.unwrap();
        assert_eq!((answer.text.as_str(), &answer.finish), ("At noon.", &AnswerFinish::Stop));
        assert_eq!((answer.input_tokens, answer.output_tokens), (Some(12), Some(12)), "with what was thought");
    }
}

#[tokio::test]
async fn gemini_is_asked_with_the_system_apart_and_each_part_by_itself() {
    let fake = Fake::saying(200, gemini_said(&json!([{"text": "{}"}]), "STOP")).await;
    gemini(&fake).answer(&prompt()).await.unwrap();
    let asked = fake.asked().pop().unwrap();
    assert_eq!(asked.path, "/v1/models/gemini-2.5-flash:generateContent");
    let config = json!({"maxOutputTokens": 300, "candidateCount": 1, "temperature": 0.0});
    let contents = json!([{"role": "user", "parts": [{"text": "Question: when?"}, {"text": "Note 1: at noon."}]}]);
    let system = json!({"parts": [{"text": "Answer by the notes."}]});
    assert_eq!(asked.json(), json!({"contents": contents, "systemInstruction": system, "generationConfig": config}));
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let settings = GeminiSettings { thinking_tokens: Some(0), ..fake.gemini("m") };
    let brief = Answerer::from(GeminiAnswerer::new(settings).unwrap());
    let asking = AnswerPrompt { json_schema: Some(schema.clone()), temperature: None, ..prompt() };
    brief.answer(&asking).await.unwrap();
    let config = fake.asked()[1].json()["generationConfig"].clone();
    assert_eq!((&config["responseMimeType"], &config["responseJsonSchema"]), (&json!("application/json"), &schema));
    assert_eq!((&config["thinkingConfig"], config.get("temperature")), (&json!({"thinkingBudget": 0}), None));
}

#[tokio::test]
async fn an_openai_server_is_asked_in_the_words_that_it_takes() {
    let fake = Fake::saying(200, openai_said(&json!({"content": "{}"}), "stop")).await;
    openai(&fake).answer(&prompt()).await.unwrap();
    let asked = fake.asked().pop().unwrap();
    assert_eq!(asked.path, "/v1/chat/completions");
    let messages = json!([
        {"role": "system", "content": "Answer by the notes."},
        {"role": "user", "content": "Question: when?\n\nNote 1: at noon."},
    ]);
    let body = json!({"model": "gpt-4o-mini", "messages": messages, "max_completion_tokens": 300, "temperature": 0.0});
    assert_eq!(asked.json(), body);
    let options = OpenAiAnswerOptions {
        is_limit_named_max_tokens: true,
        is_temperature_left_out: true,
        reasoning_effort: Some("low".into()),
    };
    let old = Answerer::from(OpenAiAnswerer::new(fake.openai("qwen3:8b"), options).unwrap());
    let schema = json!({"type": "object"});
    old.answer(&AnswerPrompt { system: String::new(), json_schema: Some(schema.clone()), ..prompt() }).await.unwrap();
    let body = fake.asked()[1].json();
    assert_eq!((&body["max_tokens"], body.get("max_completion_tokens"), body.get("temperature")), (&json!(300), None, None));
    assert_eq!((body["messages"].as_array().unwrap().len(), &body["reasoning_effort"]), (1, &json!("low")));
    let format = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": true}});
    assert_eq!(body["response_format"], format);
}

#[tokio::test]
async fn a_success_without_text_is_an_error_that_says_why() {
    let call = json!([{"functionCall": {"name": "f"}}]);
    let tools =
        json!({"content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    for (is_gemini, body, words) in [
        (true, json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}), "the prompt was blocked (SAFETY)"),
        (true, json!({"candidates": [], "promptFeedback": {"blockReason": "OTHER"}}), "the prompt was blocked (OTHER)"),
        (true, json!({"candidates": [{"finishReason": "MAX_TOKENS"}]}), "all its output tokens were used"),
        (true, json!({"candidates": [{"content": {"role": "model"}, "finishReason": "MAX_TOKENS"}]}), "all its output tokens"),
        (true, json!({"candidates": [{"finishReason": "SAFETY"}]}), "a filter stopped it (SAFETY)"),
        (true, json!({"candidates": [{"finishReason": "NEW_REASON"}]}), "gave no text (NEW_REASON)"),
        (true, gemini_said(&json!([{"text": " \n"}]), "STOP"), "gave no text (STOP)"),
        (true, gemini_said(&json!([{"text": "only thought", "thought": true}]), "MAX_TOKENS"), "all its output tokens"),
        (true, gemini_said(&call, "STOP"), "calls a function"),
        (false, openai_said(&json!({"content": null, "refusal": "I cannot help."}), "stop"), "the model refused: I cannot help."),
        (false, openai_said(&tools, "tool_calls"), "calls a tool"),
        (false, openai_said(&json!({"content": null}), "length"), "all its output tokens were used"),
        (false, openai_said(&json!({"content": "<think>it is cut he"}), "length"), "all its output tokens were used"),
        (false, openai_said(&json!({"content": ""}), "content_filter"), "a filter stopped it"),
        (false, openai_said(&json!({"content": ""}), "stop"), "gave no text (stop)"),
    ] {
        let fake = Fake::saying(200, body.clone()).await;
        let answerer = if is_gemini { gemini(&fake) } else { openai(&fake) };
        let error = answerer.answer(&prompt()).await.unwrap_err();
        let class = (error.category, error.scope, error.kind, error.code.as_str());
        assert_eq!(class, (Category::Permanent, ErrorScope::Delivery, ErrorKind::Invalid, "no_text"), "{body}");
        assert!(error.message.contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_success_in_nobodys_words_is_worth_another_try() {
    for body in [json!({}), json!({"candidates": [], "choices": []}), json!("hello"), json!({"choices": [{}]})] {
        let fake = Fake::saying(200, body).await;
        for answerer in [gemini(&fake), openai(&fake)] {
            let error = answerer.answer(&prompt()).await.unwrap_err();
            assert_eq!((error.category, error.kind), (Category::Transient, ErrorKind::Unavailable), "{error}");
        }
    }
}

#[tokio::test]
async fn an_end_that_is_not_clean_is_told_with_the_text() {
    for (gemini_word, openai_word, finish) in [
        ("MAX_TOKENS", "length", AnswerFinish::Length),
        ("SAFETY", "content_filter", AnswerFinish::Filtered),
        ("NEW", "NEW", AnswerFinish::Other("NEW".into())),
    ] {
        let first = Fake::saying(200, gemini_said(&json!([{"text": "At no"}]), gemini_word)).await;
        let second = Fake::saying(200, openai_said(&json!({"content": [{"type": "text", "text": "At no"}]}), openai_word)).await;
        for answerer in [gemini(&first), openai(&second)] {
            let answer = answerer.answer(&prompt()).await.unwrap();
            assert_eq!((answer.text.as_str(), &answer.finish, answer.finish.is_clean()), ("At no", &finish, false));
        }
    }
}

#[tokio::test]
async fn what_a_model_thinks_aloud_is_not_its_answer() {
    let fake = Fake::saying(200, openai_said(&json!({"content": "\n<think>\nnoon?\n</think>\n\nAt noon."}), "stop")).await;
    assert_eq!(openai(&fake).answer(&prompt()).await.unwrap().text, "At noon.");
}

#[tokio::test]
async fn a_prompt_that_asks_nothing_is_refused_before_the_call() {
    let fake = Fake::saying(200, json!({})).await;
    for answerer in [gemini(&fake), openai(&fake)] {
        for prompt in [AnswerPrompt::new("s", vec![" ".into()], 10), AnswerPrompt::new("s", vec!["q".into()], 0)] {
            assert_eq!(answerer.answer(&prompt).await.unwrap_err().kind, ErrorKind::Invalid);
        }
    }
    assert!(fake.asked().is_empty());
}

#[tokio::test]
async fn a_model_that_does_not_exist_is_not_found() {
    let body =
        json!({"error": {"message": "The model `x` does not exist", "type": "invalid_request_error", "code": "model_not_found"}});
    let fake = Fake::saying(404, body).await;
    for answerer in [gemini(&fake), openai(&fake)] {
        let error = answerer.answer(&prompt()).await.unwrap_err();
        assert_eq!((error.category, error.scope, error.kind), (Category::Permanent, ErrorScope::Platform, ErrorKind::NotFound));
    }
}
