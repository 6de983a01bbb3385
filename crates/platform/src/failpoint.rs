//! Places where the chaos harness ends this process on purpose: between any two steps that touch the database or the
//! network. `BERESTA_FAILPOINTS=posting.claimed=0.01,shopbot.recorded=0.02` gives each place its odds; without the variable
//! a place costs one look at a constant.

use std::{collections::HashMap, sync::LazyLock};

static ODDS: LazyLock<Option<HashMap<String, f64>>> = LazyLock::new(|| {
    let text = std::env::var("BERESTA_FAILPOINTS").ok()?;
    let odds = |part: &str| part.split_once('=').and_then(|(name, odds)| Some((name.to_owned(), odds.parse().ok()?)));
    Some(text.split(',').filter_map(odds).collect())
});

/// A place of a module, `posting.claimed`.
pub(crate) fn hit_in(module: &str, place: &str) {
    if ODDS.is_some() {
        hit(&format!("{module}.{place}"));
    }
}

pub fn hit(name: &str) {
    if let Some(odds) = ODDS.as_ref().and_then(|all| all.get(name))
        && rand::random::<f64>() < *odds
    {
        // The harness counts its kills by name.
        eprintln!("failpoint {name}");
        // As hard as a kill: no destructor, no flush.
        std::process::abort();
    }
}
