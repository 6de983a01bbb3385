//! What every page needs: the query of its address, its filters, and its region in the layout or alone.
//!
//! A handler is called for both addresses of its page: `/console/posts` is the whole page, `/console/fragments/posts` its region
//! alone, which the script puts in place of the old one.

use std::{fmt::Display, str::FromStr};

use askama::Template;
use axum::{
    http::StatusCode,
    response::{Html, IntoResponse, Response},
};
use jiff::Timestamp;
use kernel::Problem;
use platform::http::Failure;
use uuid::Uuid;

use crate::{
    session::{PageError, Visitor},
    views::{FilterField, FilterForm, FilterOption, MenuItem, PageHead, PageLink, Pager, WholePage, query_value},
};

/// How many rows a page of a list has.
pub(crate) const ROWS: i64 = 50;

/// What a handler of a page returns.
pub(crate) type Shown = Result<Response, PageError>;

impl Visitor {
    pub(crate) fn now(&self) -> Timestamp {
        self.ctx.app.clock().now()
    }

    /// A value of the query, if there is one.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.query.get(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// The position in a list at which the page begins.
    pub(crate) fn place<T: FromStr<Err: Into<Failure>>>(&self) -> Result<Option<T>, PageError> {
        Ok(self.text("before").as_deref().map(str::parse).transpose()?)
    }

    pub(crate) fn id(&self, name: &str) -> Result<Option<Uuid>, PageError> {
        let wrong = |_| Problem::validation(name, "this is no id: an id has 32 digits and letters from a to f");
        Ok(self.text(name).as_deref().map(Uuid::try_parse).transpose().map_err(wrong)?)
    }

    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, PageError> {
        let wrong = |_| Problem::validation(name, format!("`{name}` is a number"));
        Ok(self.text(name).as_deref().map(str::parse).transpose().map_err(wrong)?)
    }

    /// The filter form of this page, still without fields.
    pub(crate) fn filters(&self) -> Filters<'_> {
        Filters { visitor: self, form: FilterForm { action: format!("/console{}", self.path), fields: Vec::new() } }
    }

    /// The whole page, or its region alone if the address is that of the region.
    pub(crate) fn show(&self, head: PageHead, region: &impl Template) -> Shown {
        let html = if self.is_fragment { region.render() } else { self.whole(head, region).render() };
        let html = html.map_err(|error| {
            tracing::error!(%error, "console.render");
            Problem::internal()
        })?;
        Ok(Html(html).into_response())
    }

    fn whole<'a, R: Display>(&'a self, head: PageHead, region: &'a R) -> WholePage<'a, R> {
        let path = self.path.split('/').nth(1).unwrap_or_default();
        let entries = &self.menu.0;
        let topics = entries.iter().find(|entry| entry.path == path).map_or(&[][..], |entry| entry.topics);
        let menu = entries.iter().map(|entry| MenuItem {
            href: if entry.path.is_empty() { "/console".to_owned() } else { format!("/console/{}", entry.path) },
            title: entry.title,
            is_active: entry.path == path,
        });
        WholePage {
            workspace: &self.ctx.principal.workspace_name,
            menu: menu.collect(),
            topics: topics.join(" "),
            now: self.now().to_string(),
            csrf: &self.csrf,
            head,
            region,
        }
    }
}

/// Renders a document that has no layout.
pub(crate) fn document(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => (status, Html(html)).into_response(),
        Err(error) => {
            tracing::error!(%error, "console.render");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

impl PageHead {
    /// A page with a title and a sentence under it.
    pub(crate) fn new(title: impl Into<String>, lead: &'static str) -> Self {
        Self { title: title.into(), lead, crumb: None, filters: None }
    }

    /// A page whose region has a heading of its own.
    pub(crate) fn only_title(title: impl Into<String>) -> Self {
        Self::new(title, "")
    }

    pub(crate) fn under(self, crumb: PageLink) -> Self {
        Self { crumb: Some(crumb), ..self }
    }

    pub(crate) fn with(self, filters: Filters<'_>) -> Self {
        Self { filters: Some(filters.form), ..self }
    }
}

/// A filter form under construction. Each field takes its value from the query of the address.
pub(crate) struct Filters<'a> {
    visitor: &'a Visitor,
    form: FilterForm,
}

impl Filters<'_> {
    fn field(mut self, name: &'static str, label: &'static str, options: Vec<FilterOption>, is_wide: bool) -> Self {
        let value = self.visitor.text(name).unwrap_or_default();
        self.form.fields.push(FilterField { name, label, value, is_wide, is_choice: !options.is_empty(), options });
        self
    }

    pub(crate) fn text(self, name: &'static str, label: &'static str) -> Self {
        self.field(name, label, Vec::new(), false)
    }

    /// A text that is as long as an id.
    pub(crate) fn wide(self, name: &'static str, label: &'static str) -> Self {
        self.field(name, label, Vec::new(), true)
    }

    /// A choice of values, each with its label, or any value.
    pub(crate) fn choice<V: Into<String>, L: Into<String>>(
        self,
        name: &'static str,
        label: &'static str,
        known: impl IntoIterator<Item = (V, L)>,
    ) -> Self {
        let any = FilterOption { value: String::new(), label: "any".to_owned() };
        let known = known.into_iter().map(|(value, label)| FilterOption { value: value.into(), label: label.into() });
        self.field(name, label, std::iter::once(any).chain(known).collect(), false)
    }

    /// A choice without `any`.
    pub(crate) fn one_of(mut self, name: &'static str, label: &'static str, options: Vec<FilterOption>, value: String) -> Self {
        self.form.fields.push(FilterField { name, label, value, is_wide: false, is_choice: true, options });
        self
    }

    /// Suggests values for a text field.
    pub(crate) fn suggest(&mut self, name: &str, values: impl IntoIterator<Item = String>) {
        let options = values.into_iter().map(|value| FilterOption { label: value.clone(), value });
        if let Some(field) = self.form.fields.iter_mut().find(|field| field.name == name) {
            field.options = options.collect();
        }
    }

    /// The address of this list with its filters.
    pub(crate) fn address(&self) -> String {
        let given = self.form.fields.iter().filter(|field| !field.value.is_empty());
        let query: Vec<String> = given.map(|field| format!("{}={}", field.name, query_value(&field.value))).collect();
        if query.is_empty() { self.form.action.clone() } else { format!("{}?{}", self.form.action, query.join("&")) }
    }

    /// Cuts a list, which was read with one row more than a page has, to one page and makes the links to the others.
    pub(crate) fn pager<T, P: Display>(&self, rows: &mut Vec<T>, what: &str, place: impl Fn(&T) -> P) -> Pager {
        let page_len = usize::try_from(ROWS).unwrap_or(50);
        let has_more = rows.len() > page_len;
        rows.truncate(page_len);
        self.pager_to(rows.last().filter(|_| has_more).map(place), format!("{} {what}", rows.len()))
    }

    /// The links of a list whose query says where the next page begins.
    pub(crate) fn pager_to(&self, next: Option<impl Display>, shown: String) -> Pager {
        let base = self.address();
        let and = if base.contains('?') { '&' } else { '?' };
        Pager {
            next_href: next.map(|next| format!("{base}{and}before={}", query_value(&next.to_string()))),
            first_href: self.visitor.text("before").map(|_| base),
            shown,
            labels: ("Newest", "Older"),
        }
    }
}
