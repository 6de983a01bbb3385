use super::*;
use crate::chaos::knowledge::{
    evidence::{KeptMessage, KeptUpdate},
    groups::GroupVersion,
    traces::MarkerTrace,
};

const CHAT: i64 = -5;
const URL: &str = "http://site/pages/zk7p1q";

/// One message of two versions that links a page, all as it should be.
fn archive() -> ArchiveEvidence {
    let said = |text: &str| GroupVersion { text: text.into(), pages: vec![1] };
    let message = GroupMessage {
        n: 3,
        chat: CHAT,
        author: 1,
        versions: vec![said("old"), said("new words")],
        is_forgotten: false,
        quoted: None,
    };
    let document = |id, message_id, url: Option<&str>, text: &str| KeptDocument {
        id,
        chat_id: CHAT,
        message_id,
        url: url.map(Into::into),
        status: "done".into(),
        error: None,
        text: Some(text.into()),
        version: 2,
        sources: if url.is_some() { vec![3] } else { Vec::new() },
    };
    ArchiveEvidence {
        seed: 7,
        written: vec![message],
        taken: vec![1, 2],
        updates: [1, 2].map(|update_id| KeptUpdate { update_id, copies: 1, is_processed: true, problem: None }).into(),
        messages: vec![KeptMessage { chat_id: CHAT, message_id: 3, versions: 2 }],
        documents: vec![document(1, Some(3), None, "new words"), document(2, None, Some(URL), "zk7p1q")],
        chunks: vec![KeptChunk::whole(1, "new words"), KeptChunk::whole(2, "zk7p1q")],
        urls: HashMap::from([(1, URL.to_owned())]),
        ..ArchiveEvidence::default()
    }
}

impl KeptChunk {
    fn whole(document_id: i64, text: &str) -> Self {
        Self::of_text(document_id, text, i32::try_from(text.chars().count()).unwrap())
    }
}

#[test]
fn an_archive_in_which_all_is_well_breaks_nothing() {
    let good = archive();
    for verdict in [updates(&good), messages(&good), pages(&good), chunks(&good), vectors(&good), forgotten(&good)] {
        assert!(verdict.broken.is_empty(), "{verdict:?}");
    }
}

#[test]
fn an_update_that_is_lost_doubled_unread_or_unprocessed_is_found() {
    let changes: [fn(&mut ArchiveEvidence); 4] = [
        |evidence| evidence.updates.truncate(1),
        |evidence| evidence.updates[0].copies = 2,
        |evidence| evidence.updates[0].problem = Some("no".into()),
        |evidence| evidence.updates[0].is_processed = false,
    ];
    for change in changes {
        let mut bad = archive();
        change(&mut bad);
        assert_eq!(updates(&bad).broken.len(), 1);
    }
}

#[test]
fn a_job_that_gave_up_is_found_unless_it_only_wanted_a_page() {
    let mut evidence = archive();
    evidence.failed_jobs.insert("knowledge.fetch_url 1".into(), "away".into());
    assert!(jobs(&evidence).broken.is_empty());
    evidence.failed_jobs.insert("knowledge.chunk 2".into(), "there is no document 5".into());
    assert_eq!(jobs(&evidence).broken.len(), 1);
}

#[test]
fn a_message_that_is_lost_old_or_there_although_it_was_forgotten_is_found() {
    let changes: [fn(&mut ArchiveEvidence); 4] = [
        |evidence| evidence.messages.clear(),
        |evidence| evidence.messages[0].versions = 3,
        |evidence| evidence.documents[0].text = Some("old".into()),
        |evidence| evidence.written[0].is_forgotten = true,
    ];
    for change in changes {
        let mut bad = archive();
        change(&mut bad);
        assert_eq!(messages(&bad).broken.len(), 1, "{:?}", messages(&bad));
    }
    let mut unwritten = archive();
    unwritten.written.clear();
    assert_eq!(messages(&unwritten).broken.len(), 2);
}

#[test]
fn a_page_without_document_text_reason_or_reader_is_found() {
    let changes: [fn(&mut ArchiveEvidence); 5] = [
        |evidence| evidence.documents.truncate(1),
        |evidence| evidence.documents[1].text = Some("something else".into()),
        |evidence| evidence.documents[1].status = "pending".into(),
        |evidence| evidence.documents[1].sources.clear(),
        |evidence| evidence.written[0].versions[1].pages.clear(),
    ];
    for change in changes {
        let mut bad = archive();
        change(&mut bad);
        assert_eq!(pages(&bad).broken.len(), 1, "{:?}", pages(&bad));
    }
    let mut waits = archive();
    waits.documents[1].status = "error".into();
    waits.documents[1].error = Some("the site is away".into());
    assert!(pages(&waits).broken.is_empty());
}

#[test]
fn a_chunk_of_another_place_version_or_document_and_a_word_in_none_are_found() {
    let changes: [fn(&mut ArchiveEvidence); 5] = [
        |evidence| evidence.chunks[0].start_char = 1,
        |evidence| evidence.chunks[0].version = 1,
        |evidence| evidence.chunks[0].chunk_no = 1,
        |evidence| evidence.chunks[0] = KeptChunk::of_text(1, "new", 3),
        |evidence| evidence.chunks.push(KeptChunk::whole(9, "whose?")),
    ];
    for change in changes {
        let mut bad = archive();
        change(&mut bad);
        assert_eq!(chunks(&bad).broken.len(), 1, "{:?}", chunks(&bad));
    }
}

#[test]
fn a_vector_that_is_missing_doubled_or_of_another_text_is_found() {
    let changes: [fn(&mut KeptChunk); 4] =
        [|chunk| chunk.vectors = 0, |chunk| chunk.other_vectors = 1, |chunk| chunk.is_own = false, |chunk| chunk.nearness = 0.9];
    for change in changes {
        let mut bad = archive();
        change(&mut bad.chunks[0]);
        assert_eq!(vectors(&bad).broken.len(), 1);
    }
}

#[test]
fn a_trace_of_the_forgotten_is_found_and_a_page_that_somebody_else_links_may_stay() {
    let mut evidence = archive();
    evidence.written[0].is_forgotten = true;
    evidence.traces =
        ["zk7m3q", "zk7p1q"].map(|marker| MarkerTrace { marker: marker.into(), place: "raw.telegram_updates".into() }).into();
    assert_eq!(forgotten(&evidence).broken.len(), 2);
    let other = GroupMessage { n: 4, is_forgotten: false, ..evidence.written[0].clone() };
    evidence.written.push(other);
    let verdict = forgotten(&evidence);
    assert!(verdict.broken.len() == 1 && verdict.broken[0].words.starts_with("zk7m3q"), "{verdict:?}");
}
