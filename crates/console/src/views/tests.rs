//! What the views print.

use askama::Template;
use jiff::{SignedDuration, Timestamp};

use super::*;

fn moment(seconds_ago: i64) -> Moment {
    let now = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(500_000);
    Moment::new(now - SignedDuration::from_secs(seconds_ago), now)
}

#[test]
fn a_moment_is_told_in_its_largest_whole_unit_and_direction() {
    let told = |seconds| moment(seconds).ago;
    assert_eq!(told(0), "now");
    assert_eq!(told(59), "59\u{a0}s ago");
    assert_eq!(told(60), "1\u{a0}min ago");
    assert_eq!(told(-90), "in 1\u{a0}min");
    assert_eq!(told(47 * 3600), "47\u{a0}h ago");
    assert_eq!(told(48 * 3600), "2\u{a0}d ago");
}

#[test]
fn a_capped_count_says_that_counting_stopped() {
    assert_eq!(Count::capped(10_001, 10_000).text, "10\u{202f}000+");
    assert_eq!(Count::capped(10_000, 10_000).text, "10\u{202f}000");
    assert_eq!(Count::exact(-1_234_567).text, "\u{2212}1\u{202f}234\u{202f}567");
    assert!(Count::exact(0).is_zero());
}

#[test]
fn a_sparkline_stands_on_the_ground_and_reaches_the_top() {
    let line = Sparkline::new(&[0, 5, 10], "minute", "last hour");
    assert_eq!(line.points, "0.0,39.0 120.0,20.5 240.0,2.0");
    assert_eq!(line.last, "240.0,2.0");
    assert_eq!(Sparkline::new(&[7], "minute", "last hour").points, "");
}

#[test]
fn a_duration_is_written_in_the_unit_that_fits() {
    assert_eq!(took(212), "212\u{a0}ms");
    assert_eq!(took(4120), "4.1\u{a0}s");
    assert_eq!(took(180_000), "3\u{a0}min");
}

#[test]
fn a_trace_leads_to_the_journal_whatever_its_characters() {
    let trace = Trace::new("a b&c=д");
    assert_eq!(trace.href, "/console/journal?trace_id=a%20b%26c%3D%D0%B4");
    assert_eq!(Trace::new("0198f3c2-7a1e-7122-9a02-3f04c145eb04").short, "c145eb04");
}

#[test]
fn what_users_wrote_is_printed_as_text() {
    let entry = ErrorEntry {
        key: "1".to_owned(),
        at: moment(5),
        source: "telegram.sendMessage".to_owned(),
        message: "<script>alert('1')</script>".to_owned(),
        retryable: true,
        trace: Some(Trace::new("\"><b>")),
    };
    let html = RecentErrors { entries: vec![entry], announce: String::new() }.render().unwrap();
    assert!(html.contains(r#"data-fragment="errors""#));
    assert!(!html.contains("<script") && !html.contains("<b>"));
}

#[test]
fn a_page_has_no_inline_script_and_no_inline_style() {
    let page = SignInPage {
        next: "/console".to_owned(),
        error: Some("This token is not known.".to_owned()),
        command: "beresta token create --workspace demo --scope console".to_owned(),
    };
    let html = page.render().unwrap();
    assert!(!html.contains("style=") && !html.contains("<style") && !html.contains("<script>"));
    assert!(html.contains("This token is not known."));
}
