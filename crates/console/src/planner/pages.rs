//! The pages of the planner.

use axum::{Router, extract::Path, routing::get};
use kernel::Problem;
use planner::glance::{self, GoalFilter, PersonRead, PreviewFilter, PreviewRead};
use platform::http::App;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{chart, data, preview, words};
use crate::{
    page::{Filters, ROWS, Shown},
    session::{PageError, Visitor},
    views::{FilterOption, PageHead, PageLink, PersonPlan, PlannerRegion, PreviewsRegion, PreviewsTable},
};

/// How many previews and calls the page of a person shows.
const RECENT: i64 = 10;

pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/planner", get(plan))
        .route("/planner/previews", get(previews))
        .route("/planner/previews/{preview_id}", get(one_preview))
}

/// The person whom this visitor may look at: the one that the token names; none for everyone of the workspace.
fn only(visitor: &Visitor) -> Option<&str> {
    visitor.ctx.principal.person.as_deref()
}

/// The person that was asked for, or the first one. A person whom the visitor may not look at is not found.
async fn chosen(tx: &mut PgConnection, visitor: &Visitor) -> Result<Option<PersonRead>, PageError> {
    let found = match visitor.number("person")? {
        Some(id) => {
            let found = glance::person(tx, id).await?;
            let found = found.filter(|person| only(visitor).is_none_or(|name| name == person.name));
            Some(found.ok_or_else(|| Problem::not_found("person"))?)
        }
        None => glance::people(tx, only(visitor)).await?.into_iter().next(),
    };
    Ok(found)
}

/// The filters of a page, of which the first is the person.
async fn filters<'a>(tx: &mut PgConnection, visitor: &'a Visitor, person: &PersonRead) -> Result<Filters<'a>, PageError> {
    let people = glance::people(tx, only(visitor)).await?.into_iter();
    let people = people.map(|person| FilterOption { value: person.person_id.to_string(), label: person.name });
    Ok(visitor.filters().one_of("person", "Person", people.collect(), person.person_id.to_string()))
}

async fn plan(visitor: Visitor) -> Shown {
    let lead = "What people want to reach, what they do every day for it, and what their assistants have changed.";
    let head = PageHead::new("Goals", lead);
    let now = visitor.now();
    let before = visitor.number("before")?;
    let mut tx = visitor.ctx.begin().await?;
    let Some(person) = chosen(&mut tx, &visitor).await? else {
        let connect = words::connect(&visitor.ctx.principal.workspace_name, only(&visitor));
        let pager = visitor.filters().pager_to(None::<i64>, String::new());
        return visitor.show(head, &PlannerRegion { plan: None, connect, pager, announce: String::new() });
    };
    let states = ["open", "completed"].map(|state| (state, state));
    let filters = filters(&mut tx, &visitor, &person).await?.choice("state", "Goals", states);
    let is_completed = match visitor.text("state").as_deref() {
        Some("open") => Some(false),
        Some("completed") => Some(true),
        _ => None,
    };
    let filter = GoalFilter { person_id: person.person_id, is_completed, before, limit: ROWS + 1 };
    let mut goals = glance::goals(&mut tx, &filter).await?;
    let pager = filters.pager(&mut goals, "goals", |goal| goal.goal_id);
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
    let plan = PersonPlan {
        zone: format!("{}, {}", person.time_zone, today.map_or_else(|| person.today.clone(), words::date)),
        counters: data::counters(&person, &figures),
        goals: goals.iter().map(|row| data::goal_row(row, today, now)).collect(),
        no_goals: no_goals.to_owned(),
        habits: habits.iter().map(|row| data::habit_row(row, today)).collect(),
        xp: chart::chart(&figures, &days),
        previews: PreviewsTable { rows: previews.iter().map(|row| data::preview_row(row, now)).collect() },
        previews_href: data::previews_href(person.person_id, ""),
        calls: calls.iter().map(|row| data::call_row(row, now)).collect(),
        name: person.name,
    };
    let page = PlannerRegion { plan: Some(plan), connect: Vec::new(), pager, announce: announce.unwrap_or_default() };
    visitor.show(head.with(filters), &page)
}

async fn previews(visitor: Visitor) -> Shown {
    let lead = "What assistants wanted to change, whether it was done, and what was undone.";
    let head = PageHead::new("Previews", lead).under(PageLink::new("/console/planner", "Goals"));
    let (before, now) = (visitor.place()?, visitor.now());
    let mut tx = visitor.ctx.begin().await?;
    let Some(person) = chosen(&mut tx, &visitor).await? else {
        let pager = visitor.filters().pager_to(None::<i64>, "0 previews".to_owned());
        return visitor.show(head, &PreviewsRegion { previews: PreviewsTable { rows: Vec::new() }, pager });
    };
    let statuses = [("pending", "waits"), ("applied", "applied"), ("expired", "expired")];
    let filters = filters(&mut tx, &visitor, &person).await?.choice("status", "State", statuses);
    let filter = PreviewFilter { person_id: person.person_id, status: visitor.text("status"), before, limit: ROWS + 1 };
    let mut rows = glance::previews(&mut tx, &filter).await?;
    let pager = filters.pager(&mut rows, "previews", PreviewRead::place);
    let previews = PreviewsTable { rows: rows.iter().map(|row| data::preview_row(row, now)).collect() };
    visitor.show(head.with(filters), &PreviewsRegion { previews, pager })
}

async fn one_preview(visitor: Visitor, Path(id): Path<String>) -> Shown {
    let missing = || Problem::not_found("preview");
    let id = Uuid::try_parse(&id).map_err(|_| missing())?;
    let mut tx = visitor.ctx.begin().await?;
    let whole = glance::preview(&mut tx, id).await?.ok_or_else(missing)?;
    let person = glance::person(&mut tx, whole.row.person_id).await?;
    let name = person.as_ref().map(|person| person.name.as_str());
    if only(&visitor).is_some_and(|only| name != Some(only)) {
        return Err(missing().into());
    }
    let calls = glance::calls_of(&mut tx, &whole.row).await?;
    let details = preview::details(&whole, person.as_ref(), &calls, visitor.now());
    visitor.show(PageHead::only_title(format!("Preview {}", details.row.short)), &details)
}
