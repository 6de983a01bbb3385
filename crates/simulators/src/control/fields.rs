//! Reads a JSON object field by field, so that an error can name the field it is about.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(super) struct Fields(Map<String, Value>);

impl Fields {
    pub(super) fn read(body: &[u8]) -> Result<Self, String> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            Ok(_) => Err("body: must be a JSON object".to_owned()),
            Err(error) => Err(format!("body: not JSON: {error}")),
        }
    }

    /// An empty body is an object without fields.
    pub(super) fn read_optional(body: &[u8]) -> Result<Self, String> {
        if body.is_empty() { Ok(Self(Map::new())) } else { Self::read(body) }
    }

    /// Takes a field out; null is absent.
    pub(super) fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, String> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => serde_json::from_value(value).map(Some).map_err(|error| format!("{name}: {error}")),
        }
    }

    pub(super) fn need<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, String> {
        self.take(name)?.ok_or_else(|| format!("{name}: must be given"))
    }

    /// A chat: a number or a text.
    pub(super) fn take_target(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.take::<Value>(name)? {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(_) => Err(format!("{name}: must be a number or a text")),
        }
    }

    pub(super) fn take_base64(&mut self, name: &str) -> Result<Option<Bytes>, String> {
        let text: Option<String> = self.take(name)?;
        text.map(|text| STANDARD.decode(text).map(Bytes::from).map_err(|error| format!("{name}: {error}"))).transpose()
    }

    /// Nothing may be left: a misspelt field must not be ignored.
    pub(super) fn finish(self) -> Result<(), String> {
        self.0.keys().next().map_or(Ok(()), |name| Err(format!("{name}: unknown field")))
    }
}
