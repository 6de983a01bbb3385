//! Posting windows on the wall clock, also on the days when it is changed.

use jiff::{Timestamp, ToSpan, civil::Weekday, tz::TimeZone};
use serde_json::{Value, json};
use sqlx::PgConnection;

use crate::{random::Random, support::frozen};

async fn next_open_at(connection: &mut PgConnection, window: &Value, zone: Option<&str>, at: &str) -> Option<Timestamp> {
    let query = "select to_char(posting.next_open_at($1::text::jsonb, $2, $3::timestamptz) at time zone 'UTC',
                                'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')";
    let opens: Option<String> = sqlx::query_scalar(query)
        .bind(window.to_string())
        .bind(zone)
        .bind(at.parse::<Timestamp>().unwrap().to_string())
        .fetch_one(connection)
        .await
        .unwrap();
    opens.map(|opens| opens.parse().unwrap())
}

/// Rows of window, zone, moment, and the moment when it is open from then on.
async fn assert_opens(rows: &[(Value, &str, &str, &str)]) {
    let db = frozen().await;
    let mut connection = db.owner().await;
    for (window, zone, at, expected) in rows {
        let opens = next_open_at(&mut connection, window, Some(zone), at).await;
        assert_eq!(opens, Some(expected.parse().unwrap()), "{window} in {zone} at {at}");
    }
}

#[tokio::test]
async fn an_open_window_is_open_now_and_a_closed_one_at_its_next_start() {
    let office = json!({"daily": ["09:00-18:00"]});
    assert_opens(&[
        (office.clone(), "UTC", "2026-03-02T12:34:56Z", "2026-03-02T12:34:56Z"),
        (office.clone(), "UTC", "2026-03-02T09:00:00Z", "2026-03-02T09:00:00Z"),
        (office.clone(), "UTC", "2026-03-02T08:59:59Z", "2026-03-02T09:00:00Z"),
        (office.clone(), "UTC", "2026-03-02T18:00:00Z", "2026-03-03T09:00:00Z"),
        (office.clone(), "Asia/Kolkata", "2026-03-02T00:00:00Z", "2026-03-02T03:30:00Z"),
        (office, "Asia/Kolkata", "2026-10-25T12:30:00Z", "2026-10-26T03:30:00Z"),
        (json!({"mon": ["09:00-10:00"]}), "UTC", "2026-03-02T10:00:00Z", "2026-03-09T09:00:00Z"),
        (json!({"mon": ["09:00-10:00"], "daily": ["20:00-21:00"]}), "UTC", "2026-03-02T10:00:00Z", "2026-03-02T20:00:00Z"),
        (json!({"wed": ["15:00-16:00", "08:00-09:00"]}), "UTC", "2026-03-02T10:00:00Z", "2026-03-04T08:00:00Z"),
        (json!({"daily": ["00:00-24:00"]}), "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"),
    ])
    .await;
}

#[tokio::test]
async fn a_window_over_midnight_belongs_to_the_day_on_which_it_starts() {
    let night = json!({"mon": ["22:00-02:00"]});
    assert_opens(&[
        (night.clone(), "UTC", "2026-03-03T01:59:59Z", "2026-03-03T01:59:59Z"),
        (night.clone(), "UTC", "2026-03-03T02:00:00Z", "2026-03-09T22:00:00Z"),
        (night, "America/New_York", "2026-03-03T06:00:00Z", "2026-03-03T06:00:00Z"),
        (json!({"sun": ["23:00-24:00"]}), "UTC", "2026-03-02T00:00:00Z", "2026-03-08T23:00:00Z"),
        (json!({"tue": ["12:00-11:00"]}), "UTC", "2026-03-04T10:59:00Z", "2026-03-04T10:59:00Z"),
        (json!({"sun": ["22:00-00:00"]}), "UTC", "2026-03-02T00:00:00Z", "2026-03-08T22:00:00Z"),
    ])
    .await;
}

