//! OpenAI's transcriptions: which model takes what, and the forms of the answer.

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::harness::{Sim, answer};

async fn send(sim: &Sim, form: Form) -> (u16, Value) {
    let url = format!("{}/openai/v1/audio/transcriptions", sim.base);
    answer(sim.client.post(url).bearer_auth("sk-test").multipart(form)).await
}

/// A form with a recording and these fields.
fn form(fields: &[(&'static str, &str)]) -> Form {
    let file = Part::bytes(&b"some sound"[..]).file_name("voice.ogg");
    fields.iter().fold(Form::new().part("file", file), |form, (name, value)| form.text(*name, (*value).to_owned()))
}

/// A header of a WAV of that many seconds, with no sound behind it.
fn wav(seconds: u32) -> Vec<u8> {
    let mut wav = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    wav.extend(8_000_u32.to_le_bytes());
    wav.extend(16_000_u32.to_le_bytes());
    wav.extend(*b"\x02\0\x10\0data");
    wav.extend((16_000 * seconds).to_le_bytes());
    wav
}

#[tokio::test]
async fn the_same_recording_always_says_the_same() {
    let sim = Sim::start().await;
    let (status, first) = send(&sim, form(&[("model", "whisper-1")])).await;
    assert_eq!((status, first["text"].as_str().is_some_and(|text| !text.is_empty())), (200, true));
    assert_eq!(send(&sim, form(&[("model", "gpt-4o-transcribe")])).await.1["text"], first["text"]);
    let sent = sim.sent("provider=openai&target=whisper-1").await;
    assert_eq!(sent[0]["files"][0]["name"], "voice.ogg");
}

#[tokio::test]
async fn a_script_is_answered_in_every_format() {
    let sim = Sim::start().await;
    let segments = json!([
        {"start": 0.0, "end": 1.5, "text": "Добрый день.", "speaker": "A"},
        {"start": 1.5, "end": 3661.25, "text": "Здравствуйте!", "speaker": "B"},
    ]);
    sim.control("transcripts", json!({"segments": segments, "times": 6})).await;
    let whisper = async |format: &str| send(&sim, form(&[("model", "whisper-1"), ("response_format", format)])).await.1;
    assert_eq!(whisper("json").await["text"], "Добрый день. Здравствуйте!");
    assert_eq!(whisper("text").await, "Добрый день. Здравствуйте!\n");
    let srt = "1\n00:00:00,000 --> 00:00:01,500\nДобрый день.\n\n2\n00:00:01,500 --> 01:01:01,250\nЗдравствуйте!\n\n";
    assert_eq!(whisper("srt").await, srt);
    let vtt = "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nДобрый день.\n\n00:00:01.500 --> 01:01:01.250\nЗдравствуйте!\n\n";
    assert_eq!(whisper("vtt").await, vtt);
    let verbose = form(&[("model", "whisper-1"), ("response_format", "verbose_json"), ("timestamp_granularities[]", "word")]);
    let (_, verbose) = send(&sim, verbose).await;
    assert_eq!((&verbose["language"], &verbose["duration"]), (&json!("russian"), &json!(3661.25)));
    assert_eq!((&verbose["segments"][1]["id"], &verbose["words"][2]["word"]), (&json!(1), &json!("Здравствуйте")));
    let diarize = [("model", "gpt-4o-transcribe-diarize"), ("response_format", "diarized_json"), ("chunking_strategy", "auto")];
    let (_, diarized) = send(&sim, form(&diarize)).await;
    let speakers: Vec<&Value> = diarized["segments"].as_array().unwrap().iter().map(|segment| &segment["speaker"]).collect();
    assert_eq!(speakers, ["A", "B"]);
    assert_eq!((&diarized["task"], &diarized["segments"][0]["id"]), (&json!("transcribe"), &json!("seg_001")));
}

#[tokio::test]
async fn a_model_refuses_what_it_cannot_do() {
    let sim = Sim::start().await;
    let diarize = ("model", "gpt-4o-transcribe-diarize");
    let auto = ("chunking_strategy", "auto");
    for (fields, param) in [
        (&[("model", "gpt-4o-transcribe"), ("response_format", "verbose_json")][..], "response_format"),
        (&[("model", "whisper-1"), ("response_format", "diarized_json")], "response_format"),
        (&[("model", "whisper-1"), ("response_format", "docx")], "response_format"),
        (&[diarize], "chunking_strategy"),
        (&[diarize, auto, ("response_format", "srt")], "response_format"),
        (&[diarize, auto, ("prompt", "names")], "prompt"),
        (&[("model", "whisper-1"), ("timestamp_granularities[]", "word")], "timestamp_granularities"),
        (&[("model", "whisper-1"), ("include[]", "logprobs")], "include"),
        (&[("model", "whisper-1"), ("keywords[]", "Beresta")], "keywords"),
        (&[("model", "whisper-1"), ("temperature", "2")], "temperature"),
    ] {
        let (status, body) = send(&sim, form(fields)).await;
        assert_eq!((status, &body["error"]["param"]), (400, &json!(param)), "{fields:?}: {body}");
    }
    let (status, body) = send(&sim, form(&[("model", "whisper-9")])).await;
    assert_eq!((status, &body["error"]["code"]), (404, &json!("model_not_found")));
}

#[tokio::test]
async fn a_file_is_known_by_its_extension_and_has_a_limit() {
    let sim = Sim::start().await;
    let of = |part: Part| Form::new().text("model", "whisper-1").part("file", part);
    for name in ["voice", "voice.oga", "voice.opus", "notes.txt"] {
        let (status, body) = send(&sim, of(Part::bytes(&b"x"[..]).file_name(name))).await;
        assert_eq!(status, 400);
        assert!(body["error"]["message"].as_str().unwrap().starts_with("Invalid file format."), "{name}: {body}");
    }
    let (status, body) = send(&sim, of(Part::bytes(&b"x"[..]))).await;
    assert_eq!((status, &body["error"]["param"]), (400, &json!("file")), "a nameless part is no file");
    let (status, body) = send(&sim, of(Part::bytes(vec![0; 25 * 1024 * 1024 + 1]).file_name("a.mp3"))).await;
    assert_eq!(status, 413);
    assert!(body["error"]["message"].as_str().unwrap().starts_with("Maximum content size limit (26214400) exceeded"));
}

#[tokio::test]
async fn a_recording_too_long_for_its_model_is_refused() {
    let sim = Sim::start().await;
    let of = |model: &str, seconds| {
        let file = Part::bytes(wav(seconds)).file_name("a.wav");
        Form::new().text("model", model.to_owned()).text("chunking_strategy", "auto").part("file", file)
    };
    assert_eq!(send(&sim, of("whisper-1", 3600)).await.0, 200);
    assert_eq!(send(&sim, of("gpt-4o-transcribe-diarize", 1390)).await.0, 200);
    let (status, body) = send(&sim, of("gpt-4o-transcribe-diarize", 1450)).await;
    assert_eq!((status, &body["error"]["code"]), (400, &json!("invalid_value")));
    let message = "audio duration 1450 seconds is longer than 1400 seconds which is the maximum for this model";
    assert_eq!(body["error"]["message"], message);
}

#[tokio::test]
async fn a_streamed_transcript_ends_with_the_whole() {
    let sim = Sim::start().await;
    sim.control("transcripts", json!({"text": "one two three four five six seven eight nine ten", "times": 2})).await;
    let url = format!("{}/openai/v1/audio/transcriptions", sim.base);
    let streamed = form(&[("model", "gpt-4o-transcribe"), ("stream", "true")]);
    let body = sim.client.post(url).bearer_auth("k").multipart(streamed).send().await.unwrap().text().await.unwrap();
    let events: Vec<Value> =
        body.split("\n\n").filter_map(|event| serde_json::from_str(event.strip_prefix("data: ")?).ok()).collect();
    let deltas: String = events.iter().filter_map(|event| event["delta"].as_str()).collect();
    let done = events.last().unwrap();
    assert_eq!((&done["type"], done["text"].as_str()), (&json!("transcript.text.done"), Some(deltas.as_str())));
    // whisper-1 does not stream, whatever it is asked.
    let (_, whole) = send(&sim, form(&[("model", "whisper-1"), ("stream", "true")])).await;
    assert_eq!(whole["text"], deltas);
}
