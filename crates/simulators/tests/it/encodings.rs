//! The four encodings of parameters mean the same, and GET and POST are equal.

use reqwest::multipart::Form;
use serde_json::json;

use crate::harness::{Sim, answer};

#[tokio::test]
async fn query_form_json_and_multipart_carry_the_same_parameters() {
    let sim = Sim::start().await;
    let url = sim.method_url("sendMessage");
    let markup = r#"{"inline_keyboard":[[{"text":"a","callback_data":"b"}]]}"#;
    let pairs = [("chat_id", "5"), ("text", "привет"), ("reply_markup", markup)];
    let mut form = Form::new();
    for (name, value) in pairs {
        form = form.text(name, value);
    }
    for request in [
        sim.client.get(&url).query(&pairs),
        sim.client.post(&url).query(&pairs),
        sim.client.post(&url).form(&pairs),
        sim.client.post(&url).multipart(form),
        sim.client.post(&url).json(&json!({
            "chat_id": "5",
            "text": "привет",
            "reply_markup": {"inline_keyboard": [[{"text": "a", "callback_data": "b"}]]},
        })),
    ] {
        let (status, body) = answer(request).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(body["result"]["text"], "привет");
        assert_eq!(body["result"]["reply_markup"]["inline_keyboard"][0][0]["callback_data"], "b");
    }
}

#[tokio::test]
async fn bytes_that_are_not_utf8_are_refused() {
    let sim = Sim::start().await;
    let url = format!("{}?chat_id=1&text=%ff", sim.method_url("sendMessage"));
    let (status, body) = answer(sim.client.get(url)).await;
    assert_eq!((status, &body["description"]), (400, &json!("Bad Request: strings must be encoded in UTF-8")));
}
