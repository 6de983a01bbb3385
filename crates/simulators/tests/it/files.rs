//! Telegram files: uploads, ids, downloads, and the ways a file can be wrong.

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

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

/// Puts a file of a user into Telegram, for the bot of this token.
async fn put(sim: &Sim, token: &str, file: Value) -> Value {
    let mut body = json!({"provider": "telegram", "token": token});
    body.as_object_mut().expect("an object").extend(file.as_object().expect("an object").clone());
    sim.control("files", body).await
}

#[tokio::test]
async fn a_file_that_a_user_sent_can_be_fetched_by_the_bot() {
    let sim = Sim::start().await;
    let file = json!({"bytes_base64": "JVBERg==", "name": "счёт.pdf", "mime": "application/pdf"});
    let put = put(&sim, TOKEN, file).await;
    let document = &put["message"]["document"];
    assert_eq!((&document["file_id"], &document["file_name"]), (&put["file_id"], &json!("счёт.pdf")));
    assert_eq!((&put["file_size"], &document["mime_type"]), (&json!(4), &json!("application/pdf")));
    let update = json!({"message": {"message_id": 1, "date": 1, "chat": {"id": 5, "type": "private"}, "document": document}});
    sim.control("updates", json!({"provider": "telegram", "token": TOKEN, "update": update})).await;
    let updates = sim.telegram_ok("getUpdates", json!({})).await;
    let file_id = &updates[0]["message"]["document"]["file_id"];
    let file = sim.telegram_ok("getFile", json!({"file_id": file_id})).await;
    assert_eq!((&file["file_unique_id"], &file["file_size"]), (&put["file_unique_id"], &json!(4)));
    let url = format!("{}/telegram/file/bot{TOKEN}/{}", sim.base, file["file_path"].as_str().unwrap());
    assert_eq!(sim.client.get(url).send().await.unwrap().bytes().await.unwrap(), "%PDF");
}

#[tokio::test]
async fn a_file_of_a_user_has_one_id_per_bot_and_one_for_all() {
    let sim = Sim::start().await;
    let voice = json!({"bytes_base64": "T2dnUw==", "name": "a.ogg", "mime": "audio/ogg", "kind": "voice", "duration": 9});
    let (own, foreign) = (put(&sim, TOKEN, voice.clone()).await, put(&sim, "9:other", voice).await);
    assert_ne!(own["file_id"], foreign["file_id"]);
    assert_eq!(own["file_unique_id"], foreign["file_unique_id"]);
    assert_eq!(own["message"]["voice"]["duration"], 9);
    let refusal = sim.telegram_refusal("getFile", json!({"file_id": foreign["file_id"]})).await;
    assert_eq!(refusal, (400, "Bad Request: invalid file_id".to_owned()));
    assert!(sim.telegram_ok("getFile", json!({"file_id": own["file_id"]})).await["file_path"].is_string());
}

#[tokio::test]
async fn a_file_of_a_user_over_20_megabytes_is_too_big() {
    let sim = Sim::start().await;
    let limit = 20 * 1024 * 1024;
    let fits = put(&sim, TOKEN, json!({"bytes": limit, "name": "a.zip"})).await;
    assert_eq!(sim.telegram_ok("getFile", json!({"file_id": fits["file_id"]})).await["file_size"], limit);
    let big = put(&sim, TOKEN, json!({"bytes": limit + 1, "name": "b.zip"})).await;
    let refusal = sim.telegram_refusal("getFile", json!({"file_id": big["file_id"]})).await;
    assert_eq!(refusal, (400, "Bad Request: file is too big".to_owned()));
}

#[tokio::test]
async fn a_fault_strikes_a_download() {
    let sim = Sim::start().await;
    let put = put(&sim, TOKEN, json!({"bytes_base64": "AA==", "name": "a.bin"})).await;
    let file = sim.telegram_ok("getFile", json!({"file_id": put["file_id"]})).await;
    sim.control("faults", json!({"provider": "telegram", "method": "download", "status": 502})).await;
    sim.control("faults", json!({"provider": "telegram", "target": file["file_path"], "drop": true})).await;
    let url = format!("{}/telegram/file/bot{TOKEN}/{}", sim.base, file["file_path"].as_str().unwrap());
    assert_eq!(sim.client.get(&url).send().await.unwrap().status(), 502);
    assert!(sim.client.get(&url).send().await.is_err());
    assert_eq!(sim.client.get(&url).send().await.unwrap().status(), 200);
}
