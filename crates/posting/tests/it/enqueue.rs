//! Taking a post in: normalization, dedup, routing, preflight.

use serde_json::{Value, json};

use crate::world::{World, code};

async fn one_channel() -> World {
    let world = World::new().await;
    world.channel("a", "telegram", -1001, "").await;
    world
}

#[tokio::test]
async fn the_same_content_goes_to_two_channels_and_is_stored_once() {
    let world = one_channel().await;
    world.channel("b", "max", -2001, "").await;
    let done = world.post(json!({ "text": "Hello" })).await;
    assert_eq!(done["deliveries"], json!({ "queued": 2 }));
    assert_eq!(world.rows("select 1 as n from posting.messages").await.len(), 1);
    assert_eq!(world.events("true").await, ["enqueue", "enqueue"]);
}

#[tokio::test]
async fn the_same_content_is_suppressed_while_it_is_under_way_and_for_seven_days_after_it_was_sent() {
    let world = one_channel().await;
    world.post(json!({ "text": "Hello" })).await;
    for status in ["queued", "claimed", "sending", "retry"] {
        let spaced = json!({ "text": "  Hello \r\n" });
        assert_eq!(world.post(spaced).await["deliveries"], json!({ "deduped": 1 }), "while {status}");
        match status {
            "queued" => drop(world.ask("select count(*) from posting.claim_deliveries($ws, 'w', 10)").await),
            "claimed" => drop(world.ask("select count(*) from posting.start_sending($ws, 'w', 10)").await),
            "sending" => {
                world.run("update posting.deliveries set status = 'retry', next_retry_at = null where status = 'sending'").await;
            }
            _ => {}
        }
    }
    world.drain().await;
    world.advance(7 * 24 * 3600 - 60);
    assert_eq!(world.post(json!({ "text": "Hello" })).await["deliveries"], json!({ "deduped": 1 }));
    world.advance(120);
    // What was suppressed does not stretch the window: it counts from what was sent.
    assert_eq!(world.post(json!({ "text": "Hello" })).await["deliveries"], json!({ "queued": 1 }));
    assert_eq!(world.events("action = 'dedup_suppressed'").await.len(), 5);
    let message = &world.rows("select seen_count from posting.messages").await[0];
    assert_eq!(message["seen_count"], 7);
}

#[tokio::test]
async fn a_channel_may_have_its_own_dedup_window() {
    let world = one_channel().await;
    world.set_channel("a", "dedup_ttl_hours = 1").await;
    world.post(json!({ "text": "Hello" })).await;
    world.drain().await;
    world.advance(3601);
    assert_eq!(world.post(json!({ "text": "Hello" })).await["deliveries"], json!({ "queued": 1 }));
}

#[tokio::test]
async fn the_order_of_media_is_part_of_the_content_and_the_order_of_keys_is_not() {
    let world = one_channel().await;
    let item = |name: &str| json!({ "type": "image", "file_id": name });
    let first = world.post(json!({ "media": [item("x"), item("y")] })).await;
    let swapped = world.post(json!({ "media": [item("y"), item("x")] })).await;
    let same = world.post(json!({ "media": [{ "file_id": "x", "type": "photo" }, item("y")] })).await;
    assert_ne!(first["message_id"], swapped["message_id"]);
    assert_eq!(first["message_id"], same["message_id"]);
}

#[tokio::test]
async fn what_was_seen_first_stays_and_other_tags_are_told_as_a_mismatch() {
    let world = one_channel().await;
    world.post(json!({ "text": "Hello #One", "tags": ["Two", " two ", "#THREE"] })).await;
    world.post(json!({ "text": "Hello #One", "tags": ["four"] })).await;
    let message = &world.rows("select tags, seen_count from posting.messages").await[0];
    assert_eq!(message["tags"], json!(["one", "three", "two"]));
    assert_eq!(message["seen_count"], 2);
    assert_eq!(world.events("action = 'message_tag_mismatch'").await.len(), 1);
}

