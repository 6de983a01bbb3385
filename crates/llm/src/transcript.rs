//! What an answer of a transcription says, whoever wrote it.
//!
//! Guarantees: any JSON with a text or segments is read. Ids may be of any type, missing or repeated, times missing, written
//! as text or in nanoseconds, speakers missing; segments without words are left out.

use std::collections::HashSet;

use bytes::Bytes;
use kernel::AdapterError;
use serde_json::Value;

use crate::{
    reply,
    transcribe::{TranscriptSegment, Transcription},
};

/// Eleven days, or a millisecond: a time of this size is in nanoseconds, as old releases of LocalAI write them. The length
/// of the clip is no measure, because whisper ends segments of short clips after their end.
const NANOSECONDS_MIN: f64 = 1e6;
const NANOSECONDS_IN_SECOND: f64 = 1e9;

/// Reads an answer of the shapes `json`, `verbose_json` and `diarized_json`.
pub(crate) fn read(raw: Bytes) -> Result<Transcription, AdapterError> {
    let answer: Value = serde_json::from_slice(&raw).map_err(|_| reply::unreadable("the transcription is not JSON"))?;
    let mut transcription =
        from_value(&answer).ok_or_else(|| reply::unreadable("the transcription has neither a text nor segments"))?;
    transcription.raw = raw;
    Ok(transcription)
}

/// The transcription without its raw answer; nothing when there is neither a text nor a list of segments.
pub(crate) fn from_value(answer: &Value) -> Option<Transcription> {
    let items = answer["segments"].as_array();
    let text = answer["text"].as_str().map(str::trim);
    if items.is_none() && text.is_none() {
        return None;
    }
    let segments = segments(items.map(Vec::as_slice).unwrap_or_default());
    let duration = number(&answer["duration"]).map(seconds_alone);
    let duration = duration.or_else(|| number(&answer["usage"]["seconds"]));
    let end = segments.iter().filter_map(|segment| segment.end_seconds).reduce(f64::max);
    let language = [&answer["language"], &answer["languages"][0]].into_iter().find_map(Value::as_str);
    Some(Transcription {
        raw: Bytes::new(),
        text: whole_text(text.unwrap_or_default(), &segments),
        duration_seconds: duration.or(end),
        segments,
        language: language.map(|language| language.trim().to_lowercase()).filter(|language| !language.is_empty()),
    })
}

/// Where speakers are told, the text is made of segments: the one in the answer has their labels in it, or has not.
fn whole_text(text: &str, segments: &[TranscriptSegment]) -> String {
    let has_speakers = segments.iter().any(|segment| segment.speaker.is_some());
    if !text.is_empty() && !has_speakers {
        return text.to_owned();
    }
    let mut whole = String::new();
    for (at, segment) in segments.iter().enumerate() {
        if at > 0 {
            // Another speaker, another line.
            whole.push(if segments[at - 1].speaker == segment.speaker { ' ' } else { '\n' });
        }
        whole.push_str(&segment.text);
    }
    if whole.is_empty() { text.to_owned() } else { whole }
}

fn segments(items: &[Value]) -> Vec<TranscriptSegment> {
    let times = items.iter().flat_map(|item| [number(&item["start"]), number(&item["end"])]);
    // All times of an answer have one unit, also the zero at its beginning.
    let is_nanoseconds = times.flatten().any(|time| time >= NANOSECONDS_MIN);
    let seconds = |value: &Value| {
        let time = number(value)?;
        Some(if is_nanoseconds { time / NANOSECONDS_IN_SECOND } else { time })
    };
    let mut taken = HashSet::new();
    let mut segments = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let Some(text) = item["text"].as_str().map(str::trim).filter(|text| !text.is_empty()) else { continue };
        let start_seconds = seconds(&item["start"]);
        let end_seconds = seconds(&item["end"]).map(|end| end.max(start_seconds.unwrap_or_default()));
        let id = unique_id(label(&item["id"]), at, &mut taken);
        segments.push(TranscriptSegment {
            id,
            start_seconds,
            end_seconds,
            speaker: label(&item["speaker"]),
            text: text.to_owned(),
        });
    }
    segments
}

/// The id that was given, or one by the place in the answer, which is the same whenever the answer is read again.
fn unique_id(given: Option<String>, at: usize, taken: &mut HashSet<String>) -> String {
    let mut id = given.unwrap_or_else(|| format!("seg_{:03}", at + 1));
    while !taken.insert(id.clone()) {
        id = format!("{id}_{:03}", at + 1);
    }
    id
}

fn label(value: &Value) -> Option<String> {
    let label = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!label.is_empty()).then_some(label)
}

/// A time: not negative, also when it is written as text.
fn number(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

fn seconds_alone(time: f64) -> f64 {
    if time >= NANOSECONDS_MIN { time / NANOSECONDS_IN_SECOND } else { time }
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
