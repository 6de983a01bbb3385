//! Media: by bytes, by address, by what the provider already has; alone and in albums.

use messengers::{Media, MediaKind, MediaSource, Meta, ParseMode};
use serde_json::json;

use crate::harness::{PERMANENT_DELIVERY, Stage, by_id, by_url, class, file};

const KINDS: [MediaKind; 4] = [MediaKind::Image, MediaKind::Video, MediaKind::Audio, MediaKind::File];

#[tokio::test]
async fn bytes_of_each_kind_arrive_and_can_be_sent_again_without_them() {
    for stage in Stage::both().await {
        for kind in KINDS {
            let name = "отчёт \"1\".png";
            let first = stage.media(&[file(kind, name)], Some("look")).await.unwrap();
            let sent = stage.last().await;
            assert_eq!(sent["text"], "look");
            assert_eq!(sent["files"][0]["name"], name);
            let digest = sent["files"][0]["sha256"].clone();
            assert!(digest.is_string(), "{sent}");
            let id = first.file_ids[0].clone().unwrap();
            let again = stage.media(&[by_id(kind, &id)], None).await.unwrap();
            assert_eq!(stage.last().await["files"][0]["sha256"], digest, "the same bytes");
            assert_eq!(again.file_ids, first.file_ids);
            assert_ne!(again.provider_message_id, first.provider_message_id);
        }
    }
}

#[tokio::test]
async fn a_picture_is_sent_by_its_address() {
    for stage in Stage::both().await {
        let picture = by_url(MediaKind::Image, "https://example.com/a.png");
        let answer = stage.media(&[picture], None).await.unwrap();
        assert_eq!(stage.last().await["files"][0]["url"], "https://example.com/a.png");
        assert!(answer.file_ids[0].is_some(), "it has an id now");
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_fetched_is_the_fault_of_the_message() {
    for stage in Stage::both().await {
        let picture = by_url(MediaKind::Image, "ftp://example.com/a.png");
        let error = stage.media(&[picture], None).await.unwrap_err();
        assert_eq!(class(&error), PERMANENT_DELIVERY, "{error}");
    }
}

#[tokio::test]
async fn an_unknown_id_is_the_fault_of_the_message() {
    for stage in Stage::both().await {
        let picture = by_id(MediaKind::Image, "nobody-has-this");
        let error = stage.media(&[picture], None).await.unwrap_err();
        assert_eq!(class(&error), PERMANENT_DELIVERY, "{error}");
    }
}

#[tokio::test]
async fn an_album_keeps_its_order_and_tells_every_id() {
    for stage in Stage::both().await {
        let known = stage.media(&[file(MediaKind::Video, "b.mp4")], None).await.unwrap().file_ids[0].clone().unwrap();
        let album = [
            file(MediaKind::Image, "a.png"),
            by_id(MediaKind::Video, &known),
            by_url(MediaKind::Image, "https://example.com/c.png"),
            file(MediaKind::Video, "d.mp4"),
        ];
        let answer = stage.media(&album, Some("four")).await.unwrap();
        let sent = stage.last().await;
        assert_eq!(sent["text"], "four");
        let names: Vec<&str> = sent["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["a.png", "b.mp4", stage.pick("c.png", "https://example.com/c.png"), "d.mp4"]);
        assert_eq!(answer.file_ids.len(), 4);
        assert!(answer.file_ids.iter().all(Option::is_some));
        assert_eq!(answer.file_ids[1], Some(known));
        let ids: Vec<String> = sent["message_ids"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| id.as_str().map_or_else(|| id.to_string(), ToOwned::to_owned))
            .collect();
        assert_eq!(answer.provider_message_ids, ids);
        assert_eq!(answer.provider_message_id, ids[0]);
        assert_eq!(ids.len(), stage.pick(4, 1), "an album on MAX is one message");
        assert_eq!(answer.raw.redacted()[0]["media_group_id"].is_string(), stage.is_telegram());
        assert_eq!(stage.sent().await.len(), 2, "one call for the whole album");
    }
}

#[tokio::test]
async fn no_caption_is_lost() {
    for stage in Stage::both().await {
        let captioned = |name: &str, caption: &str| Media { caption: Some(caption.into()), ..file(MediaKind::Image, name) };
        let album = [captioned("a.png", "<i>first</i>"), file(MediaKind::Image, "b.png"), captioned("c.png", "<b>third</b>")];
        let meta = Meta { parse_mode: ParseMode::Html, ..Meta::default() };
        stage.messenger.send_media(&stage.channel, &album, Some("<b>all</b>"), &meta).await.unwrap();
        let sent = stage.last().await;
        if stage.is_telegram() {
            let media = Stage::param(&sent, "media");
            assert_eq!(media[0]["caption"], "<b>all</b>\n\n<i>first</i>");
            assert_eq!((&media[0]["parse_mode"], &media[2]["parse_mode"]), (&json!("HTML"), &json!("HTML")));
            assert!(media[1]["caption"].is_null());
            assert_eq!(media[2]["caption"], "<b>third</b>");
        } else {
            assert_eq!(sent["text"], "all\n\nfirst\n\nthird");
        }
        stage.messenger.send_media(&stage.channel, &album[2..], None, &meta).await.unwrap();
        let sent = stage.last().await;
        assert_eq!((&sent["text"], &sent["parse_mode"]), (&json!("third"), &json!(stage.pick("HTML", "html"))));
    }
}

#[tokio::test]
async fn bytes_are_given_ahead_of_the_message_where_the_provider_takes_them() {
    for stage in Stage::both().await {
        for kind in KINDS {
            let uploaded = stage.messenger.upload(&stage.channel, &file(kind, "a.png")).await.unwrap();
            assert_eq!(uploaded.is_some(), !stage.is_telegram());
            let Some(uploaded) = uploaded else { continue };
            assert_eq!(uploaded.lives_for, Some(messengers::UPLOAD_LIFETIME));
            assert!(stage.sent().await.iter().all(|sent| sent["method"] != "POST /messages" || sent["text"] == "ahead"));
            let media = [by_id(kind, &uploaded.file_id)];
            let answer = stage.media(&media, Some("ahead")).await.unwrap();
            assert_eq!(answer.file_ids, [Some(uploaded.file_id)]);
        }
        let known = by_id(MediaKind::Image, "x");
        assert_eq!(stage.messenger.upload(&stage.channel, &known).await.unwrap(), None, "there are no bytes");
    }
}

#[tokio::test]
async fn an_empty_list_is_refused_without_a_call() {
    for stage in Stage::both().await {
        let error = stage.media(&[], Some("x")).await.unwrap_err();
        assert_eq!((class(&error), error.code.as_str()), (PERMANENT_DELIVERY, "validation_failed"));
        assert!(stage.sent().await.is_empty());
    }
}

#[tokio::test]
async fn the_name_of_a_file_cannot_add_headers() {
    for stage in Stage::both().await {
        let mut evil = file(MediaKind::File, "x");
        if let MediaSource::File { name, content_type, .. } = &mut evil.source {
            *name = "a\r\nContent-Type: text/evil\r\n\r\n.pdf".into();
            *content_type = "no type\r\n at all".into();
        }
        stage.media(&[evil], None).await.unwrap();
        let name = stage.last().await["files"][0]["name"].clone();
        assert_eq!(name, "a__Content-Type: text/evil____.pdf");
    }
}