#[tokio::test]
async fn a_post_goes_where_its_tags_lead() {
    let world = World::new().await;
    let filters = [
        ("all", "null"),
        ("any", r#"'{"include_any": ["crypto", "ru"]}'"#),
        ("every", r#"'{"include_all": ["crypto", "ru"]}'"#),
        ("without", r#"'{"exclude": ["nsfw"]}'"#),
        ("mixed", r#"'{"include_any": ["crypto"], "include_all": ["listing"], "exclude": ["nsfw"]}'"#),
        ("empty", "'{}'"),
    ];
    for (n, (name, filter)) in filters.iter().enumerate() {
        world.channel(name, "telegram", -1000 - i64::try_from(n).unwrap(), &format!("route_filter = {filter}")).await;
    }
    let cases: [(&[&str], &str); 5] = [
        (&[], "all,empty,without"),
        (&["crypto"], "all,any,empty,without"),
        (&["crypto", "ru"], "all,any,empty,every,without"),
        (&["crypto", "listing"], "all,any,empty,mixed,without"),
        (&["crypto", "listing", "nsfw"], "all,any,empty"),
    ];
    for (n, (tags, expected)) in cases.iter().enumerate() {
        let done = world.post(json!({ "text": format!("post {n}"), "tags": tags })).await;
        let query = format!(
            "select channel_id from posting.deliveries where message_id = '{}' order by 1",
            done["message_id"].as_str().unwrap()
        );
        let found: Vec<String> =
            world.rows(&query).await.iter().map(|row| row["channel_id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(found.join(","), *expected, "{tags:?}");
    }
}

#[tokio::test]
async fn a_malformed_filter_window_time_zone_setting_or_target_is_refused_when_it_is_written() {
    let world = one_channel().await;
    let cases = [
        (r#"route_filter = '{"include": ["x"]}'"#, "channel_route_filter_readable"),
        (r#"route_filter = '{"include_any": "x"}'"#, "channel_route_filter_readable"),
        ("route_filter = '[]'", "channel_route_filter_readable"),
        ("timezone = 'Mars/Olympus'", "channel_time_zone_known"),
        ("timezone = 'MSK-3'", "channel_time_zone_known"),
        (r#"posting_window = '{"mon": ["9-18"]}'"#, "channel_window_readable"),
        (r#"posting_window = '{"someday": ["09:00-18:00"]}'"#, "channel_window_readable"),
        ("window_mode = 'windowed'", "channel_windowed_has_a_window"),
        (r#"settings = '{"colour": "red"}'"#, "channel_settings_known"),
        (r#"settings = '{"on_unknown": "guess"}'"#, "channel_settings_known"),
        ("tags = '{Upper}'", "channel_tags_canonical"),
        ("target_id = 'nowhere'", "channel_target_is_a_chat"),
        ("max_parallel = 0", "channel_parallel_bounded"),
        ("rate_rps = -1", "channel_rate_bounded"),
    ];
    for (change, rule) in cases {
        let error = world.try_run(&format!("update posting.channels set {change}")).await.unwrap_err();
        assert_eq!(error.as_database_error().unwrap().constraint(), Some(rule), "{change}");
    }
    let twice = "insert into posting.channels (workspace_id, channel_id, platform, target_id, auth_ref, rate_group)
                 values ($ws, 'again', 'telegram', '-1001', 'bot', 'bot')";
    assert_eq!(world.try_run(twice).await.unwrap_err().as_database_error().unwrap().constraint(), Some("channel_target_once"));
}

#[tokio::test]
async fn a_payload_that_cannot_be_a_post_is_refused_with_its_field_and_makes_nothing() {
    let world = one_channel().await;
    let cases: Vec<(Value, &str)> = vec![
        (json!([]), "body"),
        (json!({}), "text"),
        (json!({ "text": "   \n " }), "text"),
        (json!({ "text": 7 }), "text"),
        (json!({ "tex": "typo" }), "tex"),
        (json!({ "text": "x", "parse_mode": "MarkdownV2" }), "parse_mode"),
        (json!({ "text": "x", "parse_mode": "html" }), "parse_mode"),
        (json!({ "text": "x", "media": {} }), "media"),
        (json!({ "text": "x", "media": [{ "type": "image" }] }), "media"),
        (json!({ "text": "x", "media": [{ "type": "hologram", "url": "https://e.org/x" }] }), "media"),
        (json!({ "media": vec![json!({ "type": "image", "file_id": "x" }); 31] }), "media"),
        (json!({ "text": "x", "links": ["ftp://e.org"] }), "links"),
        (json!({ "text": "x", "tags": "news" }), "tags"),
        (json!({ "text": "x", "tags": ["n".repeat(65)] }), "tags"),
        (json!({ "text": "x", "buttons": [[{ "text": "no address" }]] }), "buttons"),
        (json!({ "text": "x", "buttons": [{ "text": "no row", "url": "https://e.org" }] }), "buttons"),
        (json!({ "text": "x", "scheduled_for": "tomorrow" }), "scheduled_for"),
        (json!({ "text": "x", "scheduled_for": "2026-03-01T09:00:00" }), "scheduled_for"),
        (json!({ "text": "x", "scheduled_for": "2026-13-01T09:00:00Z" }), "scheduled_for"),
    ];
    for (payload, field) in cases {
        let error = world.try_post(payload.clone()).await.unwrap_err();
        let database = error.as_database_error().unwrap().downcast_ref::<sqlx::postgres::PgDatabaseError>();
        assert_eq!((code(&error).as_str(), database.column()), ("ZD001", Some(field)), "{payload}: {error}");
    }
    assert!(world.rows("select 1 as n from posting.messages").await.is_empty());
}

async fn problem(world: &World, payload: Value, channel: &str) -> Option<String> {
    world.run("delete from posting.deliveries").await;
    world.run("delete from posting.messages").await;
    world.post(payload).await;
    let delivery = world.deliveries().await.into_iter().find(|delivery| delivery.channel_id == channel).unwrap();
    let error = delivery.last_error?;
    assert_eq!((delivery.status.as_str(), delivery.attempt), ("failed_permanent", 0));
    assert_eq!((error["category"].as_str(), error["scope"].as_str()), (Some("PERMANENT"), Some("delivery")));
    Some(format!("{}: {}", error["code"].as_str().unwrap(), error["message"].as_str().unwrap()))
}

#[tokio::test]
async fn one_character_over_a_providers_limit_fails_at_once_and_exactly_the_limit_passes() {
    let world = one_channel().await;
    world.channel("m", "max", -2001, "").await;
    let text = |n: usize| json!({ "text": "ж".repeat(n) });
    assert_eq!(problem(&world, text(4096), "a").await, None);
    assert!(problem(&world, text(4097), "a").await.unwrap().starts_with("validation_failed: the text has 4097"));
    assert_eq!(problem(&world, text(4000), "m").await, None);
    assert!(problem(&world, text(4001), "m").await.unwrap().contains("MAX takes 4000"));
    // Telegram counts code points after parsing, MAX UTF-16 units before it.
    assert_eq!(problem(&world, json!({ "text": "😀".repeat(4096) }), "a").await, None);
    assert_eq!(problem(&world, json!({ "text": "😀".repeat(2000) }), "m").await, None);
    assert!(problem(&world, json!({ "text": "😀".repeat(2001) }), "m").await.unwrap().contains("4002"));
    let bold = |n: usize| json!({ "text": format!("<b>{}</b>", "x".repeat(n)), "parse_mode": "HTML" });
    assert_eq!(problem(&world, bold(4096), "a").await, None);
    assert!(problem(&world, bold(4096), "m").await.is_some());
    let caption = |n: usize| json!({ "text": "x".repeat(n), "media": [{ "type": "image", "file_id": "f" }] });
    assert_eq!(problem(&world, caption(1024), "a").await, None);
    assert!(problem(&world, caption(1025), "a").await.unwrap().contains("the caption has 1025 characters; Telegram takes 1024"));
    assert!(world.events("action = 'validation_failed'").await.len() >= 4);
    assert!(world.events("action = 'enqueue' and error is not null").await.is_empty());
}

#[tokio::test]
async fn broken_markup_fails_or_becomes_plain_where_the_channel_says_so() {
    let world = one_channel().await;
    world.channel("m", "max", -2001, "").await;
    let html = json!({ "text": "<b>bold", "parse_mode": "HTML" });
    assert!(problem(&world, html.clone(), "a").await.unwrap().starts_with("validation_failed: the text is not valid HTML"));
    assert!(problem(&world, html.clone(), "m").await.is_some());
    assert!(problem(&world, json!({ "text": "a < b", "parse_mode": "HTML" }), "a").await.is_some());
    assert!(problem(&world, json!({ "text": "*bold", "parse_mode": "Markdown" }), "a").await.is_some());
    assert_eq!(problem(&world, json!({ "text": "<b>bold", "parse_mode": "None" }), "a").await, None);
    world.set_channel("a", r#"settings = '{"on_bad_markup": "plain"}'"#).await;
    assert_eq!(problem(&world, html, "a").await, None);
    let delivery = &world.deliveries().await[0];
    assert_eq!((delivery.rendered_text.as_deref(), &delivery.render_meta["parse_mode"]), (Some("bold"), &json!("None")));
}

#[tokio::test]
async fn an_album_is_checked_and_planned_as_each_provider_takes_it() {
    let world = one_channel().await;
    world.channel("m", "max", -2001, "").await;
    let media = |kinds: &[&str]| -> Value { kinds.iter().map(|kind| json!({ "type": kind, "file_id": "f" })).collect() };
    let images = |n: usize| json!({ "text": "t", "media": media(&vec!["image"; n]) });
    assert_eq!(problem(&world, images(10), "a").await, None);
    assert!(problem(&world, images(11), "a").await.unwrap().contains("an album of 11 items; Telegram takes 10"));
    assert_eq!(problem(&world, images(12), "m").await, None);
    assert!(problem(&world, json!({ "media": media(&["image", "file"]) }), "a").await.unwrap().contains("does not mix"));

    let steps = async |payload: Value, channel: &str| -> Value {
        assert_eq!(problem(&world, payload, channel).await, None);
        world.deliveries().await.into_iter().find(|delivery| delivery.channel_id == channel).unwrap().render_meta["steps"].clone()
    };
    assert_eq!(steps(images(2), "a").await, json!([{ "text": true, "media": [0, 1] }]));
    let long = json!({ "text": "x".repeat(1025), "media": media(&["image", "video"]) });
    assert_eq!(steps(long, "a").await, json!([{ "text": true }, { "media": [0, 1] }]));
    let button =
        json!({ "text": "t", "media": media(&["image", "image"]), "buttons": [[{ "text": "go", "url": "https://e.org" }]] });
    assert_eq!(steps(button, "a").await, json!([{ "text": true }, { "media": [0, 1] }]));
    let mixed = json!({ "text": "t", "media": media(&["image", "file", "video", "audio"]) });
    let series = json!([{ "text": true, "media": [0] }, { "text": false, "media": [1] }, { "text": false, "media": [2] }, { "text": false, "media": [3] }]);
    assert_eq!(steps(mixed, "m").await, series);
}

#[tokio::test]
async fn a_template_and_links_are_rendered_once_and_kept() {
    let world = one_channel().await;
    world
        .set_channel(
            "a",
            r#"settings = '{"template": "{text}\n\n— {links} <b>Канал</b>", "parse_mode": "HTML", "disable_preview": true}'"#,
        )
        .await;
    world.post(json!({ "text": "Hi {links} {text}", "links": ["HTTPS://E.org/a?b=1&utm_source=x#frag"] })).await;
    let delivery = &world.deliveries().await[0];
    assert_eq!(delivery.rendered_text.as_deref(), Some("Hi {links} {text}\n\n— https://e.org/a?b=1 <b>Канал</b>"));
    assert_eq!(delivery.render_meta, json!({ "parse_mode": "HTML", "disable_preview": true }));
}

#[tokio::test]
async fn a_channel_takes_only_what_its_send_mode_lets_in() {
    let world = one_channel().await;
    world.set_channel("a", "send_mode = 'text'").await;
    assert!(
        problem(&world, json!({ "media": [{ "type": "image", "file_id": "f" }] }), "a")
            .await
            .unwrap()
            .contains("takes text only")
    );
    world.set_channel("a", "send_mode = 'media'").await;
    assert!(problem(&world, json!({ "text": "x" }), "a").await.unwrap().contains("takes media only"));
}

#[tokio::test]
async fn many_who_bring_the_same_content_at_once_make_one_delivery() {
    let world = one_channel().await;
    let posts = (0..12).map(|_| world.post(json!({ "text": "the same" })));
    futures::future::join_all(posts).await;
    let counts = world.rows("select status, count(*) as n from posting.deliveries group by 1 order by 1").await;
    assert_eq!(counts, [json!({ "status": "deduped", "n": 11 }), json!({ "status": "queued", "n": 1 })]);
}

#[tokio::test]
async fn a_windowed_channel_waits_for_its_window_and_a_scheduled_post_for_its_time() {
    let world = one_channel().await;
    // Monday, 12:00 in Moscow.
    world.set_channel("a", r#"window_mode = 'windowed', timezone = 'Europe/Moscow', posting_window = '{"mon": ["18:00-20:00"], "tue": ["23:00-01:00"]}'"#).await;
    world.channel("b", "telegram", -1002, "").await;
    world.post(json!({ "text": "evening" })).await;
    world.post(json!({ "text": "night", "scheduled_for": "2026-03-03T21:30:00Z" })).await;
    let times =
        world.rows("select channel_id, not_before from posting.deliveries order by created_at, not_before, channel_id").await;
    let found: Vec<String> = times
        .iter()
        .map(|row| format!("{} {}", row["channel_id"].as_str().unwrap(), &row["not_before"].as_str().unwrap()[..16]))
        .collect();
    assert_eq!(found, ["b 2026-03-02T09:00", "a 2026-03-02T15:00", "a 2026-03-03T21:30", "b 2026-03-03T21:30"]);
    assert_eq!(world.drain().await, 1);
    world.advance(6 * 3600);
    assert_eq!(world.drain().await, 1);
}

#[tokio::test]
async fn posts_are_judged_by_the_limits_that_the_adapters_know() {
    let world = one_channel().await;
    for provider in messengers::PROVIDERS {
        let known = serde_json::to_value(messengers::limits::of(provider)).unwrap();
        assert_eq!(world.ask(&format!("select posting.provider_limits('{provider}')")).await, known, "{provider}");
    }
    assert_eq!(world.ask("select posting.provider_limits('icq')").await, Value::Null);
    assert!(messengers::limits::of("icq").is_none());
    let refusal = world.ask(r#"select error from posting.render('{"text": "x"}', 'icq', 'mixed', '{}')"#).await;
    assert_eq!(refusal, json!("there is no platform `icq`"));

    let keyboard = messengers::limits::KEYBOARD;
    let button =
        |label: usize, url: usize| json!({ "text": "x".repeat(label), "url": format!("https://{}", "x".repeat(url - 8)) });
    for (buttons, is_one) in [
        (json!(vec![vec![button(keyboard.text_chars_max, keyboard.url_chars_max); keyboard.row_max]; keyboard.rows_max]), true),
        (json!(vec![[button(1, 9)]; keyboard.rows_max + 1]), false),
        (json!([[button(keyboard.text_chars_max + 1, 9)]]), false),
        (json!([[button(1, keyboard.url_chars_max + 1)]]), false),
    ] {
        assert_eq!(world.ask(&format!("select posting.is_buttons('{buttons}')")).await, json!(is_one));
    }
}

#[tokio::test]
async fn the_tables_take_the_providers_that_there_are() {
    let world = one_channel().await;
    let names = "regexp_matches(pg_get_constraintdef(oid), $q$'(\\w+)'$q$, 'g') m order by 1";
    let query = format!("select array(select m[1] from {names}) as names from pg_constraint where conname ~ '_platform_known$'");
    let mut providers = messengers::PROVIDERS;
    providers.sort_unstable();
    let rules = world.rows(&query).await;
    assert_eq!(rules.len(), 3);
    assert!(rules.iter().all(|rule| rule["names"] == json!(providers)), "{rules:?}");
}
