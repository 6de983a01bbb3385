//! MAX uploads: each kind gets its token in its own way, and may not be ready at once.

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

use crate::harness::{Sim, answer};

async fn upload(sim: &Sim, kind: &str, name: &'static str) -> (Value, Value) {
    let (status, slot) = sim.max("POST", &format!("/uploads?type={kind}"), None).await;
    assert_eq!(status, 200, "{slot}");
    let form = Form::new().part("data", Part::bytes(&b"bytes"[..]).file_name(name));
    let uploaded = answer(sim.client.post(slot["url"].as_str().expect("an address")).multipart(form)).await;
    (slot, uploaded.1)
}

#[tokio::test]
async fn each_kind_of_upload_gives_its_token_in_its_own_way() {
    let sim = Sim::start().await;
    let (slot, uploaded) = upload(&sim, "image", "a.jpg").await;
    assert_eq!(slot.get("token"), None);
    let image = json!({"type": "image", "payload": {"photos": uploaded["photos"]}});
    let (_, uploaded) = upload(&sim, "file", "a.pdf").await;
    assert!(uploaded["fileId"].is_i64());
    let file = json!({"type": "file", "payload": {"token": uploaded["token"]}});
    let (slot, uploaded) = upload(&sim, "video", "a.mp4").await;
    assert_eq!(uploaded, "<retval>1</retval>");
    let video = json!({"type": "video", "payload": {"token": slot["token"]}});
    sim.max_send(-1, json!({"attachments": [image, video]})).await;
    let message = sim.max_send(-1, json!({"attachments": [file]})).await;
    let shown = &message["body"]["attachments"][0];
    assert_eq!((&shown["filename"], &shown["size"]), (&json!("a.pdf"), &json!(5)));
    let bytes = sim.client.get(shown["payload"]["url"].as_str().unwrap()).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(bytes, "bytes");
    let files = sim.sent("provider=max").await[1]["files"].clone();
    assert_eq!((&files[0]["name"], &files[0]["size"]), (&json!("a.pdf"), &json!(5)));
    let video_path = format!("/videos/{}", slot["token"].as_str().unwrap());
    assert_eq!(sim.max("GET", &video_path, None).await.1["width"], 1280);
}

#[tokio::test]
async fn a_fresh_file_is_not_ready_for_the_first_sends_and_then_goes_with_the_same_token() {
    let sim = Sim::start().await;
    sim.control("limits", json!({"provider": "max", "not_ready_sends": 2})).await;
    let (_, uploaded) = upload(&sim, "file", "a.pdf").await;
    let body = json!({"attachments": [{"type": "file", "payload": {"token": uploaded["token"]}}]});
    for _ in 0..2 {
        let refusal = sim.max_refusal("POST", "/messages?chat_id=-1", body.clone()).await;
        let message = "Key: errors.process.attachment.file.not.processed".to_owned();
        assert_eq!(refusal, (400, "attachment.not.ready".to_owned(), message));
    }
    sim.max_send(-1, body.clone()).await;
    sim.max_send(-1, body).await;
}

#[tokio::test]
async fn a_video_without_its_bytes_is_not_ready() {
    let sim = Sim::start().await;
    let (_, slot) = sim.max("POST", "/uploads?type=video", None).await;
    let body = json!({"attachments": [{"type": "video", "payload": {"token": slot["token"]}}]});
    assert_eq!(sim.max_refusal("POST", "/messages?chat_id=-1", body).await.1, "attachment.not.ready");
}

#[tokio::test]
async fn bytes_may_come_in_ranges_in_any_order() {
    let sim = Sim::start().await;
    let (_, slot) = sim.max("POST", "/uploads?type=file", None).await;
    let url = slot["url"].as_str().unwrap();
    let part = |range: &'static str, bytes: &'static str| {
        let request = sim.client.post(url).header("content-range", range).body(bytes);
        answer(request.header("content-disposition", "attachment; filename=\"a.txt\""))
    };
    assert_eq!(part("bytes 3-5/6", "def").await.0, 201);
    let (status, uploaded) = part("bytes 0-2/6", "abc").await;
    assert_eq!(status, 200);
    let body = json!({"attachments": [{"type": "file", "payload": {"token": uploaded["token"]}}]});
    let message = sim.max_send(-1, body).await;
    let shown = &message["body"]["attachments"][0];
    assert_eq!(shown["filename"], "a.txt");
    let bytes = sim.client.get(shown["payload"]["url"].as_str().unwrap()).send().await.unwrap().bytes().await.unwrap();
    assert_eq!(bytes, "abcdef");
}

#[tokio::test]
async fn an_upload_that_cannot_be_is_refused() {
    let sim = Sim::start().await;
    assert_eq!(sim.max("POST", "/uploads", None).await.1["message"], "Missing required parameter: type");
    assert_eq!(sim.max("POST", "/uploads?type=photo", None).await.0, 400);
    assert_eq!(upload(&sim, "file", "virus.exe").await.1, "File extension is forbidden");
}
