//! Transcriptions: what is sent, what is read, and what is refused before it is sent.

use axum::body::Bytes;
use kernel::{Category, ErrorKind, ErrorScope};
use llm::{
    Audio, GeminiTranscriber, OPENAI_AUDIO_BYTES_MAX, OpenAiAudioOptions, OpenAiTranscriber, Transcriber, TranscriptFormat,
};
use serde_json::json;

use crate::harness::{Asked, Fake, Told};

fn voice() -> Audio {
    let bytes = Bytes::from_static(b"OggS\0\x02voice");
    Audio { bytes, mime: "audio/ogg".into(), file_name: "Анна 12.oga".into(), language: Some("RU".into()) }
}

fn openai(fake: &Fake, model: &str, options: OpenAiAudioOptions) -> Transcriber {
    OpenAiTranscriber::new(fake.openai(model), options).unwrap().into()
}

fn gemini(fake: &Fake) -> Transcriber {
    GeminiTranscriber::new(fake.gemini("gemini-2.5-flash")).unwrap().into()
}

/// The value of a field of a form, or the head of a file with its beginning.
fn field(asked: &Asked, name: &str) -> Option<String> {
    let text = String::from_utf8_lossy(&asked.body).into_owned();
    let (_, rest) = text.split_once(&format!("name=\"{name}\""))?;
    Some(rest.split("\r\n--").next().unwrap().trim_start_matches("\r\n").to_owned())
}

#[tokio::test]
async fn each_model_is_asked_for_the_most_that_it_tells() {
    let fake = Fake::saying(200, json!({"text": "x"})).await;
    for (model, format, chunking) in [
        ("gpt-4o-transcribe-diarize", "diarized_json", Some("auto")),
        ("gpt-4o-transcribe", "json", None),
        ("gpt-4o-mini-transcribe", "json", None),
        ("gpt-transcribe", "json", None),
        ("whisper-1", "verbose_json", None),
        ("Systran/faster-whisper-large-v3", "verbose_json", None),
    ] {
        openai(&fake, model, OpenAiAudioOptions::default()).transcribe(voice()).await.unwrap();
        let asked = fake.asked().pop().unwrap();
        assert_eq!(asked.path, "/v1/audio/transcriptions");
        assert_eq!(asked.header("authorization"), Some("Bearer key-of-the-house"));
        assert!(asked.header("content-type").unwrap().starts_with("multipart/form-data; boundary="));
        assert_eq!((field(&asked, "model").as_deref(), field(&asked, "response_format").as_deref()), (Some(model), Some(format)));
        assert_eq!((field(&asked, "chunking_strategy").as_deref(), field(&asked, "language").as_deref()), (chunking, Some("ru")));
        assert_eq!(field(&asked, "prompt"), None);
    }
    let chosen = OpenAiAudioOptions { format: Some(TranscriptFormat::Json), ..OpenAiAudioOptions::default() };
    openai(&fake, "whisper-1", chosen).transcribe(voice()).await.unwrap();
    assert_eq!(field(&fake.asked().pop().unwrap(), "response_format").as_deref(), Some("json"));
}

#[tokio::test]
async fn a_file_is_sent_as_what_it_is_and_without_its_name() {
    let fake = Fake::saying(200, json!({"text": "x"})).await;
    let transcriber = openai(&fake, "whisper-1", OpenAiAudioOptions::default());
    transcriber.transcribe(voice()).await.unwrap();
    let file = field(&fake.asked()[0], "file").unwrap();
    assert!(file.starts_with("; filename=\"audio.ogg\"\r\nContent-Type: audio/ogg\r\n"), "{file}");
    assert!(file.ends_with("\r\n\r\nOggS\0\u{2}voice"), "{file}");
    assert!(fake.asked()[0].header("content-length").is_some(), "servers of one's own take no chunks");
    let note = Audio { bytes: Bytes::from_static(b"?"), mime: "audio/amr".into(), file_name: "a.amr".into(), language: None };
    let error = transcriber.transcribe(note).await.unwrap_err();
    assert_eq!((error.kind, error.message.contains("must be converted")), (ErrorKind::Invalid, true));
    assert_eq!(fake.asked().len(), 1, "what nobody takes is not sent");
}

