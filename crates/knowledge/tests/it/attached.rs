//! WF32 and WF33: a file of Telegram is downloaded once, read, and found; what cannot be read says why.

use base64::{Engine, engine::general_purpose::STANDARD};
use llm::{OpenAiAudioOptions, OpenAiSettings, OpenAiTranscriber};
use serde_json::{Value, json};
use testkit::http::ask;

use crate::world::{Archive, GROUP, MEMBER, said};

impl Archive {
    /// A file that a user sent: the fields of its message.
    async fn file(&self, kind: &str, name: &str, mime: &str, content: Value) -> Value {
        let mut asked = json!({ "provider": "telegram", "token": "123456:test-token", "kind": kind, "name": name, "mime": mime });
        asked.as_object_mut().expect("an object").extend(content.as_object().expect("an object").clone());
        let made = self.control("files", asked).await;
        assert!(made["message"].is_object(), "{made}");
        made
    }
}

fn shared(update_id: i64, file: &Value) -> Value {
    let mut body = said(update_id, "");
    let fields = body.as_object_mut().expect("an object");
    fields.remove("text");
    fields.extend(file["message"].as_object().expect("fields of a message").clone());
    json!({ "update_id": update_id, "message": body })
}

fn bytes(text: &str) -> Value {
    json!({ "bytes_base64": base64(text.as_bytes()) })
}

/// The simulator takes bytes this way.
fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[tokio::test]
async fn a_file_becomes_a_document_that_can_be_found_under_its_name() {
    let archive = Archive::new().await;
    let file = archive.file("document", "Прайс.txt", "text/plain", bytes("Короб берестяной, 1200 рублей за штуку.")).await;
    let stored = archive.process(&shared(1, &file)).await;
    assert_eq!(stored["created_jobs"]["file_jobs"].as_array().unwrap().len(), 1, "{stored}");
    archive.work().await;
    assert_eq!(archive.documents().await, [("done".to_owned(), None)]);
    assert_eq!(archive.texts().await, ["Короб берестяной, 1200 рублей за штуку."]);
    let document = archive.ask("(select row_to_json(d) from content.documents d)").await;
    assert_eq!((&document["title"], &document["author"]), (&json!("Прайс.txt"), &json!("Анна")));
    let path = archive.ask("(select to_jsonb(tg_file_path) from tg.file_instances)").await;
    assert!(path.as_str().is_some_and(|path| !path.is_empty()));
}

