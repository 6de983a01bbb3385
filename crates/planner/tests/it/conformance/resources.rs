//! The fixture resources.

use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use super::tools::PNG;

pub(super) fn list() -> Vec<Resource> {
    let known = [("static-text", "text/plain"), ("static-binary", "image/png"), ("watched-resource", "text/plain")];
    let resource = |(name, mime_type): (&str, &str)| {
        let resource = Resource::new(format!("test://{name}"), name).with_description("A fixture of the conformance suite.");
        resource.with_mime_type(mime_type)
    };
    known.map(resource).into()
}

pub(super) fn template() -> ResourceTemplate {
    let template = ResourceTemplate::new("test://template/{id}/data", "template").with_mime_type("application/json");
    template.with_description("A fixture of the conformance suite.")
}

pub(super) fn read(uri: &str) -> Option<ReadResourceResult> {
    let contents = match uri.strip_prefix("test://")? {
        "static-text" => ResourceContents::text("This is the content of the static text resource.", uri),
        "static-binary" => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
        "watched-resource" => ResourceContents::text("This resource is watched.", uri),
        other => {
            let id = other.strip_prefix("template/")?.strip_suffix("/data")?;
            let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
        }
    };
    Some(ReadResourceResult::new(vec![contents]))
}