#[tokio::test]
async fn a_file_above_the_limit_is_refused_before_it_is_sent() {
    let fake = Fake::saying(200, json!({"text": "x"})).await;
    let file = |bytes: usize| Audio { bytes: vec![0; bytes].into(), ..voice() };
    let transcriber = openai(&fake, "whisper-1", OpenAiAudioOptions::default());
    for (transcriber, bytes) in [(&transcriber, OPENAI_AUDIO_BYTES_MAX + 1), (&gemini(&fake), 14_000_001), (&transcriber, 0)] {
        let error = transcriber.transcribe(file(bytes)).await.unwrap_err();
        assert_eq!((error.category, error.scope, error.kind), (Category::Permanent, ErrorScope::Delivery, ErrorKind::Invalid));
        assert!(bytes == 0 || error.message.contains(&format!("{bytes} bytes")), "{error}");
    }
    assert!(fake.asked().is_empty());
    transcriber.transcribe(file(OPENAI_AUDIO_BYTES_MAX)).await.unwrap();
    let small = OpenAiAudioOptions { audio_bytes_max: 10, ..OpenAiAudioOptions::default() };
    assert_eq!(openai(&fake, "m", small).transcribe(file(11)).await.unwrap_err().code, "too_large");
}

#[tokio::test]
async fn the_answer_is_kept_byte_for_byte() {
    let raw = "{ \"text\" : \"A: Да\",\n\"segments\":[{\"id\":\"seg_001\",\"start\":0.0,\"end\":1.50,\"text\":\" Да \",\"speaker\":\"A\"}],\"duration\":2 }\n";
    let fake = Fake::start(move |_| Told { status: 200, retry_after: None, body: raw.into() }).await;
    let read = openai(&fake, "gpt-4o-transcribe-diarize", OpenAiAudioOptions::default()).transcribe(voice()).await.unwrap();
    assert_eq!((read.raw, read.text.as_str(), read.duration_seconds), (Bytes::from(raw), "Да", Some(2.0)));
    assert_eq!((read.segments[0].id.as_str(), read.segments[0].speaker.as_deref()), ("seg_001", Some("A")));
}

#[tokio::test]
async fn a_refusal_of_the_audio_is_told_in_the_servers_words() {
    let words = "audio duration 1500.1 seconds is longer than 1400 seconds which is the maximum for this model";
    let body = json!({"error": {"message": words, "type": "invalid_request_error", "param": "file", "code": "invalid_value"}});
    let fake = Fake::saying(400, body).await;
    let error = openai(&fake, "gpt-4o-transcribe-diarize", OpenAiAudioOptions::default()).transcribe(voice()).await.unwrap_err();
    assert_eq!((error.kind, error.code.as_str(), error.message.as_str()), (ErrorKind::Invalid, "invalid_value", words));
    let page = Fake::start(|_| Told { status: 413, retry_after: None, body: b"<html>413</html>".to_vec() }).await;
    let error = openai(&page, "whisper-1", OpenAiAudioOptions::default()).transcribe(voice()).await.unwrap_err();
    assert_eq!((error.category, error.kind), (Category::Permanent, ErrorKind::Invalid));
}

#[tokio::test]
async fn gemini_listens_to_the_bytes_and_answers_in_our_schema() {
    let said = json!({"language": "ru", "segments": [
        {"start": 0, "end": 1.5, "speaker": "A", "text": "Привет."},
        {"start": 1.5, "end": 3, "speaker": "B", "text": "Здравствуйте."},
    ]});
    let answer =
        |reason: &str| json!({"candidates": [{"content": {"parts": [{"text": said.to_string()}]}, "finishReason": reason}]});
    let fake = Fake::saying(200, answer("STOP")).await;
    let read = gemini(&fake).transcribe(voice()).await.unwrap();
    assert_eq!((read.text.as_str(), read.language.as_deref()), ("Привет.\nЗдравствуйте.", Some("ru")));
    assert_eq!((read.segments[1].id.as_str(), read.duration_seconds), ("seg_002", Some(3.0)));
    assert_eq!(read.raw, answer("STOP").to_string());
    let asked = fake.asked()[0].json();
    let inline = json!({"mimeType": "audio/ogg", "data": "T2dnUwACdm9pY2U="});
    assert_eq!(asked["contents"][0]["parts"][0]["inlineData"], inline);
    assert_eq!(asked["generationConfig"]["responseMimeType"], "application/json");
    let cut = Fake::saying(200, answer("MAX_TOKENS")).await;
    let error = gemini(&cut).transcribe(voice()).await.unwrap_err();
    assert!(error.kind == ErrorKind::Invalid && error.message.contains("not whole"), "half a conversation is none: {error}");
}
