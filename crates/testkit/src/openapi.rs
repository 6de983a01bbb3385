//! What every OpenAPI document of ours keeps to.

use serde_json::Value;

/// Fails if an answer is not described, or if the document refers to a type that it does not have.
pub fn check(document: &Value) {
    for (path, methods) in document["paths"].as_object().expect("a document of paths") {
        for (method, operation) in methods.as_object().expect("operations by method") {
            for (status, response) in operation["responses"].as_object().expect("responses by status") {
                assert!(response["description"].as_str().is_some_and(|words| !words.is_empty()), "{method} {path} {status}");
            }
        }
    }
    let text = document.to_string();
    for name in text.split("\"#/components/schemas/").skip(1).filter_map(|rest| rest.split_once('"')).map(|(name, _)| name) {
        assert!(document["components"]["schemas"].get(name).is_some(), "{name}");
    }
}
