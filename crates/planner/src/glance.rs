//! What the console shows of people, goals, habits, XP, previews and calls. Inside a transaction of one workspace, by key, in a fixed
//! number of queries however much there is, and no count goes on for ever.

use std::{fmt, str::FromStr};

use kernel::Problem;
use platform::{DbError, reads::Time};
use serde::Deserialize;
use serde_json::Value;
use sqlx::{FromRow, PgConnection, types::Json};
use uuid::Uuid;

/// How many people there are to choose from.
pub const PEOPLE_MAX: i64 = 200;
/// How many steps of a goal are shown.
pub const STEPS_MAX: i64 = 30;
/// Counting stops here: more than this is "more than this".
pub const COUNT_MAX: i64 = 1000;
/// How many habits are shown; those that go on come before those that are archived.
pub const HABITS_MAX: i64 = 50;
/// How many days of marks a habit shows: four weeks.
pub const MARK_DAYS: i32 = 28;
/// How many days of XP are shown.
pub const XP_DAYS: i32 = 30;
/// How much of a diff a list shows.
const DIFF_CHARS: i32 = 1000;
/// How many calls are looked at to find those of one preview, and how many of them are shown.
const CALLS_LOOKED_AT: i64 = 5000;
const CALLS_MAX: i64 = 100;

/// Somebody who has goals here.
#[derive(Clone, Debug, FromRow)]
pub struct PersonRead {
    pub person_id: i64,
    pub name: String,
    pub time_zone: String,
    /// `YYYY-MM-DD`, in the time zone of this person.
    pub today: String,
}

const PERSON: &str =
    "select p.person_id, p.name, p.time_zone, to_char(platform.now() at time zone p.time_zone, 'YYYY-MM-DD') as today
                        from planner.people p where p.workspace_id = platform.workspace_id()";

/// People by name; only the one of this name if one is given.
pub async fn people(tx: &mut PgConnection, only: Option<&str>) -> Result<Vec<PersonRead>, DbError> {
    let query = format!("{PERSON} and ($1::text is null or p.name = $1) order by p.name, p.person_id limit $2");
    Ok(sqlx::query_as(sqlx::AssertSqlSafe(query)).bind(only).bind(PEOPLE_MAX).fetch_all(tx).await?)
}

pub async fn person(tx: &mut PgConnection, person_id: i64) -> Result<Option<PersonRead>, DbError> {
    let query = format!("{PERSON} and p.person_id = $1");
    Ok(sqlx::query_as(sqlx::AssertSqlSafe(query)).bind(person_id).fetch_optional(tx).await?)
}

/// The numbers that matter. Counts stop after [`COUNT_MAX`].
#[derive(Clone, Copy, Debug, FromRow)]
pub struct Figures {
    /// The sum of the ledger, and of its parts.
    pub xp: i64,
    pub xp_goals: i64,
    pub xp_steps: i64,
    pub xp_habits: i64,
    pub open_goals: i64,
    pub completed_goals: i64,
    pub habits: i64,
    pub pending: i64,
}

pub async fn figures(tx: &mut PgConnection, person_id: i64) -> Result<Figures, DbError> {
    let query = "select x.*, o.open_goals, c.completed_goals, h.habits, v.pending
                   from (select coalesce(sum(x.amount), 0)::bigint as xp,
                                coalesce(sum(x.amount) filter (where x.entity = 'goal'), 0)::bigint as xp_goals,
                                coalesce(sum(x.amount) filter (where x.entity = 'step'), 0)::bigint as xp_steps,
                                coalesce(sum(x.amount) filter (where x.entity = 'habit'), 0)::bigint as xp_habits
                           from planner.xp_entries x where x.workspace_id = platform.workspace_id() and x.person_id = $1) x,
                        (select count(*) as open_goals from (select from planner.goals g
                           where g.workspace_id = platform.workspace_id() and g.person_id = $1 and g.completed_at is null limit $2 + 1) g) o,
                        (select count(*) as completed_goals from (select from planner.goals g
                           where g.workspace_id = platform.workspace_id() and g.person_id = $1 and g.completed_at is not null limit $2 + 1) g) c,
                        (select count(*) as habits from (select from planner.habits h
                           where h.workspace_id = platform.workspace_id() and h.person_id = $1 and h.archived_at is null limit $2 + 1) h) h,
                        (select count(*) as pending from (select from planner.previews v
                           where v.workspace_id = platform.workspace_id() and v.person_id = $1 and v.status = 'pending'
                             and v.expires_at > platform.now() limit $2 + 1) v) v";
    Ok(sqlx::query_as(query).bind(person_id).bind(COUNT_MAX).fetch_one(tx).await?)
}

