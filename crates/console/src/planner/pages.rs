//! The pages of the planner and their live regions.

use axum::{
    Router,
    extract::{Path, Query},
    http::{StatusCode, Uri},
    response::Response,
    routing::get,
};
use kernel::Problem;
use planner::glance::{self, GoalFilter, PersonRead, PreviewFilter, PreviewPlace};
use platform::http::App;
use serde::Deserialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{chart, data, preview, words};
use crate::{
    pages::{IN_TIME, PAGE, asked, given, options, pager, shell},
    session::{PageError, Visitor, page},
    views::{
        FilterOption, Pager, Plan, Planner, PlannerFragment, PlannerPage, PreviewDetails, PreviewFragment, PreviewPage,
        PreviewRow, PreviewsFragment, PreviewsPage,
    },
};

const GOALS: &str = "/console/planner";
/// How many previews and calls the page of a person shows.
const RECENT: i64 = 10;

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/console/planner", get(plan))
        .route("/console/planner/previews", get(previews))
        .route("/console/planner/previews/{preview_id}", get(one_preview))
}

/// A region by its name, with the query of the page that it stands on; none for a name that is not of the planner.
pub(crate) async fn fragment(visitor: &Visitor, name: &str, uri: &Uri) -> Result<Option<Response>, PageError> {
    if let Some(id) = name.strip_prefix("preview-") {
        let preview = find_preview(visitor, id).await?;
        return Ok(Some(page(StatusCode::OK, &PreviewFragment { preview })));
    }
    Ok(match name {
        "planner" => {
            let (planner, pager) = find_plan(visitor, &asked(uri)?).await?;
            Some(page(StatusCode::OK, &PlannerFragment { planner, pager }))
        }
        "previews" => {
            let (previews, pager) = list_previews(visitor, &asked(uri)?).await?;
            Some(page(StatusCode::OK, &PreviewsFragment { previews, pager }))
        }
        _ => None,
    })
}

/// Whom this visitor may look at: the person that the token names, or everybody.
fn only(visitor: &Visitor) -> Option<&str> {
    visitor.ctx.principal.person.as_deref()
}

/// The person that was asked for, or the first one. Somebody else's number is nobody's.
async fn chosen(tx: &mut PgConnection, visitor: &Visitor, asked: Option<i64>) -> Result<Option<PersonRead>, PageError> {
    let found = match asked {
        Some(id) => {
            let found = glance::person(tx, id).await?;
            let found = found.filter(|person| only(visitor).is_none_or(|name| name == person.name));
            Some(found.ok_or_else(|| PageError(Problem::not_found("person")))?)
        }
        None => glance::people(tx, only(visitor)).await?.into_iter().next(),
    };
    Ok(found)
}

async fn people(tx: &mut PgConnection, visitor: &Visitor, asked: Option<i64>) -> Result<Vec<FilterOption>, PageError> {
    let people = glance::people(tx, only(visitor)).await?;
    let chosen = asked.or_else(|| people.first().map(|person| person.person_id));
    let option = |person: PersonRead| FilterOption {
        value: person.person_id.to_string(),
        selected: chosen == Some(person.person_id),
        label: person.name,
    };
    Ok(people.into_iter().map(option).collect())
}

/// A number from a form; nothing means any.
fn number(field: &str, text: Option<&String>) -> Result<Option<i64>, PageError> {
    let text = text.map(|text| text.trim()).filter(|text| !text.is_empty());
    let wrong = |_| PageError(Problem::validation(field, format!("`{field}` is a number")));
    text.map(str::parse).transpose().map_err(wrong)
}

#[derive(Deserialize)]
struct PlanQuery {
    person: Option<String>,
    state: Option<String>,
    before: Option<String>,
}

async fn find_plan(visitor: &Visitor, query: &PlanQuery) -> Result<(Planner, Pager), PageError> {
    let (state, before) = (given(query.state.clone()), number("before", query.before.as_ref())?);
    let now = visitor.ctx.app.clock().now();
    let mut tx = visitor.ctx.begin().await?;
    let Some(person) = chosen(&mut tx, visitor, number("person", query.person.as_ref())?).await? else {
        let connect = words::connect(&visitor.ctx.principal.workspace_name, only(visitor));
        let pager = Pager { first_href: None, next_href: None, shown: String::new(), labels: IN_TIME };
        return Ok((Planner { plan: None, connect, announce: String::new() }, pager));
    };
    let is_completed = match state.as_deref() {
        Some("open") => Some(false),
        Some("completed") => Some(true),
        _ => None,
    };
    let filter = GoalFilter { person_id: person.person_id, is_completed, before, limit: PAGE + 1 };
    let mut goals = glance::goals(&mut tx, &filter).await?;
    let base = format!("{}&state={}", data::plan_href(person.person_id), state.as_deref().unwrap_or_default());
    let pager = pager(&mut goals, &base, before.is_some(), "goals", |goal| goal.goal_id.to_string());
    let figures = glance::figures(&mut tx, person.person_id).await?;
    let habits = glance::habits(&mut tx, &person).await?;
    let days = glance::xp_by_day(&mut tx, &person).await?;
    let recent = PreviewFilter { person_id: person.person_id, limit: RECENT, ..PreviewFilter::default() };
    let previews = glance::previews(&mut tx, &recent).await?;
    let calls = glance::calls(&mut tx, person.person_id, RECENT).await?;
    let today = words::day(&person.today);
    let no_goals = match (is_completed, before) {
        (Some(true), _) => "Nothing is completed yet.",
        (Some(false), _) => "No goal is open.",
        (None, Some(_)) => "Nothing further back.",
        (None, None) => "There is no goal yet. Ask the assistant for one.",
    };
    let announce = previews.first().map(|row| format!("The last preview: {}", words::standing(row).0.label));
    let plan = Plan {
        zone: format!("{}, {}", person.time_zone, today.map_or_else(|| person.today.clone(), words::date)),
        counters: data::counters(&person, &figures),
        goals: goals.iter().map(|row| data::goal_row(row, today, now)).collect(),
        no_goals: no_goals.to_owned(),
        habits: habits.iter().map(|row| data::habit_row(row, today)).collect(),
        xp: chart::chart(&figures, &days),
        previews: previews.iter().map(|row| data::preview_row(row, now)).collect(),
        previews_href: data::previews_href(person.person_id, ""),
        calls: calls.iter().map(|row| data::call_row(row, now)).collect(),
        name: person.name,
    };
    Ok((Planner { plan: Some(plan), connect: Vec::new(), announce: announce.unwrap_or_default() }, pager))
}

