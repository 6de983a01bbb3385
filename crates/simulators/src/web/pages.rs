//! What the paths of the site answer. Pages for a number of requests come first, in order; then the one for good.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use axum::http::{HeaderName, HeaderValue};
use bytes::Bytes;

use crate::faults::Drop;
use crate::sync::lock;

/// Pages of all paths together.
const PAGES_MAX: usize = 100_000;

pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) content: Content,
    pub(crate) delay_ms: Option<u64>,
    /// `Before`: no answer at all. `After`: half of the body, and then nothing.
    pub(crate) drop: Option<Drop>,
}

pub(crate) enum Content {
    Bytes(Bytes),
    /// So many bytes, made while they are sent.
    Generated(u64),
}

#[derive(Default)]
pub(crate) struct Pages(Mutex<Site>);

#[derive(Default)]
struct Site {
    by_path: HashMap<String, Answers>,
    count: usize,
}

#[derive(Default)]
struct Answers {
    limited: VecDeque<(Arc<Page>, u64)>,
    lasting: Option<Arc<Page>>,
}

impl Pages {
    /// Sets what a path answers, so many times or, with `None`, from now on. False when there are too many pages.
    #[must_use]
    pub(crate) fn set(&self, path: &str, page: Page, times: Option<u64>) -> bool {
        let mut site = lock(&self.0);
        if site.count >= PAGES_MAX {
            return false;
        }
        site.count += 1;
        let answers = site.by_path.entry(path.trim_start_matches('/').to_owned()).or_default();
        match times {
            Some(times) => answers.limited.push_back((Arc::new(page), times)),
            None => {
                if answers.lasting.replace(Arc::new(page)).is_some() {
                    site.count -= 1;
                }
            }
        }
        true
    }

    /// The page for a request. A page set for the path with this very query goes before one set for the path.
    pub(crate) fn turn(&self, path: &str, query: Option<&str>) -> Option<Arc<Page>> {
        let mut site = lock(&self.0);
        let with_query = query.map(|query| format!("{path}?{query}")).filter(|path| site.by_path.contains_key(path));
        let answers = site.by_path.get_mut(with_query.as_deref().unwrap_or(path))?;
        let Some((page, times)) = answers.limited.front_mut() else {
            return answers.lasting.clone();
        };
        let page = Arc::clone(page);
        *times -= 1;
        if *times == 0 {
            answers.limited.pop_front();
            site.count -= 1;
        }
        Some(page)
    }

    pub(crate) fn reset(&self) {
        *lock(&self.0) = Site::default();
    }
}
