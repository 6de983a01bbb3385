//! Streaks of habits, by the calendar of the person.

use planner::{Caller, ReadTool};
use serde_json::{Value, json};

use crate::world::{World, act, bad, good, id_of, object};

async fn mark(world: &World, caller: &Caller, habit: i64, days: &[&str]) {
    let mark = |day: &&str| json!({ "action": "habit.mark_completed", "params": { "habit_id": habit, "date": day } });
    let marks: Vec<Value> = days.iter().map(mark).collect();
    world.change(caller, &json!(marks)).await;
}

async fn streak(world: &World, caller: &Caller, habit: i64) -> (i64, i64) {
    let found = world.read(caller, ReadTool::GetHabit, json!({ "habit_id": habit })).await;
    let streak = &found["habit"]["streak"];
    (streak["current"].as_i64().unwrap(), streak["longest"].as_i64().unwrap())
}

async fn set_zone(world: &World, caller: &Caller, zone: &str) -> Value {
    good(&world.planner.set_time_zone(caller, &object(json!({ "time_zone": zone }))).await.unwrap())
}

#[tokio::test]
async fn a_streak_counts_the_days_in_a_row_and_today_breaks_none_while_it_is_not_over() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    assert_eq!(streak(&world, &ann, habit).await, (0, 0));
    mark(&world, &ann, habit, &["2026-02-20", "2026-02-21", "2026-02-22", "2026-02-23"]).await;
    assert_eq!(streak(&world, &ann, habit).await, (0, 4));
    mark(&world, &ann, habit, &["2026-02-28", "2026-03-01"]).await;
    assert_eq!(streak(&world, &ann, habit).await, (2, 4), "today is not over");
    mark(&world, &ann, habit, &["2026-03-02"]).await;
    assert_eq!(streak(&world, &ann, habit).await, (3, 4));
    world.advance(24 * 3600);
    assert_eq!(streak(&world, &ann, habit).await, (3, 4));
    world.advance(24 * 3600);
    assert_eq!(streak(&world, &ann, habit).await, (0, 4), "yesterday was missed");
}

#[tokio::test]
async fn days_on_which_a_habit_is_not_due_neither_make_nor_break_a_streak() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let habit = world.habit(&ann, json!({ "title": "Swim", "days": ["fri", "mon", "wed"] })).await;
    mark(&world, &ann, habit, &["2026-02-23", "2026-02-25", "2026-02-27", "2026-02-28"]).await;
    assert_eq!(streak(&world, &ann, habit).await, (3, 3));
    world.change(&ann, &json!([act("habit.mark_completed", habit)])).await;
    assert_eq!(streak(&world, &ann, habit).await, (4, 4), "2026-03-02 is a Monday");
    let stored = world.rows("select days from planner.habits").await;
    assert_eq!(stored, [json!({ "days": [1, 3, 5] })]);
}

#[tokio::test]
async fn when_the_days_of_a_habit_change_its_streaks_are_counted_by_the_new_ones() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let habit = world.habit(&ann, json!({ "title": "Swim", "days": ["mon"] })).await;
    mark(&world, &ann, habit, &["2026-02-16", "2026-02-23", "2026-03-02"]).await;
    assert_eq!(streak(&world, &ann, habit).await, (3, 3));
    let days = |days: Value| json!([{ "action": "habit.update", "params": { "habit_id": habit, "days": days } }]);
    world.change(&ann, &days(json!(["mon", "tue"]))).await;
    assert_eq!(streak(&world, &ann, habit).await, (1, 1));
    world.change(&ann, &days(json!(["mon"]))).await;
    assert_eq!(streak(&world, &ann, habit).await, (3, 3), "no mark was lost on the way");
}

#[tokio::test]
async fn the_day_begins_where_the_person_is() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    // Nine in the morning UTC is still Sunday in Honolulu.
    assert_eq!(
        set_zone(&world, &ann, "Pacific/Honolulu").await,
        json!({ "success": true, "time_zone": "Pacific/Honolulu", "today": "2026-03-01" })
    );
    world.change(&ann, &json!([act("habit.mark_completed", habit)])).await;
    assert_eq!(world.rows("select day from planner.marks").await, [json!({ "day": "2026-03-01" })]);
    set_zone(&world, &ann, "Europe/Moscow").await;
    world.change(&ann, &json!([act("habit.mark_completed", habit)])).await;
    assert_eq!(streak(&world, &ann, habit).await, (2, 2), "a day that was marked stays that day");
    // Twelve hours later it is midnight in Moscow.
    world.advance(12 * 3600);
    let list = world.read(&ann, ReadTool::ListHabits, json!({})).await;
    assert_eq!((&list["today"], &list["habits"][0]["completed_today"]), (&json!("2026-03-03"), &json!(false)));
    set_zone(&world, &ann, "UTC").await;
    let list = world.read(&ann, ReadTool::ListHabits, json!({})).await;
    assert_eq!((&list["today"], &list["habits"][0]["completed_today"]), (&json!("2026-03-02"), &json!(true)));
}

#[tokio::test]
async fn an_hour_that_a_zone_skips_or_repeats_breaks_no_streak() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    set_zone(&world, &ann, "America/New_York").await;
    world.advance(8 * 24 * 3600);
    // On March 8, 2026 the clocks of New York go forward.
    mark(&world, &ann, habit, &["2026-03-07", "2026-03-08", "2026-03-09", "2026-03-10"]).await;
    assert_eq!(streak(&world, &ann, habit).await, (4, 4));
    // And on November 1 they go back.
    world.advance(239 * 24 * 3600);
    mark(&world, &ann, habit, &["2026-10-30", "2026-10-31", "2026-11-01", "2026-11-02", "2026-11-03"]).await;
    assert_eq!(streak(&world, &ann, habit).await, (5, 5));
}

