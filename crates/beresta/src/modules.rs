//! The modules of the program: a line for each in both lists. The rest of the binary goes over them.

use std::sync::Arc;

use planner::Planner;
use platform::{
    http::App,
    install,
    module::{self, Module, Service},
    outbox::Limits,
};

use crate::{config::Config, outside::Outside};

/// What the modules are, in the order of installation.
pub(crate) const ALL: &[Module] =
    &[module::PLATFORM, posting::MODULE, shopbot::MODULE, actions::MODULE, planner::MODULE, webhooks::MODULE];

/// What they do in this process. The surface of the chats is shared with the console, so that the limits of streams count both.
pub(crate) fn services(config: &Config, app: &App, outside: &Outside, chats: &Arc<actions::http::Surface>) -> Vec<Service> {
    vec![
        module::platform_service(),
        posting::service(outside.deliveries(app), Limits::of(config.dispatch_in_flight_max)),
        shopbot::service(outside.answers(app)),
        actions::service(&app.db, config.actions.clone(), Arc::clone(chats)),
        planner::service(&Planner::new(app.db.clone()), &config.planner),
        webhooks::service(outside.webhook_deliveries(app), outside.webhook_desk(&app.db, config)),
    ]
}

pub(crate) fn sql() -> Vec<install::Module> {
    ALL.iter().map(|module| module.sql).collect()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// The names of the counters, gauges and histograms in every source file below a folder.
    fn counted(dir: &Path, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                counted(&path, names);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                for kind in ["counter", "gauge", "histogram"] {
                    let call = format!("{kind}!(\"");
                    names.extend(
                        text.split(&call).skip(1).filter_map(|rest| rest.split_once('"')).map(|(name, _)| name.to_owned()),
                    );
                }
            }
        }
    }

    #[test]
    fn every_metric_is_described_by_the_module_that_counts_it() {
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap() {
            let sources = entry.unwrap().path().join("src");
            if sources.is_dir() {
                counted(&sources, &mut names);
            }
        }
        let described: BTreeSet<String> =
            ALL.iter().flat_map(|module| module.metrics).map(|metric| metric.name().to_owned()).collect();
        assert_eq!(names, described);
    }
}
