//! The checker: pure functions from the evidence to verdicts. It knows nothing of the code under test but its promises.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{
    evidence::{ArchiveEvidence, KeptChunk, KeptDocument},
    groups::{GroupMessage, is_missing, page_marker},
};
use crate::chaos::check::{Broken, ChaosVerdict};

/// A vector is kept with half the digits it was made with.
const SAME: f64 = 0.999;

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;

fn by(message: &GroupMessage, words: impl AsRef<str>) -> Broken {
    let words = format!("message {} of chat {}: {}", message.n, message.chat, words.as_ref());
    Broken { words, whose: Some(message.n.to_string()) }
}

fn id(message: &GroupMessage) -> i32 {
    i32::try_from(message.n).unwrap_or(0)
}

/// Every update that was answered with 2xx is kept once and was processed, and none can say that it could not be read.
pub(super) fn updates(evidence: &ArchiveEvidence) -> ChaosVerdict {
    let mut broken = Vec::new();
    let kept: HashMap<i64, _> = evidence.updates.iter().map(|update| (update.update_id, update)).collect();
    for taken in &evidence.taken {
        let words = match kept.get(&i64::try_from(*taken).unwrap_or(0)) {
            None => "was acknowledged and is not there".to_owned(),
            Some(update) if update.copies != 1 => format!("is there {} times", update.copies),
            Some(update) if update.problem.is_some() => format!("could not be read: {:?}", update.problem),
            Some(update) if !update.is_processed => "was not processed".to_owned(),
            Some(_) => continue,
        };
        broken.push(Broken::new(format!("update {taken} {words}")));
    }
    let figures = format!("{} updates, kept as {}", evidence.taken.len(), evidence.updates.len());
    ChaosVerdict { promise: "every acknowledged update is kept once and became facts", figures, broken }
}

/// What a job was for may go meanwhile, and a page may stay away; nothing else makes a job give up.
pub(super) fn jobs(evidence: &ArchiveEvidence) -> ChaosVerdict {
    let failed = evidence.failed_jobs.iter().filter(|(kind, _)| !kind.starts_with("knowledge.fetch_url "));
    let broken: Vec<Broken> = failed.map(|(kind, reason)| Broken::new(format!("{kind} x, at last: {reason}"))).collect();
    let figures = format!("{} kinds of jobs gave up", evidence.failed_jobs.len());
    ChaosVerdict { promise: "no job gave up", figures, broken }
}

/// Every message that was not forgotten is there once with all its versions, and its one document says what was said last.
pub(super) fn messages(evidence: &ArchiveEvidence) -> ChaosVerdict {
    let mut broken = Vec::new();
    let mut kept: HashMap<(i64, i32), Vec<i64>> = HashMap::new();
    for message in &evidence.messages {
        kept.entry((message.chat_id, message.message_id)).or_default().push(message.versions);
    }
    let mut documents: HashMap<(i64, i32), Vec<&KeptDocument>> = HashMap::new();
    for document in &evidence.documents {
        if let Some(message_id) = document.message_id {
            documents.entry((document.chat_id, message_id)).or_default().push(document);
        }
    }
    let (mut living, mut versions) = (0, 0);
    for message in &evidence.written {
        let key = (message.chat, id(message));
        let rows = kept.remove(&key).unwrap_or_default();
        let found = documents.remove(&key).unwrap_or_default();
        if message.is_forgotten {
            if !rows.is_empty() || !found.is_empty() {
                broken.push(by(message, "was forgotten, and is there"));
            }
            continue;
        }
        living += 1;
        versions += message.versions.len();
        if rows != [i64::try_from(message.versions.len()).unwrap_or(0)] {
            broken.push(by(message, format!("has {} versions, and is kept with {rows:?}", message.versions.len())));
        }
        match found.as_slice() {
            [document] if document.status != "done" => broken.push(by(message, format!("its document is {}", document.status))),
            [document] if document.text.as_deref() != Some(message.last().text.as_str()) => {
                broken.push(by(message, "its document does not say what was said last"));
            }
            [_] => {}
            _ => broken.push(by(message, format!("has {} documents", found.len()))),
        }
    }
    for (chat, n) in &evidence.commands {
        kept.remove(&(*chat, i32::try_from(*n).unwrap_or(0)));
    }
    broken.extend(kept.keys().chain(documents.keys()).map(|key| Broken::new(format!("nobody wrote message {key:?}"))));
    let forgotten = evidence.written.len() - living;
    let figures = format!("{living} messages with {versions} versions, {forgotten} more were forgotten");
    ChaosVerdict { promise: "every message is there once, as it was last said", figures, broken }
}