#[tokio::test]
async fn the_day_after_the_clocks_went_back_begins_an_hour_later() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    set_zone(&world, &ann, "America/New_York").await;
    let today = async || world.read(&ann, ReadTool::ListHabits, json!({})).await["today"].clone();
    // From the morning of March 2 to half past four on November 2: half past eleven in the evening of the 1st in New York.
    world.advance(244 * 24 * 3600 + 19 * 3600 + 1800);
    assert_eq!(today().await, "2026-11-01", "with the hours of summer it would be the 2nd already");
    world.advance(3600);
    assert_eq!(today().await, "2026-11-02");
}

#[tokio::test]
async fn the_day_after_the_clocks_went_forward_begins_an_hour_earlier() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    set_zone(&world, &ann, "America/New_York").await;
    let today = async || world.read(&ann, ReadTool::ListHabits, json!({})).await["today"].clone();
    // From the morning of March 2 to half past three on March 9: half past eleven in the evening of the 8th in New York.
    world.advance(6 * 24 * 3600 + 18 * 3600 + 1800);
    assert_eq!(today().await, "2026-03-08");
    world.advance(3600);
    assert_eq!(today().await, "2026-03-09", "with the hours of winter it would still be the 8th");
}

#[tokio::test]
async fn a_day_that_is_yet_to_come_where_the_person_is_by_now_cannot_be_marked() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let habit = world.habit(&ann, json!({ "title": "Run" })).await;
    world.advance(3 * 3600);
    set_zone(&world, &ann, "Pacific/Kiritimati").await;
    let preview = world.preview(&ann, &json!([act("habit.mark_completed", habit)])).await;
    set_zone(&world, &ann, "Pacific/Honolulu").await;
    let refused = bad(&world.apply_as(&ann, id_of(&preview), "k").await);
    assert_eq!((&refused["error"], &refused["failed_action"]["index"]), (&json!("date is in the future"), &json!(0)));
    assert_eq!(world.xp(&ann).await, 0);
    // A preview of the evening before is no mark of the future.
    let preview = world.preview(&ann, &json!([act("habit.mark_completed", habit)])).await;
    set_zone(&world, &ann, "Europe/Moscow").await;
    good(&world.apply_as(&ann, id_of(&preview), "k").await);
}

#[tokio::test]
async fn a_zone_that_nobody_knows_is_refused_with_the_nearest_names() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let set = async |arguments: Value| bad(&world.planner.set_time_zone(&ann, &object(arguments)).await.unwrap());
    let refused = set(json!({ "time_zone": "Europe/Moscw" })).await;
    assert_eq!(refused["error"], "Unknown time zone");
    assert!(refused["hint"].as_str().unwrap().contains("Europe/Moscow"), "{refused}");
    assert_eq!(set(json!({})).await["error"], "time_zone is required");
    assert_eq!(set(json!({ "time_zone": 3 })).await["error"], "time_zone is a string, not a number");
    assert_eq!(
        set(json!({ "timezone": "UTC" })).await["error"],
        "unknown field `timezone` in set_time_zone; did you mean `time_zone`?"
    );
    assert_eq!(world.rows("select time_zone from planner.people").await, [json!({ "time_zone": "UTC" })]);
}

#[tokio::test]
async fn a_mark_of_long_ago_costs_no_more_than_one_of_yesterday_and_one_of_another_age_is_refused() {
    let world = World::new().await;
    let ann = world.caller("ann").await;
    let habit = world.habit(&ann, json!({ "title": "Run", "days": ["sat", "sun"] })).await;
    mark(&world, &ann, habit, &["2000-01-01", "2000-01-02", "2000-01-08", "2000-01-10", "2026-02-28", "2026-03-01"]).await;
    assert_eq!(streak(&world, &ann, habit).await, (2, 3));
    let slip = json!([{ "action": "habit.mark_completed", "params": { "habit_id": habit, "date": "0026-03-01" } }]);
    assert_eq!(world.refuse(&ann, &slip).await["error"], "date is too long ago");
    // Whoever writes into the table himself is not to make the person's habits unreadable.
    let give = "with given as (insert into planner.xp_entries (workspace_id, person_id, amount, entity, entity_id, day, preview_id, action_index)
                select workspace_id, person_id, 10, 'habit', habit_id, '0001-01-06', (select preview_id from planner.previews limit 1), 0
                  from planner.habits returning *)
                insert into planner.marks (workspace_id, habit_id, day, person_id, xp_entry_id)
                select workspace_id, entity_id, day, person_id, entry_id from given";
    world.try_run(give).await.unwrap();
    assert_eq!(streak(&world, &ann, habit).await, (2, 3));
}

#[tokio::test]
async fn due_days_are_counted_as_a_calendar_counts_them() {
    let world = World::new().await;
    let differing = world
        .rows(
            "select d.days, x.day::date from (values ('{1}'::smallint[]), ('{7}'), ('{1,3,5}'), ('{1,2,3,4,5,6,7}')) d (days)
              cross join generate_series(timestamp '1999-12-01', '2001-03-31', '1 day') x (day)
              where planner.due_days(d.days, x.day::date) - planner.due_days(d.days, '1999-11-30')
                    <> (select count(*) from generate_series(timestamp '1999-12-01', x.day, '1 day') y (day)
                         where extract(isodow from y.day) = any (d.days))",
        )
        .await;
    assert_eq!(differing, Vec::<Value>::new());
}
