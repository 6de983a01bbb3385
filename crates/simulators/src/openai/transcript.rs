//! A transcript and the forms it is answered in.

use axum::response::Response;
use serde_json::{Value, json};

use crate::http;
use crate::models::{Segment, pieces, tokens};
use crate::pieces::Pieces;
use crate::vault::sha256;

/// What people say in recordings nobody scripted.
const SENTENCES: [&str; 8] = [
    "Добрый день, слушаю вас.",
    "Когда будет готов мой заказ?",
    "Заказ привезут завтра после обеда.",
    "Can you send me the invoice?",
    "The invoice was sent this morning.",
    "Напишите, пожалуйста, адрес доставки.",
    "Спасибо, до свидания.",
    "We meet again on Monday at ten.",
];
const SEGMENT_SECONDS: f64 = 4.0;
const SEGMENTS_MAX: u8 = 6;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Text,
    Srt,
    VerboseJson,
    Vtt,
    DiarizedJson,
}

impl Format {
    pub(super) const ALL: [Self; 6] = [Self::Json, Self::Text, Self::Srt, Self::VerboseJson, Self::Vtt, Self::DiarizedJson];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Text => "text",
            Self::Srt => "srt",
            Self::VerboseJson => "verbose_json",
            Self::Vtt => "vtt",
            Self::DiarizedJson => "diarized_json",
        }
    }

    pub(super) fn read(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

pub(super) struct Transcript {
    pub(super) segments: Vec<Segment>,
    pub(super) duration: f64,
}

/// The same bytes always say the same; two people take turns.
pub(super) fn by_rule(bytes: &[u8], duration: f64) -> Transcript {
    let digest = sha256(bytes);
    let count = (1..=SEGMENTS_MAX).take_while(|index| f64::from(*index - 1) * SEGMENT_SECONDS < duration);
    let segments = count.zip(digest).map(|(index, byte)| {
        let start = f64::from(index - 1) * SEGMENT_SECONDS;
        Segment {
            start,
            end: (start + SEGMENT_SECONDS).min(duration),
            text: SENTENCES[usize::from(byte) % SENTENCES.len()].to_owned(),
            speaker: if index % 2 == 1 { "A" } else { "B" }.to_owned(),
        }
    });
    Transcript { segments: segments.collect(), duration }
}

impl Transcript {
    pub(super) fn respond(&self, format: Format, has_words: bool) -> Response {
        match format {
            Format::Json => http::json(200, &json!({"text": self.text(), "usage": self.token_usage()})),
            Format::Text => plain(format!("{}\n", self.text())),
            Format::Srt => plain(self.subtitles(',', true)),
            Format::Vtt => plain(format!("WEBVTT\n\n{}", self.subtitles('.', false))),
            Format::VerboseJson => http::json(200, &self.verbose(has_words)),
            Format::DiarizedJson => http::json(
                200,
                &json!({
                    "task": "transcribe",
                    "duration": self.duration,
                    "text": self.text(),
                    "segments": self.diarized(),
                    "usage": self.duration_usage(),
                }),
            ),
        }
    }

    /// Pieces of text, then segments where people are told apart, then the whole.
    pub(super) fn stream(&self, is_diarized: bool) -> Response {
        let text = self.text();
        let mut events: Vec<Value> =
            pieces(&text).into_iter().map(|delta| json!({"type": "transcript.text.delta", "delta": delta})).collect();
        if is_diarized {
            events.extend(self.diarized());
        }
        events.push(json!({"type": "transcript.text.done", "text": text, "usage": self.token_usage()}));
        let events = events.into_iter().map(|event| format!("data: {event}\n\n"));
        http::bytes(200, "text/event-stream; charset=utf-8", Pieces::stream(events).body())
    }

    fn text(&self) -> String {
        let texts: Vec<&str> = self.segments.iter().map(|segment| segment.text.trim()).filter(|text| !text.is_empty()).collect();
        texts.join(" ")
    }

    fn diarized(&self) -> Vec<Value> {
        let segments = self.segments.iter().enumerate();
        let shown = segments.map(|(index, segment)| {
            json!({
                "type": "transcript.text.segment",
                "id": format!("seg_{:03}", index + 1),
                "start": segment.start,
                "end": segment.end,
                "text": segment.text,
                "speaker": segment.speaker,
            })
        });
        shown.collect()
    }

    fn verbose(&self, has_words: bool) -> Value {
        let segments = self.segments.iter().enumerate().map(|(index, segment)| {
            json!({
                "id": index,
                "seek": 0,
                "start": segment.start,
                "end": segment.end,
                "text": format!(" {}", segment.text.trim()),
                "tokens": [50364, 50365],
                "temperature": 0.0,
                "avg_logprob": -0.25,
                "compression_ratio": 1.1,
                "no_speech_prob": 0.01,
            })
        });
        let is_russian = self.text().chars().any(|letter| ('а'..='я').contains(&letter));
        let mut verbose = json!({
            "task": "transcribe",
            "language": if is_russian { "russian" } else { "english" },
            "duration": self.duration,
            "text": self.text(),
            "segments": segments.collect::<Vec<_>>(),
            "usage": self.duration_usage(),
        });
        if has_words {
            verbose["words"] = self.segments.iter().flat_map(words).collect();
        }
        verbose
    }

    fn subtitles(&self, comma: char, is_numbered: bool) -> String {
        let cues = self.segments.iter().enumerate().map(|(index, segment)| {
            let number = if is_numbered { format!("{}\n", index + 1) } else { String::new() };
            let (start, end) = (timestamp(segment.start, comma), timestamp(segment.end, comma));
            format!("{number}{start} --> {end}\n{}\n\n", segment.text.trim())
        });
        cues.collect()
    }

    fn duration_usage(&self) -> Value {
        json!({"type": "duration", "seconds": self.duration.ceil()})
    }

    fn token_usage(&self) -> Value {
        let (heard, said) = (self.segments.len() * 40, tokens(&self.text()));
        json!({
            "type": "tokens",
            "input_tokens": heard,
            "input_token_details": {"text_tokens": 0, "audio_tokens": heard},
            "output_tokens": said,
            "total_tokens": heard + said,
        })
    }
}

fn plain(text: String) -> Response {
    http::bytes(200, "text/plain; charset=utf-8", text)
}

/// The words of a segment share its time equally.
fn words(segment: &Segment) -> Vec<Value> {
    let words: Vec<&str> = segment.text.split_whitespace().collect();
    let each = (segment.end - segment.start) / f64::from(u32::try_from(words.len().max(1)).unwrap_or(u32::MAX));
    let mut start = segment.start;
    let timed = words.into_iter().map(|word| {
        let shown =
            json!({"word": word.trim_matches(|letter: char| !letter.is_alphanumeric()), "start": start, "end": start + each});
        start += each;
        shown
    });
    timed.collect()
}

fn timestamp(seconds: f64, comma: char) -> String {
    let whole = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default();
    let (total, millis) = (whole.as_secs(), whole.subsec_millis());
    format!("{:02}:{:02}:{:02}{comma}{millis:03}", total / 3600, total / 60 % 60, total % 60)
}
