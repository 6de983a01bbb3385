//! The goals of the demo person: four weeks of an assistant's work, played through the engine with a clock of their own, so that
//! streaks and XP have a past.

use anyhow::{Context, Result, ensure};
use jiff::{SignedDuration, Timestamp, civil::Weekday, tz::TimeZone};
use kernel::{Clock, Secret, TraceId, WorkspaceId, new_id};
use planner::{Applied, Caller, Planner};
use platform::{Db, Settings, tokens};
use serde_json::{Map, Value, json};

/// Whom the demo token names.
pub(crate) const PERSON: &str = "Анна";
const DAYS: i64 = 27;
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Makes the plan, unless the person has one.
pub(crate) async fn load(db: &Db, url: &Secret, workspace: WorkspaceId, token: &str) -> Result<()> {
    let query = "select exists (select from planner.goals g join planner.people p using (workspace_id, person_id)
                                 where g.workspace_id = $1 and p.name = $2)";
    if sqlx::query_scalar::<_, bool>(query).bind(workspace.uuid()).bind(PERSON).fetch_one(db.pool()).await? {
        return Ok(());
    }
    let principal = tokens::authenticate(db.pool(), &Secret::new(token)).await?.context("the demo token is not known")?;
    let clock = Clock::frozen(Timestamp::now() - DAY * i32::try_from(DAYS)?);
    let past = Db::connect(&Settings { connections_max: 2, ..Settings::new(url.expose()) }, clock.clone())?;
    let planner = Planner::new(past.clone());
    let caller = planner.caller(&principal, TraceId::new()).await?;
    let played = Past { planner, caller, clock }.play().await;
    past.pool().close().await;
    played
}

/// An assistant that lives in the past.
struct Past {
    planner: Planner,
    caller: Caller,
    clock: Clock,
}

impl Past {
    async fn play(&self) -> Result<()> {
        let due = |days: i64| (Timestamp::now() + SignedDuration::from_hours(24 * days)).strftime("%Y-%m-%d").to_string();
        let step = |goal: &str, title: &str| json!({ "action": "step.create", "params": { "goal_id": goal, "title": title } });
        let made = self
            .change(json!([
                { "action": "goal.create", "client_action_id": "python",
                  "params": { "title": "Выучить Python", "category": "work", "priority": "high", "due_date": due(30),
                              "description": "Чтобы автоматизировать отчёты магазина." } },
                step("$ref:python", "Изучить основы"), step("$ref:python", "Написать первый проект"),
                step("$ref:python", "Показать его коллегам"),
                { "action": "goal.create", "client_action_id": "move", "params": { "title": "Переехать на новый склад", "priority": "critical", "due_date": due(-3) } },
                step("$ref:move", "Выбрать помещение"), step("$ref:move", "Подписать договор"),
                { "action": "habit.create", "params": { "title": "Читать двадцать страниц", "category": "self" } },
                { "action": "habit.create", "params": { "title": "Тренировка", "category": "health", "days": ["mon", "wed", "fri"] } },
            ]))
            .await?;
        ensure!(made.len() == 9, "the seed made {made:?}");
        for day in 1..=DAYS {
            self.clock.advance(DAY);
            let complete = |id: i64| json!({ "action": "step.complete", "params": { "step_id": id } });
            let mark = |id: i64| json!({ "action": "habit.mark_completed", "params": { "habit_id": id } });
            let mut actions = Vec::new();
            match day {
                6 => actions.push(complete(made[1])),
                13 => actions.push(complete(made[5])),
                20 => actions.push(complete(made[2])),
                23 => actions.extend([complete(made[6]), json!({ "action": "goal.complete", "params": { "goal_id": made[4] } })]),
                _ => {}
            }
            // Two days were forgotten, so that there is a streak to beat.
            if day != 9 && day != 17 {
                actions.push(mark(made[7]));
            }
            let weekday = self.clock.now().to_zoned(TimeZone::UTC).weekday();
            if matches!(weekday, Weekday::Monday | Weekday::Wednesday | Weekday::Friday) {
                actions.push(mark(made[8]));
            }
            if !actions.is_empty() {
                self.change(Value::Array(actions)).await?;
            }
        }
        Ok(())
    }

    /// Previews and applies; the ids of what was made.
    async fn change(&self, actions: Value) -> Result<Vec<i64>> {
        let preview = self.planner.preview(&self.caller, &object(json!({ "actions": actions }))).await?;
        let said: Value = serde_json::from_str(&preview.body)?;
        ensure!(!preview.is_error, "{said}");
        let arguments = json!({ "preview_id": said["preview_id"], "idempotency_key": new_id().to_string() });
        let Applied::Answered(answer) = self.planner.apply(&self.caller, &object(arguments), &()).await? else {
            anyhow::bail!("cancelled by nobody");
        };
        let said: Value = serde_json::from_str(&answer.body)?;
        ensure!(!answer.is_error, "{said}");
        Ok(said["results"].as_array().into_iter().flatten().filter_map(|result| result["created_id"].as_i64()).collect())
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