#[tokio::test]
async fn the_contract_of_the_downloader_and_it_again() {
    let archive = Archive::new().await;
    let file = archive.file("document", "a.txt", "text/plain", bytes("Ведомость")).await;
    let stored = archive.process(&shared(1, &file)).await;
    let ctx = json!({ "chat_id": GROUP, "visibility": "group", "dm_owner_user_id": null,
                      "message_version_id": stored["message_version_id"] });
    let req = json!({ "file_id": file["file_id"], "file_unique_id": file["file_unique_id"], "ctx": ctx });
    let first = archive.data("WF32", req.clone()).await;
    assert!(first["blob_object_id"].is_i64() && first["document_id"].is_i64(), "{first}");
    assert_eq!(first["file_unique_id"], file["file_unique_id"]);
    let again = archive.data("WF32", req).await;
    assert_eq!((&again["document_id"], &again["blob_object_id"]), (&first["document_id"], &first["blob_object_id"]));
    assert_eq!((archive.count("content.blob_objects").await, archive.count("content.documents").await), (1, 1));
    let (status, _) = archive.call("WF32", json!({ "file_id": "x", "file_unique_id": "nobody", "ctx": ctx })).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn a_document_whose_bytes_are_lost_ends_with_a_reason() {
    let archive = Archive::new().await;
    let file = archive.file("document", "a.txt", "text/plain", bytes("Ведомость")).await;
    let stored = archive.process(&shared(1, &file)).await;
    let ctx = json!({ "chat_id": GROUP, "visibility": "group", "message_version_id": stored["message_version_id"] });
    let req = json!({ "file_id": file["file_id"], "file_unique_id": file["file_unique_id"], "ctx": ctx });
    let document = archive.data("WF32", req).await["document_id"].clone();
    let key = archive.ask("(select object_key from content.blob_objects)").await;
    archive.knowledge.objects.delete(archive.workspace, key.as_str().unwrap()).await.unwrap();
    assert_eq!(archive.data("WF33", json!({ "document_id": document })).await["status"], "error");
    assert!(archive.documents().await[0].1.as_ref().unwrap().contains("object storage"));
}

#[tokio::test]
async fn a_file_is_tried_again_for_a_message_that_still_shares_it() {
    let archive = Archive::new().await;
    let file = archive.file("document", "a.txt", "text/plain", bytes("Ведомость")).await;
    let reference = archive.ask("(select secret_ref from core.bots)").await;
    archive.run("update core.bots set secret_ref = 'file:/nowhere'").await;
    archive.process(&shared(1, &file)).await;
    archive.process(&shared(2, &file)).await;
    archive.work().await;
    archive.advance(7 * 86400);
    for _ in 0..20 {
        archive.work().await;
        archive.advance(86400);
    }
    assert_eq!(archive.documents().await[0].0, "error");
    // The message that it was made for is forgotten; the other one is there.
    archive.ask(&format!("knowledge.forget('{}', 'message', {GROUP}, 1, null, 'test')", archive.workspace.uuid())).await;
    archive.run(&format!("update core.bots set secret_ref = '{}'", reference.as_str().unwrap())).await;
    let document = archive.ask("(select id from content.documents where doc_type = 'file')").await;
    let writer = archive.token(&["write"]).await;
    let path = format!("/api/knowledge/documents/{document}/retry");
    let (status, answer) = ask(&archive.router, Some(&writer), "POST", &path, None).await;
    assert_eq!(status, 200, "{answer}");
    archive.work().await;
    assert_eq!(archive.documents().await, [("done".to_owned(), None)]);
    assert_eq!(archive.texts().await, ["Ведомость"]);
    let (status, _) = ask(&archive.router, Some(&writer), "POST", &path, None).await;
    assert_eq!(status, 409, "it has its text");
    let (status, _) = ask(&archive.router, Some(&writer), "POST", "/api/knowledge/documents/0/retry", None).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn the_same_file_in_two_chats_is_downloaded_once_and_is_a_document_of_each() {
    let archive = Archive::new().await;
    let file = archive.file("document", "a.txt", "text/plain", bytes("Общий файл")).await;
    archive.process(&shared(1, &file)).await;
    let mut private = shared(2, &file);
    private["message"]["chat"] = json!({ "id": MEMBER, "type": "private", "first_name": "Анна" });
    archive.process(&private).await;
    archive.work().await;
    assert_eq!(archive.documents().await.len(), 2);
    assert_eq!(archive.count("content.blob_objects").await, 1);
    assert_eq!(archive.count("content.object_garbage").await, 0);
}

#[tokio::test]
async fn a_file_above_20_mb_is_told_as_such_and_never_asked_for_in_vain() {
    let archive = Archive::new().await;
    let file = archive.file("document", "big.bin", "application/pdf", json!({ "bytes": 21 << 20 })).await;
    archive.process(&shared(1, &file)).await;
    archive.work().await;
    let documents = archive.documents().await;
    assert_eq!(documents[0].0, "error");
    assert!(documents[0].1.as_ref().unwrap().contains("20 MB"), "{documents:?}");
}

#[tokio::test]
async fn a_policy_without_downloads_makes_no_job_and_refuses_the_downloader() {
    let archive = Archive::new().await;
    archive
        .ask(&format!("to_jsonb(knowledge.set_policy('{}', {GROUP}, '{{\"allow_file_download\": false}}'))", archive.workspace))
        .await;
    let file = archive.file("document", "a.txt", "text/plain", bytes("секрет")).await;
    let stored = archive.process(&shared(1, &file)).await;
    assert_eq!(stored["created_jobs"]["file_jobs"], json!([]));
    let ctx = json!({ "chat_id": GROUP, "visibility": "group" });
    let req = json!({ "file_id": file["file_id"], "file_unique_id": file["file_unique_id"], "ctx": ctx });
    assert_eq!(archive.call("WF32", req).await.0, 403);
    assert_eq!(archive.count("content.documents").await, 0);
}

#[tokio::test]
async fn what_cannot_be_read_has_a_reason_and_the_next_file_goes_through() {
    let archive = Archive::new().await;
    for (at, (name, content)) in
        [("empty.txt", " "), ("broken.pdf", "%PDF-1.7 and nothing more"), ("odd.bin", "\u{1}\u{2}\u{0}\u{3}")]
            .into_iter()
            .enumerate()
    {
        let file = archive.file("document", name, "application/octet-stream", bytes(content)).await;
        archive.process(&shared(10 + i64::try_from(at).unwrap(), &file)).await;
    }
    let good = archive.file("document", "good.txt", "text/plain", bytes("Хороший файл")).await;
    archive.process(&shared(20, &good)).await;
    archive.work().await;
    let documents = archive.documents().await;
    for (status, reason) in &documents[..3] {
        assert!(status == "error" && reason.as_ref().is_some_and(|reason| reason.len() > 10), "{documents:?}");
    }
    assert_eq!(documents[3], ("done".to_owned(), None));
}

#[tokio::test]
async fn a_recording_is_transcribed_if_somebody_can_and_says_so_if_nobody_can() {
    let mut archive = Archive::new().await;
    let voice = archive
        .file("voice", "voice.ogg", "audio/ogg", json!({ "bytes_base64": base64(b"OggS\x00\x02aaaaaaaaaaaaaaaaaaaaaaOpusHead") }))
        .await;
    archive.process(&shared(1, &voice)).await;
    archive.work().await;
    let documents = archive.documents().await;
    assert_eq!(documents[0].0, "error");
    assert!(documents[0].1.as_ref().unwrap().contains("BERESTA_TRANSCRIBER"), "{documents:?}");
    let settings = OpenAiSettings::new(&format!("{}/openai/v1", archive.base), Some(kernel::Secret::new("sk-test")), "whisper-1");
    archive.knowledge.transcriber = Some(OpenAiTranscriber::new(settings, OpenAiAudioOptions::default()).unwrap().into());
    archive.rewire();
    archive.control("transcripts", json!({ "text": "Созвон переносим на вторник", "times": 1 })).await;
    let again = archive
        .file(
            "voice",
            "voice2.ogg",
            "audio/ogg",
            json!({ "bytes_base64": base64(b"OggS\x00\x02bbbbbbbbbbbbbbbbbbbbbbOpusHead") }),
        )
        .await;
    archive.process(&shared(2, &again)).await;
    archive.work().await;
    assert_eq!(archive.texts().await, ["Созвон переносим на вторник"]);
}
