//! `POST /v1/audio/transcriptions`: which model takes which file, format and option.

use axum::response::Response;

use crate::http::{BodyError, Part};
use crate::models::Scripts;
use crate::models::TranscriptScript;
use crate::simulators::World;

use super::problem::Problem;
use super::transcript::{Format, Transcript};
use super::{Content, sound, transcript};

const FILE_BYTES_MAX: usize = 25 * 1024 * 1024;
const EXTENSIONS: [&str; 9] = ["flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "ogg", "wav", "webm"];
const SPEAKERS_MAX: usize = 4;

struct Model {
    name: &'static str,
    formats: &'static [Format],
    seconds_max: Option<f64>,
    is_diarizing: bool,
}

const MODELS: [Model; 6] = [
    Model {
        name: "whisper-1",
        formats: &[Format::Json, Format::Text, Format::Srt, Format::VerboseJson, Format::Vtt],
        seconds_max: None,
        is_diarizing: false,
    },
    Model { name: "gpt-4o-transcribe", formats: &[Format::Json], seconds_max: Some(1500.0), is_diarizing: false },
    Model { name: "gpt-4o-mini-transcribe", formats: &[Format::Json], seconds_max: Some(1500.0), is_diarizing: false },
    Model { name: "gpt-4o-mini-transcribe-2025-12-15", formats: &[Format::Json], seconds_max: Some(1500.0), is_diarizing: false },
    Model { name: "gpt-transcribe", formats: &[Format::Json], seconds_max: Some(1500.0), is_diarizing: false },
    Model {
        name: "gpt-4o-transcribe-diarize",
        formats: &[Format::Json, Format::Text, Format::DiarizedJson],
        seconds_max: Some(1400.0),
        is_diarizing: true,
    },
];

pub(super) fn is_model(name: &str) -> bool {
    MODELS.iter().any(|model| model.name == name)
}

/// The parts of the form; a name of a list may come with or without `[]`.
struct Form(Vec<Part>);

impl Form {
    fn text(&self, name: &str) -> Option<String> {
        self.all(name).into_iter().next().filter(|text| !text.is_empty())
    }

    fn all(&self, name: &str) -> Vec<String> {
        let of_name = |part: &&Part| part.field.strip_suffix("[]").unwrap_or(&part.field) == name && part.file_name.is_none();
        self.0.iter().filter(of_name).map(|part| String::from_utf8_lossy(&part.bytes).into_owned()).collect()
    }
}

pub(super) fn transcribe(world: &World, content: Content) -> Result<Response, Problem> {
    let form = match content {
        Content::Multipart(parts) => Form(parts),
        Content::Unreadable(BodyError::TooLarge) => return Err(Problem::too_large(crate::http::BODY_BYTES_MAX, FILE_BYTES_MAX)),
        _ => return Err(Problem::missing("file")),
    };
    // A part without a file name is a field of the form, not a file.
    let file = form.0.iter().find(|part| part.field == "file" && part.file_name.is_some());
    let file = file.ok_or_else(|| Problem::missing("file"))?;
    if file.bytes.len() > FILE_BYTES_MAX {
        return Err(Problem::too_large(file.bytes.len(), FILE_BYTES_MAX));
    }
    let name = form.text("model").ok_or_else(|| Problem::invalid("you must provide a model parameter"))?;
    let model = MODELS.iter().find(|model| model.name == name).ok_or_else(|| Problem::unknown_model(&name))?;
    let format = read_format(&form, model)?;
    check_options(&form, model, format)?;
    check_file(file)?;
    let (seconds, is_known) = sound::duration(&file.bytes);
    if let Some(seconds_max) = model.seconds_max.filter(|seconds_max| is_known && seconds > *seconds_max) {
        let message =
            format!("audio duration {seconds} seconds is longer than {seconds_max} seconds which is the maximum for this model");
        return Err(Problem::param("file", "invalid_value", message));
    }
    let transcript = script(&world.openai.transcripts, &file.bytes, seconds);
    if form.text("stream").as_deref() == Some("true") && model.name != "whisper-1" {
        return Ok(transcript.stream(model.is_diarizing));
    }
    let has_words = form.all("timestamp_granularities").iter().any(|grain| grain == "word");
    Ok(transcript.respond(format, has_words))
}

fn script(scripts: &Scripts<TranscriptScript>, bytes: &[u8], seconds: f64) -> Transcript {
    scripts.next().map_or_else(
        || transcript::by_rule(bytes, seconds),
        |script| {
            let end = script.segments.last().map_or(seconds, |segment| segment.end);
            Transcript { duration: script.duration.unwrap_or(end), segments: script.segments }
        },
    )
}

fn read_format(form: &Form, model: &Model) -> Result<Format, Problem> {
    let Some(wanted) = form.text("response_format") else {
        return Ok(Format::Json);
    };
    let format = Format::read(&wanted).ok_or_else(|| {
        let message = format!("Invalid value: '{wanted}'. Supported values are: {}.", names(&Format::ALL));
        Problem::param("response_format", "invalid_value", message)
    })?;
    if model.formats.contains(&format) {
        return Ok(format);
    }
    let message = format!(
        "response_format '{wanted}' is not compatible with model '{}'. Use {} instead.",
        model.name,
        names(model.formats)
    );
    Err(Problem::param("response_format", "unsupported_value", message))
}

fn names(formats: &[Format]) -> String {
    formats.iter().map(|format| format!("'{}'", format.name())).collect::<Vec<_>>().join(", ")
}

fn check_options(form: &Form, model: &Model, format: Format) -> Result<(), Problem> {
    let refuse = |param: &str, why: &str| Err(Problem::param(param, "unsupported_value", why.to_owned()));
    if model.is_diarizing {
        // Documented for audio above 30 seconds only; in practice refused for any.
        if form.text("chunking_strategy").is_none() {
            return Err(Problem::param("chunking_strategy", "", "chunking_strategy is required for diarization models"));
        }
        if form.text("prompt").is_some() {
            return refuse("prompt", "Prompt is not supported for diarization models");
        }
    }
    let grains = form.all("timestamp_granularities");
    if !grains.is_empty() && format != Format::VerboseJson {
        return refuse(
            "timestamp_granularities",
            "timestamp_granularities is only supported with response_format 'verbose_json'",
        );
    }
    let is_plain = !model.is_diarizing && model.name != "whisper-1" && format == Format::Json;
    if !form.all("include").is_empty() && !is_plain {
        return refuse("include", "logprobs are not supported for this model and response_format");
    }
    for list in ["languages", "keywords"] {
        if !form.all(list).is_empty() && model.name != "gpt-transcribe" {
            return refuse(list, &format!("{list} is only supported for gpt-transcribe"));
        }
    }
    let (names, references) = (form.all("known_speaker_names"), form.all("known_speaker_references"));
    if names.len() > SPEAKERS_MAX || names.len() != references.len() {
        return refuse("known_speaker_names", "up to 4 known speakers, each with a reference, are supported");
    }
    let temperature = form.text("temperature").map(|text| text.parse::<f64>());
    if temperature.is_some_and(|value| !value.is_ok_and(|value| (0.0..=1.0).contains(&value))) {
        return Err(Problem::param("temperature", "invalid_value", "temperature must be between 0 and 1"));
    }
    Ok(())
}

/// The extension decides: a name without one is as bad as a foreign one.
fn check_file(file: &Part) -> Result<(), Problem> {
    let name = file.file_name.as_deref().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    if !EXTENSIONS.contains(&extension.as_str()) {
        let supported = EXTENSIONS.map(|known| format!("'{known}'")).join(", ");
        return Err(Problem::invalid(format!("Invalid file format. Supported formats: [{supported}]")));
    }
    if file.bytes.is_empty() {
        let message = "Audio file is too short. Minimum audio length is 0.1 seconds.";
        return Err(Problem::param("file", "audio_too_short", message));
    }
    Ok(())
}
