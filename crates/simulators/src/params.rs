//! The parameters of one call, in the order they came, whatever the encoding was. A `Vec`, not a map: calls have
//! a handful of parameters, a million of them are kept, and a map node alone would weigh more than the message.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

#[derive(Debug, Default, Clone)]
pub(crate) struct Params(Vec<(String, Value)>);

impl Params {
    pub(crate) fn push(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.0.push((name.into(), value.into()));
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// A null is an absent parameter, for both providers.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value).filter(|value| !value.is_null())
    }

    /// The value as text: numbers may come as strings and strings as numbers.
    pub(crate) fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get(name).map(|value| match value {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            other => Cow::Owned(other.to_string()),
        })
    }

    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// `true`, `yes` and `1` in any case are true.
    pub(crate) fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::Number(number)) => number.as_i64() == Some(1),
            Some(Value::String(text)) => ["true", "yes", "1"].iter().any(|word| text.eq_ignore_ascii_case(word)),
            _ => false,
        }
    }

    /// A structured value: itself in a JSON body, a JSON text in the form encodings.
    pub(crate) fn json(&self, name: &str) -> Option<Result<Cow<'_, Value>, serde_json::Error>> {
        self.get(name).map(|value| match value {
            Value::String(text) => serde_json::from_str(text).map(Cow::Owned),
            other => Ok(Cow::Borrowed(other)),
        })
    }
}

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Params;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Params, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Params(pairs))
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}