async fn plan(visitor: Visitor, Query(query): Query<PlanQuery>) -> Result<Response, PageError> {
    let (planner, pager) = find_plan(&visitor, &query).await?;
    let mut tx = visitor.ctx.begin().await?;
    let people = people(&mut tx, &visitor, number("person", query.person.as_ref())?).await?;
    let states = ["open", "completed"].map(|state| (state.to_owned(), state.to_owned()));
    let view = PlannerPage {
        shell: shell(&visitor, GOALS),
        people,
        states: options(states, given(query.state).as_deref()),
        planner,
        pager,
    };
    Ok(page(StatusCode::OK, &view))
}

#[derive(Deserialize)]
struct PreviewsQuery {
    person: Option<String>,
    status: Option<String>,
    before: Option<String>,
}

async fn list_previews(visitor: &Visitor, query: &PreviewsQuery) -> Result<(Vec<PreviewRow>, Pager), PageError> {
    let status = given(query.status.clone());
    let before: Option<PreviewPlace> = given(query.before.clone()).as_deref().map(str::parse).transpose()?;
    let now = visitor.ctx.app.clock().now();
    let mut tx = visitor.ctx.begin().await?;
    let person = chosen(&mut tx, visitor, number("person", query.person.as_ref())?).await?;
    let (mut rows, base) = match &person {
        Some(person) => {
            let filter = PreviewFilter { person_id: person.person_id, status: status.clone(), before, limit: PAGE + 1 };
            (
                glance::previews(&mut tx, &filter).await?,
                data::previews_href(person.person_id, status.as_deref().unwrap_or_default()),
            )
        }
        None => (Vec::new(), "/console/planner/previews".to_owned()),
    };
    let pager = pager(&mut rows, &base, before.is_some(), "previews", |row| row.place().to_string());
    Ok((rows.iter().map(|row| data::preview_row(row, now)).collect(), pager))
}

async fn previews(visitor: Visitor, Query(query): Query<PreviewsQuery>) -> Result<Response, PageError> {
    let (previews, pager) = list_previews(&visitor, &query).await?;
    let mut tx = visitor.ctx.begin().await?;
    let people = people(&mut tx, &visitor, number("person", query.person.as_ref())?).await?;
    let statuses = [("pending", "waits"), ("applied", "applied"), ("expired", "expired")];
    let statuses = statuses.map(|(value, label)| (value.to_owned(), label.to_owned()));
    let view = PreviewsPage {
        shell: shell(&visitor, GOALS),
        people,
        statuses: options(statuses, given(query.status).as_deref()),
        previews,
        pager,
    };
    Ok(page(StatusCode::OK, &view))
}

async fn find_preview(visitor: &Visitor, id: &str) -> Result<PreviewDetails, PageError> {
    let missing = || PageError(Problem::not_found("preview"));
    let id = Uuid::try_parse(id).map_err(|_| missing())?;
    let now = visitor.ctx.app.clock().now();
    let mut tx = visitor.ctx.begin().await?;
    let whole = glance::preview(&mut tx, id).await?.ok_or_else(missing)?;
    let person = glance::person(&mut tx, whole.row.person_id).await?;
    let name = person.as_ref().map(|person| person.name.as_str());
    if only(visitor).is_some_and(|only| name != Some(only)) {
        return Err(missing());
    }
    let calls = glance::calls_of(&mut tx, &whole.row).await?;
    Ok(preview::details(&whole, person.as_ref(), &calls, now))
}

async fn one_preview(visitor: Visitor, Path(id): Path<String>) -> Result<Response, PageError> {
    let preview = find_preview(&visitor, &id).await?;
    Ok(page(StatusCode::OK, &PreviewPage { shell: shell(&visitor, GOALS), preview }))
}
