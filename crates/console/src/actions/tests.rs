//! What the pages of chats say, and that whatever their scripts import is there.

use actions::{
    contract::{BotAction, BotActionStatus},
    glance::ChatAtAGlance,
};
use askama::Template;
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use super::data;
use crate::{assets::FILES, views::*};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn action(action_type: &str, text: Option<&str>) -> BotAction {
    BotAction {
        workspace_id: Uuid::nil(),
        chat_id: "c".to_owned(),
        action_id: "a".to_owned(),
        action_type: action_type.to_owned(),
        status: BotActionStatus::Processing,
        display_text: text.map(ToOwned::to_owned),
        payload: None,
        created_at: Some("1969-12-31T23:59:00.000000Z".to_owned()),
        updated_at: None,
    }
}

fn chat(processing: i64, doings: Vec<BotAction>) -> ChatAtAGlance {
    ChatAtAGlance {
        chat_id: "a/<b>".to_owned(),
        number: 3,
        active_at: (NOW - SignedDuration::from_secs(5)).into(),
        messages: 12,
        processing,
        doings: sqlx::types::Json(doings),
    }
}

fn fragment(rows: Vec<ChatRow>) -> String {
    let empty = EmptyNote::new("Nobody has talked yet.");
    let pager = Pager { first_href: None, next_href: None, shown: "1 chats".to_owned(), labels: ("Newest", "Older") };
    ChatsRegion { rows, empty, pager }.render().unwrap()
}

#[test]
fn the_list_says_what_each_bot_is_doing_and_since_when() {
    let row = data::chat_row(
        &chat(
            5,
            vec![
                action("summarize", None),
                action("brew_coffee", None),
                action("process_file", Some("<script>alert(1)</script>")),
            ],
        ),
        NOW,
    );
    assert_eq!((row.href.as_str(), row.key.as_str()), ("/console/chats/a%2F%3Cb%3E", "3-12"));
    let html = fragment(vec![row]);
    assert!(html.contains(r#"data-fragment="chats""#));
    for words in ["5&nbsp;at work", "Preparing the summary… <span", "Working on it… <span", "1\u{a0}min", "and more"] {
        assert!(html.contains(words), "{words}: {html}");
    }
    assert!(!html.contains("<script") && !html.contains("<b>") && !html.contains("style="));
}

#[test]
fn a_quiet_chat_and_an_empty_list_say_so() {
    let html = fragment(vec![data::chat_row(&chat(0, Vec::new()), NOW)]);
    assert!(html.contains(r#"<span class="zero">–</span>"#) && !html.contains("at work"));
    assert!(fragment(Vec::new()).contains("Nobody has talked yet."));
}

#[test]
fn the_page_of_a_chat_has_places_for_messages_and_for_actions_and_they_are_not_the_same() {
    let html = ChatRoom { id: "\"><script>alert(1)</script>".to_owned(), can_write: true }.render().unwrap();
    assert!(!html.contains("<script>") && !html.contains("style=") && !html.contains("onclick"));
    assert!(html.contains(r#"<div class="doings" role="status" aria-live="polite""#) && html.contains("data-say"));
    let html = ChatRoom { id: "c".to_owned(), can_write: false }.render().unwrap();
    assert!(!html.contains("data-say") && html.contains("<code>chat:write</code>"));
}

#[test]
fn every_module_that_a_page_imports_is_served() {
    for (name, _, text) in FILES.iter().filter(|(_, kind, _)| kind.contains("javascript")) {
        for (at, found) in text.match_indices(" from '") {
            let import = text[at + found.len()..].split('\'').next().unwrap();
            let mut path: Vec<&str> = name.split('/').collect();
            path.pop();
            for step in import.split('/') {
                match step {
                    "." => {}
                    ".." => {
                        path.pop();
                    }
                    step => path.push(step),
                }
            }
            let path = path.join("/");
            assert!(FILES.iter().any(|(known, _, _)| *known == path), "{name} imports {import}");
        }
    }
}