/// Every page that a message links, as it was last said, is a text in its chat, or tells why not; once, and for these messages.
pub(super) fn pages(evidence: &ArchiveEvidence) -> ChaosVerdict {
    let mut broken = Vec::new();
    let mut shared: BTreeMap<(i64, u64), BTreeSet<i32>> = BTreeMap::new();
    for message in evidence.written.iter().filter(|message| !message.is_forgotten) {
        for page in &message.last().pages {
            shared.entry((message.chat, *page)).or_default().insert(id(message));
        }
    }
    let mut documents: HashMap<(i64, &str), Vec<&KeptDocument>> = HashMap::new();
    for document in &evidence.documents {
        if let Some(url) = &document.url {
            documents.entry((document.chat_id, url.as_str())).or_default().push(document);
        }
    }
    let (mut done, mut unread) = (0, 0);
    for ((chat, page), sources) in &shared {
        let url = evidence.urls.get(page).map_or("", String::as_str);
        let marker = page_marker(evidence.seed, *page);
        let mut is_broken = |words: String| {
            let whose = sources.first().map(ToString::to_string);
            broken.push(Broken { words: format!("page {marker} of chat {chat}, linked by {sources:?}: {words}"), whose });
        };
        match documents.remove(&(*chat, url)).unwrap_or_default().as_slice() {
            [document] => {
                if document.sources.iter().copied().collect::<BTreeSet<_>>() != *sources {
                    is_broken(format!("is shared by {:?}", document.sources));
                }
                let has_text = document.text.as_deref().is_some_and(|text| text.contains(&marker));
                match (document.status.as_str(), is_missing(*page)) {
                    ("done", false) if has_text => done += 1,
                    ("done", _) => is_broken("its text is another one".to_owned()),
                    (status, _) if document.error.is_none() => is_broken(format!("is {status} without a reason")),
                    _ => unread += 1,
                }
            }
            found => is_broken(format!("has {} documents", found.len())),
        }
    }
    broken.extend(documents.keys().map(|(chat, url)| Broken::new(format!("nobody in chat {chat} links {url} any more"))));
    let figures = format!("{} pages in their chats: {done} are texts, {unread} say why not", shared.len());
    ChaosVerdict { promise: "every page that is linked is a text, or says why not", figures, broken }
}

/// The chunks of a document are of its present text, each stands where it says, and no word is outside of all of them.
pub(super) fn chunks(evidence: &ArchiveEvidence) -> ChaosVerdict {
    let mut broken = Vec::new();
    let mut of: HashMap<i64, Vec<&KeptChunk>> = HashMap::new();
    for chunk in &evidence.chunks {
        of.entry(chunk.document_id).or_default().push(chunk);
    }
    let mut several = 0;
    for document in &evidence.documents {
        let chunks = of.remove(&document.id).unwrap_or_default();
        several += usize::from(chunks.len() > 1);
        let text: Vec<char> = document.text.as_deref().unwrap_or_default().chars().collect();
        if let Some(words) = wrong_chunks(document, &text, &chunks) {
            let whose = document.message_id.or(document.sources.first().copied()).map(|id| id.to_string());
            broken.push(Broken { words: format!("document {}: {words}", document.id), whose });
        }
    }
    broken.extend(of.keys().map(|id| Broken::new(format!("chunks of document {id}, which is not there"))));
    let figures = format!("{} chunks of {} documents, {several} have several", evidence.chunks.len(), evidence.documents.len());
    ChaosVerdict { promise: "a text has exactly its chunks", figures, broken }
}

fn wrong_chunks(document: &KeptDocument, text: &[char], chunks: &[&KeptChunk]) -> Option<String> {
    let place = |number: i32| usize::try_from(number).unwrap_or(usize::MAX);
    let mut covered = 0;
    for (n, chunk) in chunks.iter().enumerate() {
        let (start, end) = (place(chunk.start_char), place(chunk.end_char));
        if place(chunk.chunk_no) != n {
            return Some(format!("chunk {n} is missing"));
        } else if chunk.version != document.version {
            return Some(format!("chunk {n} is of version {}, not {}", chunk.version, document.version));
        } else if !text.get(start..end).is_some_and(|part| part.iter().copied().eq(chunk.text.chars())) {
            return Some(format!("chunk {n} is not what stands at {start}..{end}"));
        } else if start > covered && text[covered..start].iter().any(|c| !c.is_whitespace()) {
            return Some(format!("nothing has what stands at {covered}..{start}"));
        }
        covered = covered.max(end);
    }
    text[covered.min(text.len())..].iter().any(|c| !c.is_whitespace()).then(|| format!("nothing has what stands after {covered}"))
}

/// One vector by the active model for each chunk, and it is the vector of what the chunk says.
pub(super) fn vectors(evidence: &ArchiveEvidence) -> ChaosVerdict {
    let mut broken = Vec::new();
    for chunk in &evidence.chunks {
        let words = if (chunk.vectors, chunk.other_vectors) != (1, 0) {
            format!("has {} vectors, and {} by other models", chunk.vectors, chunk.other_vectors)
        } else if !chunk.is_own {
            "its vector was made from something else".to_owned()
        } else if chunk.nearness < SAME {
            format!("its vector is that of another text: {:.3} near to its own", chunk.nearness)
        } else {
            continue;
        };
        let document = evidence.documents.iter().find(|document| document.id == chunk.document_id);
        let whose = document.and_then(|document| document.message_id).map(|id| id.to_string());
        broken.push(Broken { words: format!("chunk {} of document {} {words}", chunk.chunk_no, chunk.document_id), whose });
    }
    let figures = format!("{} vectors, each made again and compared", evidence.chunks.len());
    ChaosVerdict { promise: "each chunk has one vector, made of what it says", figures, broken }
}

/// No marker of a forgotten message, or of a page that only such ones linked, stands anywhere.
pub(super) fn forgotten(evidence: &ArchiveEvidence) -> ChaosVerdict {
    let gone = evidence.forgotten_markers();
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for trace in evidence.traces.iter().filter(|trace| gone.contains(&trace.marker)) {
        found.entry(&trace.marker).or_default().insert(&trace.place);
    }
    let number = |marker: &str| marker.rsplit_once('m').map(|(_, rest)| rest.trim_end_matches('q').to_owned());
    let broken = found.iter().map(|(marker, places)| {
        let places: Vec<&str> = places.iter().copied().collect();
        Broken { words: format!("{marker} still stands in {}", places.join(", ")), whose: number(marker) }
    });
    let broken = broken.collect();
    let places: BTreeSet<&str> = evidence.traces.iter().map(|trace| trace.place.as_str()).collect();
    let figures = format!("{} words searched for; others were found in {} tables and files", gone.len(), places.len());
    ChaosVerdict { promise: "nothing is left of what was forgotten", figures, broken }
}
