//! What comes in, checked before anything else sees it: size, type, encoding, depth, duplicate keys, NUL.

use std::fmt;

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request},
    http::{header, request::Parts},
};
use kernel::{Kind, Problem};
use serde::{
    Deserialize,
    de::{DeserializeOwned, Deserializer, Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

use super::Failure;

/// A JSON body of this shape.
#[derive(Debug)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if essence != "application/json" && !essence.ends_with("+json") {
            let message = "the body must be JSON: send the header `Content-Type: application/json`";
            return Err(Failure(Problem::new(415, Kind::Validation, "request.content_type", message)));
        }
        let body = Bytes::from_request(request, state).await.map_err(|rejection| {
            if rejection.status() == 413 {
                Problem::new(413, Kind::TooLarge, "request.too_large", "the body is larger than this server accepts")
            } else {
                Problem::bad_request("request.body", "the body did not arrive whole")
            }
        })?;
        let value = parse_json(&body)?;
        let parsed = serde_path_to_error::deserialize(value).map_err(|error| {
            let field = error.path().to_string();
            let problem = Problem::new(422, Kind::Validation, "request.invalid", format!("the body is not as expected: {error}"));
            // A body that is wrong as a whole has no path, which is written as a dot.
            if field == "." { problem } else { problem.with("field", field) }
        })?;
        Ok(Self(parsed))
    }
}

/// A query string of this shape.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Failure> {
        let parsed = axum::extract::Query::<T>::try_from_uri(&parts.uri)
            .map_err(|rejection| Problem::new(422, Kind::Validation, "request.query", rejection.body_text()))?;
        Ok(Self(parsed.0))
    }
}

/// Path parameters of this shape.
#[derive(Debug)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let parsed = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        let parsed = parsed.map_err(|rejection| Problem::new(404, Kind::NotFound, "request.path", rejection.body_text()))?;
        Ok(Self(parsed.0))
    }
}

/// Parses JSON from outside: valid UTF-8, at most 128 levels deep, no key twice in one object, no NUL in a text.
pub fn parse_json(body: &[u8]) -> Result<Value, Problem> {
    let text = std::str::from_utf8(body).map_err(|error| {
        Problem::bad_request("request.encoding", format!("the body is not valid UTF-8 (at byte {})", error.valid_up_to()))
    })?;
    serde_json::from_str::<Strict>(text)
        .map(|strict| strict.0)
        .map_err(|error| Problem::bad_request("request.json", format!("the body is not the JSON we can take: {error}")))
}

/// A JSON value whose objects have each key once and whose texts have no NUL: what jsonb would silently
/// change or refuse is refused here, before it is hashed, stored or sent.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

fn text<E: serde::de::Error>(text: String) -> Result<String, E> {
    if text.contains('\0') { Err(E::custom("a text contains a NUL character (\\u0000)")) } else { Ok(text) }
}

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        i64::try_from(value).map(Value::from).map_err(|_| E::custom("a number is outside the range of 64 bits"))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        text(value.to_owned()).map(Value::String)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let key = text(key)?;
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key `{key}` stands twice in one object")));
            }
            let Strict(value) = entries.next_value()?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_json_passes_unchanged() {
        let text = r#"{"a": [1, -2, 2.5, null, true, "ё"], "b": {"c": ""}}"#;
        assert_eq!(parse_json(text.as_bytes()).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn what_jsonb_would_change_or_refuse_is_refused_with_words() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        let cases: [(&[u8], &str); 9] = [
            (br#"{"a":1,"a":2}"#, "`a` stands twice"),
            (br#"{"a":"x\u0000y"}"#, "NUL"),
            (br#"{"a\u0000":1}"#, "NUL"),
            (deep.as_bytes(), "recursion limit"),
            (b"{\"a\":\"\xff\"}", "UTF-8"),
            (br#"{"a":"\ud800"}"#, "hex escape"),
            (b"{\"a\":18446744073709551615}", "64 bits"),
            (b"{\"a\":1", "EOF"),
            (b"", "EOF"),
        ];
        for (body, words) in cases {
            let message = parse_json(body).unwrap_err().message;
            assert!(message.contains(words), "{message} should say {words}");
        }
    }
}