/// A goal with its first steps.
#[derive(Clone, Debug, FromRow)]
pub struct GoalRead {
    pub goal_id: i64,
    pub title: String,
    pub description: Option<String>,
    pub category: Option<String>,
    pub priority: String,
    /// `YYYY-MM-DD`.
    pub due_date: Option<String>,
    pub version: i32,
    pub steps_version: i32,
    pub created_at: Time,
    pub completed_at: Option<Time>,
    /// What its completion gave; 0 while it is open.
    pub xp: i32,
    /// How many steps there are and how many are done; counting stops after [`COUNT_MAX`].
    pub steps_count: i64,
    pub steps_done: i64,
    /// The first [`STEPS_MAX`] of them, in their order.
    pub steps: Json<Vec<StepRead>>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct StepRead {
    pub step_id: i64,
    pub title: String,
    pub priority: String,
    /// `YYYY-MM-DD`.
    pub due_date: Option<String>,
    pub is_done: bool,
    /// What its completion gave; 0 while it is open.
    pub xp: i32,
}

#[derive(Clone, Debug, Default)]
pub struct GoalFilter {
    pub person_id: i64,
    /// Only open goals, or only completed ones.
    pub is_completed: Option<bool>,
    /// Only goals with a smaller id: the last one of the page before.
    pub before: Option<i64>,
    pub limit: i64,
}

/// Goals, newest first.
pub async fn goals(tx: &mut PgConnection, filter: &GoalFilter) -> Result<Vec<GoalRead>, DbError> {
    let query = "select g.goal_id, g.title, g.description, g.category, g.priority, to_char(g.due_date, 'YYYY-MM-DD') as due_date, g.version,
                        g.steps_version, g.created_at, g.completed_at, coalesce(x.amount, 0) as xp, s.steps_count, s.steps_done, s.steps
                   from (select g.* from planner.goals g
                          where g.workspace_id = platform.workspace_id() and g.person_id = $1
                            and ($2::boolean is null or (g.completed_at is not null) = $2) and ($3::bigint is null or g.goal_id < $3)
                          order by g.goal_id desc limit $4) g
                   left join planner.xp_entries x on x.workspace_id = g.workspace_id and x.entry_id = g.xp_entry_id
                  cross join lateral (
                        select count(*) as steps_count, count(s.completed_at) as steps_done,
                               coalesce(jsonb_agg(jsonb_build_object(
                                   'step_id', s.step_id, 'title', s.title, 'priority', s.priority, 'due_date', s.due_date,
                                   'is_done', s.completed_at is not null, 'xp', coalesce(x.amount, 0)) order by s.\"order\", s.step_id)
                                   filter (where s.place <= $5), '[]') as steps
                          from (select s.*, row_number() over (order by s.\"order\", s.step_id) as place
                                  from (select s.* from planner.steps s where s.workspace_id = g.workspace_id and s.goal_id = g.goal_id
                                         order by s.\"order\" limit $6 + 1) s) s
                          left join planner.xp_entries x on x.workspace_id = s.workspace_id and x.entry_id = s.xp_entry_id) s
                  order by g.goal_id desc";
    let rows = sqlx::query_as(query)
        .bind(filter.person_id)
        .bind(filter.is_completed)
        .bind(filter.before)
        .bind(filter.limit)
        .bind(STEPS_MAX)
        .bind(COUNT_MAX)
        .fetch_all(tx)
        .await?;
    Ok(rows)
}

/// A habit with its streaks and its last marks.
#[derive(Clone, Debug, FromRow)]
pub struct HabitRead {
    pub habit_id: i64,
    pub title: String,
    pub category: Option<String>,
    /// On which days of the week, 1 (Monday) to 7.
    pub days: Vec<i16>,
    pub version: i32,
    /// `YYYY-MM-DD`, in the time zone of the person.
    pub created_day: String,
    pub is_archived: bool,
    pub current_streak: i32,
    pub longest_streak: i32,
    /// The marked days of the last [`MARK_DAYS`], each `YYYY-MM-DD`.
    pub marks: Json<Vec<String>>,
}

/// Habits, those that go on first.
pub async fn habits(tx: &mut PgConnection, person: &PersonRead) -> Result<Vec<HabitRead>, DbError> {
    let query = "select h.habit_id, h.title, h.category, h.days, h.version, to_char(h.created_at at time zone $3, 'YYYY-MM-DD') as created_day,
                        h.archived_at is not null as is_archived, (s.streak->>'current')::int as current_streak,
                        (s.streak->>'longest')::int as longest_streak, m.marks
                   from (select h.* from planner.habits h where h.workspace_id = platform.workspace_id() and h.person_id = $1
                          order by h.archived_at is not null, h.habit_id limit $5) h
                  cross join lateral (select planner.streak(h.workspace_id, h.habit_id, $2::text::date) as streak offset 0) s
                  cross join lateral (
                        select coalesce(jsonb_agg(m.day order by m.day), '[]') as marks from planner.marks m
                         where m.workspace_id = h.workspace_id and m.habit_id = h.habit_id
                           and m.day > $2::text::date - $4::int and m.day <= $2::text::date) m
                  order by is_archived, h.habit_id";
    let rows = sqlx::query_as(query)
        .bind(person.person_id)
        .bind(&person.today)
        .bind(&person.time_zone)
        .bind(MARK_DAYS)
        .bind(HABITS_MAX)
        .fetch_all(tx)
        .await?;
    Ok(rows)
}

/// What one day gave and took back.
#[derive(Clone, Debug, FromRow)]
pub struct XpDay {
    /// `YYYY-MM-DD`, in the time zone of the person.
    pub day: String,
    pub earned: i64,
    pub taken_back: i64,
}

/// The last [`XP_DAYS`] days, oldest first, also those on which nothing happened.
pub async fn xp_by_day(tx: &mut PgConnection, person: &PersonRead) -> Result<Vec<XpDay>, DbError> {
    let query = "with days as (
                     select $2::text::date - n as day from generate_series(0, $4::int - 1) as n
                 ), entries as (
                     select (x.created_at at time zone $3)::date as day, coalesce(sum(x.amount) filter (where x.amount > 0), 0)::bigint as earned,
                            coalesce(-sum(x.amount) filter (where x.amount < 0), 0)::bigint as taken_back
                       from planner.xp_entries x
                      where x.workspace_id = platform.workspace_id() and x.person_id = $1
                        and x.created_at >= ($2::text::date - ($4::int - 1))::timestamp at time zone $3
                      group by 1
                 )
                 select to_char(d.day, 'YYYY-MM-DD') as day, coalesce(e.earned, 0) as earned, coalesce(e.taken_back, 0) as taken_back
                   from days d left join entries e using (day) order by d.day";
    let days = sqlx::query_as(query).bind(person.person_id).bind(&person.today).bind(&person.time_zone).bind(XP_DAYS);
    Ok(days.fetch_all(tx).await?)
}

/// A preview, or the batch that it became.
#[derive(Clone, Debug, FromRow)]
pub struct PreviewRead {
    pub preview_id: Uuid,
    pub person_id: i64,
    /// `pending`, `applied` or `expired`; what is past its time counts as expired before somebody has written that down.
    pub status: String,
    pub undoes: Option<Uuid>,
    pub undone_by: Option<Uuid>,
    pub xp: i32,
    pub would_fail: Option<String>,
    pub created_at: Time,
    pub expires_at: Time,
    pub applied_at: Option<Time>,
    pub action_count: i32,
    /// How the readable diff begins.
    pub diff: String,
}

impl PreviewRead {
    /// Its place in the order of the list.
    pub fn place(&self) -> PreviewPlace {
        PreviewPlace { micros: self.created_at.to_jiff().as_microsecond(), id: self.preview_id }
    }
}

/// A place in the list of previews, which is ordered by time and then by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviewPlace {
    pub micros: i64,
    pub id: Uuid,
}

impl fmt::Display for PreviewPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.micros, self.id.simple())
    }
}