#[tokio::test]
async fn a_window_that_starts_in_the_skipped_hour_opens_after_it() {
    let early = json!({"daily": ["02:30-04:00"]});
    assert_opens(&[
        (early.clone(), "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
        (early.clone(), "America/New_York", "2026-03-08T05:00:00Z", "2026-03-08T07:00:00Z"),
        // Half an hour is skipped: 02:00 becomes 02:30.
        (json!({"daily": ["02:10-04:00"]}), "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T15:30:00Z"),
        (json!({"daily": ["01:00-02:30"]}), "Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-29T00:59:59Z"),
        (json!({"daily": ["01:00-02:30"]}), "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T23:00:00Z"),
        (early, "Asia/Kolkata", "2026-03-28T22:00:00Z", "2026-03-28T22:00:00Z"),
    ])
    .await;
}

#[tokio::test]
async fn a_window_that_the_skipped_hour_swallows_is_left_out() {
    assert_opens(&[
        (json!({"daily": ["02:15-02:45"]}), "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T00:15:00Z"),
        (json!({"sun": ["02:00-03:00"]}), "Europe/Berlin", "2026-03-22T02:00:00Z", "2026-04-05T00:00:00Z"),
        (json!({"sun": ["02:00-02:30"]}), "Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-10T15:00:00Z"),
        (json!({"sun": ["02:00-03:00"]}), "America/New_York", "2026-03-02T00:00:00Z", "2026-03-15T06:00:00Z"),
    ])
    .await;
}

#[tokio::test]
async fn a_window_in_the_repeated_hour_opens_twice() {
    let narrow = json!({"daily": ["02:15-02:45"]});
    assert_opens(&[
        (narrow.clone(), "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T00:15:00Z"),
        (narrow.clone(), "Europe/Berlin", "2026-10-25T00:45:00Z", "2026-10-25T01:15:00Z"),
        (narrow, "Europe/Berlin", "2026-10-25T01:45:00Z", "2026-10-26T01:15:00Z"),
        (json!({"daily": ["01:30-01:40"]}), "America/New_York", "2026-11-01T05:40:00Z", "2026-11-01T06:30:00Z"),
        // 02:00 becomes 01:30: a window that ended at 02:00 is open again.
        (json!({"daily": ["01:00-01:50"]}), "Australia/Lord_Howe", "2026-04-04T14:55:00Z", "2026-04-04T15:00:00Z"),
    ])
    .await;
}

#[tokio::test]
async fn without_a_zone_the_clock_is_utc_and_without_a_window_there_is_no_answer() {
    let db = frozen().await;
    let mut connection = db.owner().await;
    let at = "2026-03-02T08:00:00Z";
    let opens = next_open_at(&mut connection, &json!({"daily": ["09:00-10:00"]}), None, at).await;
    assert_eq!(opens, Some("2026-03-02T09:00:00Z".parse().unwrap()));
    for window in [json!({}), json!({"mon": []}), json!({"mon": ["9-10"]}), json!(null), json!([])] {
        assert_eq!(next_open_at(&mut connection, &window, None, at).await, None, "{window}");
    }
    let query = "select posting.next_open_at(null, 'UTC', now()) is null
                    and posting.next_open_at('{\"daily\": [\"09:00-10:00\"]}', 'UTC', null) is null
                    and posting.next_open_at('{\"daily\": [\"09:00-10:00\"]}', 'UTC', 'infinity') is null";
    assert!(sqlx::query_scalar::<_, bool>(query).fetch_one(&mut connection).await.unwrap());
}

/// Looks at every minute's wall clock.
fn first_open_minute(window: &Value, zone: &TimeZone, at: Timestamp) -> Option<Timestamp> {
    let minutes = |text: &str| {
        let (hour, minute) = text.split_once(':').unwrap();
        hour.parse::<i16>().unwrap() * 60 + minute.parse::<i16>().unwrap()
    };
    let spans = |day: Weekday| {
        let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        let own = window[days[usize::try_from(day.to_monday_zero_offset()).unwrap()]].as_array();
        let spans = own.into_iter().chain(window["daily"].as_array()).flatten();
        let spans = spans.map(|span| span.as_str().unwrap().split_once('-').unwrap());
        spans.map(|(start, end)| (minutes(start), minutes(end))).collect::<Vec<_>>()
    };
    (0..15 * 24 * 60).map(|minute| at + minute.minutes()).find(|at| {
        let clock = zone.to_datetime(*at);
        let now = i16::from(clock.hour()) * 60 + i16::from(clock.minute());
        let today = spans(clock.weekday());
        let yesterday = spans(clock.weekday().previous());
        today.iter().any(|(start, end)| now >= *start && (now < *end || end <= start))
            || yesterday.iter().any(|(start, end)| end <= start && now < *end)
    })
}

#[tokio::test]
async fn the_answer_is_the_first_minute_whose_wall_clock_is_inside() {
    let db = frozen().await;
    let mut connection = db.owner().await;
    let mut random = Random::new(3);
    let changes = [
        ("Europe/Berlin", "2026-03-29T01:00:00Z"),
        ("Europe/Berlin", "2026-10-25T01:00:00Z"),
        ("America/New_York", "2026-03-08T07:00:00Z"),
        ("America/New_York", "2026-11-01T06:00:00Z"),
        ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"),
        ("Australia/Lord_Howe", "2026-10-03T15:30:00Z"),
        ("Asia/Kolkata", "2026-03-29T01:00:00Z"),
        // The whole of 30 December was skipped.
        ("Pacific/Apia", "2011-12-30T10:00:00Z"),
    ];
    for round in 0..400 {
        let (name, change) = changes[round % changes.len()];
        let zone = TimeZone::get(name).unwrap();
        let offset = i64::try_from(random.below(4 * 24 * 60)).unwrap() - 3 * 24 * 60;
        let at = change.parse::<Timestamp>().unwrap() + offset.minutes();
        let mut time = |bound: usize| format!("{:02}:{:02}", random.below(bound), random.below(60));
        let (start, end) = (time(5), time(24));
        let window = if start == end {
            continue;
        } else if round % 3 == 0 {
            json!({"sun": [format!("{start}-{end}")], "fri": [format!("{end}-{start}")]})
        } else {
            json!({"daily": [format!("{start}-{}", time(5).replace(&start, "24:00"))], "sat": [format!("{end}-{start}")]})
        };
        let opens = next_open_at(&mut connection, &window, Some(name), &at.to_string()).await;
        assert_eq!(opens, first_open_minute(&window, &zone, at), "{window} in {name} at {at}");
    }
}
