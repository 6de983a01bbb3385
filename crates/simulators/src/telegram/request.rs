//! Reads the parameters of a call from the query string and from a body in any of the three encodings.

use axum::body::Body;
use axum::http::request::Parts;

use crate::http::{self, BodyError, Part};
use crate::params::Params;

use super::errors::Refusal;

/// The parameters, and the files of a multipart body.
pub(super) async fn read(parts: &Parts, body: Body) -> Result<(Params, Vec<Part>), Refusal> {
    let mut params = Params::default();
    if let Some(query) = parts.uri.query() {
        read_form(query.as_bytes(), &mut params)?;
    }
    let content_type = http::content_type(parts);
    if content_type.starts_with("multipart/form-data") {
        let files = read_multipart(parts, body, &mut params).await?;
        return Ok((params, files));
    }
    let bytes = http::read_body(body).await.map_err(refusal)?;
    if bytes.is_empty() {
        return Ok((params, Vec::new()));
    }
    if content_type.starts_with("application/json") {
        let given: Params = serde_json::from_slice(&bytes).map_err(|_| Refusal::bad_request("can't parse JSON object"))?;
        if parts.uri.query().is_none() {
            params = given;
        } else {
            params.extend(given);
        }
    } else if content_type.starts_with("application/x-www-form-urlencoded") {
        read_form(&bytes, &mut params)?;
    }
    Ok((params, Vec::new()))
}

async fn read_multipart(parts: &Parts, body: Body, params: &mut Params) -> Result<Vec<Part>, Refusal> {
    let mut files = Vec::new();
    for part in http::read_multipart(parts, body).await.map_err(refusal)? {
        if part.file_name.is_some() {
            files.push(part);
        } else {
            let text = std::str::from_utf8(&part.bytes).map_err(|_| not_utf8())?;
            params.push(part.field, text);
        }
    }
    Ok(files)
}

fn read_form(form: &[u8], params: &mut Params) -> Result<(), Refusal> {
    for (name, value) in url::form_urlencoded::parse(form) {
        // The decoder replaces what is not UTF-8; a replacement nobody wrote means there was such a thing.
        let replaced = value.contains(char::REPLACEMENT_CHARACTER)
            && !form.to_ascii_uppercase().windows(9).any(|window| window == b"%EF%BF%BD");
        if replaced {
            return Err(not_utf8());
        }
        params.push(name, value.into_owned());
    }
    Ok(())
}

fn refusal(error: BodyError) -> Refusal {
    match error {
        BodyError::TooLarge => Refusal::too_large(),
        BodyError::Broken => Refusal::bad_request("can't parse multipart/form-data"),
    }
}

fn not_utf8() -> Refusal {
    Refusal::bad_request("strings must be encoded in UTF-8")
}