impl FromStr for PreviewPlace {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let parts = text.rsplit_once('-').and_then(|(micros, id)| Some((micros.parse().ok()?, Uuid::try_parse(id).ok()?)));
        let (micros, id) =
            parts.ok_or_else(|| Problem::validation("before", "`before` is what the link to the page before said"))?;
        Ok(Self { micros, id })
    }
}

#[derive(Clone, Debug, Default)]
pub struct PreviewFilter {
    pub person_id: i64,
    /// `pending`, `applied` or `expired`.
    pub status: Option<String>,
    /// Only previews before this one: the last one of the page before.
    pub before: Option<PreviewPlace>,
    pub limit: i64,
}

/// What is read of a preview `p`.
const PREVIEW: &str = "p.preview_id, p.person_id,
                       case when p.status = 'pending' and p.expires_at <= platform.now() then 'expired' else p.status end as status,
                       p.undoes, p.undone_by, p.xp, p.would_fail, p.created_at, p.expires_at, p.applied_at,
                       coalesce(jsonb_array_length(p.body::jsonb->'actions'), 0) as action_count";

/// Previews, newest first.
pub async fn previews(tx: &mut PgConnection, filter: &PreviewFilter) -> Result<Vec<PreviewRead>, DbError> {
    let query = format!(
        "select {PREVIEW}, coalesce(left(p.body::jsonb->>'diff', $6), '') as diff
           from (select p.* from planner.previews p
                  where p.workspace_id = platform.workspace_id() and p.person_id = $1
                    and ($2::text is null
                         or $2 = case when p.status = 'pending' and p.expires_at <= platform.now() then 'expired' else p.status end)
                    and ($3::bigint is null
                         or (p.created_at, p.preview_id) < (platform.at_micros($3), $4))
                  order by p.created_at desc, p.preview_id desc limit $5) p
          order by p.created_at desc, p.preview_id desc"
    );
    let rows = sqlx::query_as(sqlx::AssertSqlSafe(query))
        .bind(filter.person_id)
        .bind(&filter.status)
        .bind(filter.before.map(|before| before.micros))
        .bind(filter.before.map(|before| before.id))
        .bind(filter.limit)
        .bind(DIFF_CHARS)
        .fetch_all(tx)
        .await?;
    Ok(rows)
}

