//! Telegram files: uploads, ids, downloads, and the ways a file can be wrong.

use reqwest::multipart::{Form, Part};
use serde_json::json;

use crate::harness::{PNG, Sim, TOKEN, answer};

#[tokio::test]
async fn an_uploaded_document_can_be_fetched_again_by_its_file_id() {
    let sim = Sim::start().await;
    let form = Form::new().text("chat_id", "1").part("document", Part::bytes(&b"%PDF"[..]).file_name("a.pdf"));
    let (_, body) = sim.telegram_form("sendDocument", form).await;
    let document = &body["result"]["document"];
    assert_eq!((&document["file_name"], &document["mime_type"]), (&json!("a.pdf"), &json!("application/pdf")));
    let file = sim.telegram_ok("getFile", json!({"file_id": document["file_id"]})).await;
    let path = file["file_path"].as_str().unwrap();
    assert!(path.starts_with("documents/file_"), "{path}");
    let url = format!("{}/telegram/file/bot{}/{path}", sim.base, TOKEN.replace(':', "%3A"));
    assert_eq!(sim.client.get(url).send().await.unwrap().bytes().await.unwrap(), "%PDF");
    let again = sim.telegram_ok("sendDocument", json!({"chat_id": 2, "document": document["file_id"]})).await;
    assert_eq!(again["document"]["file_unique_id"], document["file_unique_id"]);
}

#[tokio::test]
async fn a_file_id_is_of_no_use_to_another_bot() {
    let sim = Sim::start().await;
    let form = Form::new().text("chat_id", "1").part("photo", Part::bytes(PNG).file_name("a.png"));
    let (_, body) = sim.telegram_form("sendPhoto", form).await;
    let params = json!({"chat_id": 1, "photo": body["result"]["photo"][0]["file_id"]});
    let url = format!("{}/telegram/bot9:other/sendPhoto", sim.base);
    let (status, body) = answer(sim.client.post(url).json(&params)).await;
    assert_eq!((status, &body["description"]), (400, &json!("Bad Request: wrong file identifier/HTTP URL specified")));
}

#[tokio::test]
async fn a_file_that_cannot_be_sent_says_why() {
    let sim = Sim::start().await;
    for (method, params, description) in [
        ("sendPhoto", json!({}), "there is no photo in the request"),
        ("sendDocument", json!({"document": "attach://x"}), "there is no document in the request"),
        ("sendVideo", json!({"video": "nonsense"}), "wrong file identifier/HTTP URL specified"),
        ("sendAudio", json!({"audio": "ftp://example.com/a.mp3"}), "wrong HTTP URL specified"),
        ("sendAnimation", json!({"animation": "https://host.invalid/a.gif"}), "failed to get HTTP URL content"),
        ("sendVoice", json!({"voice": "https://example.com/a.ogg", "caption": "x".repeat(1025)}), "message caption is too long"),
        ("getFile", json!({}), "file_id not specified"),
        ("getFile", json!({"file_id": "nonsense"}), "invalid file_id"),
    ] {
        let mut params = params;
        params["chat_id"] = json!(1);
        let refusal = sim.telegram_refusal(method, params).await;
        assert_eq!(refusal, (400, format!("Bad Request: {description}")), "{method}");
    }
}

#[tokio::test]
async fn a_picture_must_be_one_and_within_its_dimensions() {
    let sim = Sim::start().await;
    let mut wide = PNG.to_vec();
    wide[16..24].copy_from_slice(&[0, 0, 0x27, 0, 0, 0, 0x08, 0]);
    for (bytes, name, description) in [
        (b"text".to_vec(), "a.png", "IMAGE_PROCESS_FAILED"),
        (b"text".to_vec(), "a.txt", "photo has unsupported extension. Use one of .jpg, .jpeg, .gif, .png, .tif or .bmp"),
        (wide, "a.png", "PHOTO_INVALID_DIMENSIONS"),
    ] {
        let form = Form::new().text("chat_id", "1").part("photo", Part::bytes(bytes).file_name(name));
        let (status, body) = sim.telegram_form("sendPhoto", form).await;
        assert_eq!((status, &body["description"]), (400, &json!(format!("Bad Request: {description}"))));
    }
}

#[tokio::test]
async fn a_file_over_20_megabytes_is_sent_but_not_given_back() {
    let sim = Sim::start().await;
    let big = vec![7; 20 * 1024 * 1024 + 1];
    let form = Form::new().text("chat_id", "1").part("document", Part::bytes(big).file_name("big.bin"));
    let (status, body) = sim.telegram_form("sendDocument", form).await;
    assert_eq!(status, 200);
    let refusal = sim.telegram_refusal("getFile", json!({"file_id": body["result"]["document"]["file_id"]})).await;
    assert_eq!(refusal, (400, "Bad Request: file is too big".to_owned()));
}

#[tokio::test]
async fn an_upload_over_the_limit_is_too_large() {
    let sim = Sim::start().await;
    let photo = Part::bytes(vec![0; 10 * 1024 * 1024 + 1]).file_name("a.png");
    let (status, body) = sim.telegram_form("sendPhoto", Form::new().text("chat_id", "1").part("photo", photo)).await;
    assert_eq!((status, &body["description"]), (413, &json!("Request Entity Too Large")));
}
