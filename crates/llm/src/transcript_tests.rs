//! Answers as servers write them, and as they should not.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read_json(value: &Value) -> Transcription {
    read(value.to_string().into()).unwrap()
}

fn times(transcription: &Transcription) -> Vec<(Option<f64>, Option<f64>)> {
    transcription.segments.iter().map(|segment| (segment.start_seconds, segment.end_seconds)).collect()
}

fn ids(transcription: &Transcription) -> Vec<&str> {
    transcription.segments.iter().map(|segment| segment.id.as_str()).collect()
}

#[test]
fn a_diarized_answer_is_read_with_its_speakers_and_its_text_is_made_of_segments() {
    let answer = json!({"task": "transcribe", "duration": 9.5, "text": "A: Hello. B: Hi.", "segments": [
        {"type": "transcript.text.segment", "id": "seg_001", "start": 0.0, "end": 2.5, "text": " Hello.", "speaker": "A"},
        {"type": "transcript.text.segment", "id": "seg_002", "start": 2.5, "end": 4.0, "text": "How are you?", "speaker": "A"},
        {"type": "transcript.text.segment", "id": "seg_003", "start": 4.0, "end": 9.0, "text": "Fine.", "speaker": "B"},
    ], "usage": {"type": "duration", "seconds": 10}});
    let read = read_json(&answer);
    assert_eq!((read.text.as_str(), read.duration_seconds), ("Hello. How are you?\nFine.", Some(9.5)));
    assert_eq!(ids(&read), ["seg_001", "seg_002", "seg_003"]);
    assert_eq!(read.segments[2].speaker.as_deref(), Some("B"));
    assert_eq!(read.segments[0].text, "Hello.");
    assert_eq!(read.raw, answer.to_string());
}

#[test]
fn a_verbose_answer_keeps_its_own_text_and_its_numbers_become_ids() {
    let read = read_json(&json!({"language": "Russian", "duration": 3.2, "text": " Привет. Пока. ", "segments": [
        {"id": 0, "seek": 0, "start": 0.0, "end": 1.5, "text": " Привет.", "tokens": [1]},
        {"id": 1, "seek": 0, "start": 1.5, "end": 30.0, "text": " Пока."},
    ]}));
    assert_eq!((read.text.as_str(), read.language.as_deref()), ("Привет. Пока.", Some("russian")));
    assert_eq!(ids(&read), ["0", "1"]);
    assert_eq!(times(&read)[1], (Some(1.5), Some(30.0)), "an end after the clip's is not in nanoseconds");
}

#[test]
fn a_plain_answer_has_a_text_and_no_segments() {
    let read = read_json(&json!({"text": "Hello.", "usage": {"type": "duration", "seconds": 4}, "languages": ["en"]}));
    assert_eq!((read.text.as_str(), read.segments.len()), ("Hello.", 0));
    assert_eq!((read.duration_seconds, read.language.as_deref()), (Some(4.0), Some("en")));
}

#[test]
fn times_in_nanoseconds_become_seconds() {
    let read = read_json(&json!({"segments": [
        {"id": 0, "start": 0, "end": 1_500_000_000_u64, "text": "a", "speaker": "SPEAKER_00"},
        {"id": 1, "start": 1_500_000_000_u64, "end": 61_000_000_000_u64, "text": "b"},
    ]}));
    assert_eq!(times(&read), [(Some(0.0), Some(1.5)), (Some(1.5), Some(61.0))]);
    assert_eq!((read.duration_seconds, read.segments[1].speaker.as_deref()), (Some(61.0), None));
    assert_eq!(read_json(&json!({"text": "", "duration": 61e9})).duration_seconds, Some(61.0));
}

#[test]
fn an_id_of_any_type_is_a_text_and_each_is_there_once() {
    let segment = |id: Value| json!({"id": id, "text": "x"});
    let given = [json!("a"), json!(7), json!(null), json!("a"), json!(" "), json!({"x": 1}), json!("seg_003")];
    let read = read_json(&json!({"segments": given.map(segment)}));
    assert_eq!(ids(&read), ["a", "7", "seg_003", "a_004", "seg_005", "seg_006", "seg_003_007"]);
}

#[test]
fn segments_without_words_are_left_out_and_strange_times_are_missing() {
    let read = read_json(&json!({"text": "x", "segments": [
        {"id": 1, "start": 0, "end": 1, "text": " \n"}, {"id": 2, "start": 0}, null, 7,
        {"id": 3, "start": "1.5", "end": "1.0", "text": "said"}, {"id": 4, "start": -1, "end": null, "text": "too"},
    ]}));
    assert_eq!(ids(&read), ["3", "4"]);
    assert_eq!(times(&read), [(Some(1.5), Some(1.5)), (None, None)], "an end does not come before its start");
}

#[test]
fn silence_is_an_answer_and_something_else_is_not() {
    for silence in [json!({"text": ""}), json!({"text": " ", "segments": []}), json!({"segments": []})] {
        let read = read_json(&silence);
        assert_eq!((read.text.as_str(), read.segments.len()), ("", 0));
    }
    for other in ["", "1\n00:00 --> 00:01\nsrt", "{}", "[]", "null", "{\"text\": 7}"] {
        let error = read(Bytes::from(other)).unwrap_err();
        assert_eq!((error.kind, error.code.as_str()), (kernel::ErrorKind::Unavailable, "unreadable_answer"), "{other}");
    }
}

proptest! {
    #[test]
    fn an_answer_of_any_bytes_is_read_or_refused(bytes in any::<Vec<u8>>(), id in any::<Option<i64>>(), start in any::<f64>(), text in any::<String>()) {
        let _ = read(bytes.into());
        let answer = json!({"segments": [{"id": id, "start": start, "end": start / 2.0, "text": text}, {"id": id, "text": "x"}]});
        let read = read_json(&answer);
        let all: HashSet<&str> = ids(&read).into_iter().collect();
        prop_assert_eq!(all.len(), read.segments.len());
        prop_assert!(read.segments.iter().all(|segment| !segment.text.trim().is_empty() && segment.start_seconds.is_none_or(f64::is_finite)));
    }
}