/// Everything about one preview.
#[derive(Clone, Debug, FromRow)]
pub struct WholePreview {
    #[sqlx(flatten)]
    pub row: PreviewRead,
    /// The answer that was given when it was made.
    pub body: Value,
    pub idempotency_key: Option<String>,
    /// The answer that was given when it was applied, byte for byte, until its time is over.
    pub result: Option<String>,
}

pub async fn preview(tx: &mut PgConnection, preview_id: Uuid) -> Result<Option<WholePreview>, DbError> {
    let query = format!(
        "select {PREVIEW}, coalesce(p.body::jsonb->>'diff', '') as diff, p.body::jsonb as body, p.idempotency_key, p.result
           from planner.previews p where p.workspace_id = platform.workspace_id() and p.preview_id = $1"
    );
    Ok(sqlx::query_as(sqlx::AssertSqlSafe(query)).bind(preview_id).fetch_optional(tx).await?)
}

/// A line of the request log.
#[derive(Clone, Debug, FromRow)]
pub struct CallRead {
    pub request_id: Uuid,
    pub tool_name: String,
    pub created_at: Time,
    /// None while the call runs, or when its process died before the answer.
    pub execution_time_ms: Option<i32>,
    pub error_message: Option<String>,
    /// As they are kept: redacted, and cut where they are long. None in a list.
    pub request_body: Option<Value>,
    pub response_body: Option<Value>,
}

/// The last calls of a person, newest first.
pub async fn calls(tx: &mut PgConnection, person_id: i64, limit: i64) -> Result<Vec<CallRead>, DbError> {
    let query = "select l.request_id, l.tool_name, l.created_at, l.execution_time_ms, l.error_message,
                        null::jsonb as request_body, null::jsonb as response_body
                   from planner.mcp_request_log l
                  where l.workspace_id = platform.workspace_id() and l.person_id = $1
                  order by l.created_at desc, l.request_id desc limit $2";
    Ok(sqlx::query_as(query).bind(person_id).bind(limit).fetch_all(tx).await?)
}

/// The calls that made, applied or undid a preview, oldest first. The one that made it began before it.
pub async fn calls_of(tx: &mut PgConnection, preview: &PreviewRead) -> Result<Vec<CallRead>, DbError> {
    let query = "select l.request_id, l.tool_name, l.created_at, l.execution_time_ms, l.error_message, l.request_body, l.response_body
                   from (select l.* from planner.mcp_request_log l
                          where l.workspace_id = platform.workspace_id() and l.person_id = $1 and l.created_at >= $2 - interval '5 minutes'
                            and l.tool_name in ('preview_actions', 'apply_actions', 'undo_actions')
                          order by l.created_at, l.request_id limit $4) l
                  where l.request_body->'arguments'->>'preview_id' = $3 or l.response_body->>'preview_id' = $3
                  order by l.created_at, l.request_id limit $5";
    let rows = sqlx::query_as(query)
        .bind(preview.person_id)
        .bind(preview.created_at)
        .bind(preview.preview_id.to_string())
        .bind(CALLS_LOOKED_AT)
        .bind(CALLS_MAX)
        .fetch_all(tx)
        .await?;
    Ok(rows)
}
