//! WF40: cuts the text of a document.

use kernel::Problem;
use platform::{DbError, wake::Topic};
use serde_json::{Value, json};

use super::{Request, refused};
use crate::{
    Knowledge,
    model::chunking::{Chunking, cut, text_sha256, token_count},
    search::terms,
    store::{self, CutText},
};

/// A text that changes while it is cut is cut again; one that never rests is left to its next job.
const TRIES: usize = 5;

pub(super) async fn run(knowledge: &Knowledge, request: Request) -> Result<Value, Problem> {
    let document_id = request.number("document_id")?;
    let size = |field: &str, default: usize| match &request.req["chunking"][field] {
        Value::Null => Ok(default),
        value => value
            .as_u64()
            .and_then(|size| usize::try_from(size).ok())
            .ok_or_else(|| Problem::validation("chunking", format!("`chunking.{field}` is a whole number of characters"))),
    };
    let defaults = Chunking::default();
    let chunking = Chunking::new(size("max_chars", defaults.max_chars)?, size("overlap", defaults.overlap)?)
        .map_err(|problem| Problem::validation("chunking", problem.to_string()))?;
    for _ in 0..TRIES {
        let query = "select coalesce(d.text, ''), d.version, d.status, d.marks, coalesce(knowledge.document_context(d), '')
               from content.documents d where (d.workspace_id, d.id) = ($1, $2)";
        let query = sqlx::query_as(query).bind(request.workspace.uuid()).bind(document_id);
        let found: Option<(String, i32, String, Value, String)> =
            query.fetch_optional(knowledge.db.pool()).await.map_err(DbError::from)?;
        let (text, version, status, marks, context) = found.ok_or_else(|| Problem::not_found("document"))?;
        if status != "done" {
            return Err(Problem::conflict("knowledge.no_text", "the document has no text yet; extract it first"));
        }
        let cut = tokio::task::spawn_blocking(move || {
            let tokens = token_count(&text);
            let mut places = Places::new(&marks);
            let pieces: Vec<Value> = cut(&text, chunking)
                .into_iter()
                .map(|piece| {
                    json!({ "text_sha256": text_sha256(&piece.text), "start": piece.start, "end": piece.end,
                            "mark": places.at(piece.start), "terms": terms::weights(&format!("{context}\n{}", piece.text)),
                            "text": piece.text })
                })
                .collect();
            CutText { version, context, token_count: tokens, chunks: Value::Array(pieces) }
        })
        .await
        .map_err(|_| Problem::internal())?;
        let stored = store::store_chunks(&knowledge.db, request.workspace, document_id, &cut, request.trace()).await;
        if let Some(chunks) = stored.map_err(refused)? {
            knowledge.db.wake().tell(Topic::JOBS);
            return Ok(json!({ "document_id": document_id, "chunks_created": chunks }));
        }
    }
    Err(Problem::new(409, kernel::Kind::Unavailable, "knowledge.text_changes", "the text of the document changes all the time"))
}

/// The page, slide or sheet of a place in the text. Places are asked for in their order, so one pass over the marks is enough.
struct Places<'a> {
    marks: std::iter::Peekable<std::slice::Iter<'a, Value>>,
    current: Option<&'a Value>,
}

impl<'a> Places<'a> {
    fn new(marks: &'a Value) -> Self {
        Self { marks: marks.as_array().map(Vec::as_slice).unwrap_or_default().iter().peekable(), current: None }
    }

    fn at(&mut self, start: usize) -> Option<&'a Value> {
        while let Some(mark) = self.marks.next_if(|mark| mark["start"].as_u64().is_some_and(|at| at <= start as u64)) {
            self.current = Some(mark);
        }
        self.current
    }
}
