//! The modules of the program: a line for each in both lists. The rest of the binary goes over them.

use std::sync::Arc;

use kernel::Scope;
use planner::Planner;
use platform::{
    http::App,
    install,
    module::{self, Module, Service},
    outbox::OutboxLimits,
};

use crate::{config::Config, outside::Outside};

/// What the modules are, in the order of installation.
pub(crate) const ALL: &[Module] = &[
    module::PLATFORM,
    posting::MODULE,
    shopbot::MODULE,
    actions::MODULE,
    planner::MODULE,
    webhooks::MODULE,
    knowledge::MODULE,
    #[cfg(test)]
    echobot::MODULE,
];

/// What they do in this process. The surface of the chats is shared with the console, so that the limits of streams count both.
/// The planner has the MCP server, and gives it the tools of all the others.
pub(crate) fn services(config: &Config, app: &App, outside: &Outside, chats: &Arc<actions::http::Surface>) -> Vec<Service> {
    let mut services = others(config, app, outside, chats);
    let planner = planner(app, &mut services);
    services.push(planner::service(&planner, &config.planner));
    services
}

/// The planner, as the MCP server needs it where there are no routes.
pub(crate) fn planner_alone(config: &Config, app: &App, outside: &Outside, chats: &Arc<actions::http::Surface>) -> Planner {
    planner(app, &mut others(config, app, outside, chats))
}

fn planner(app: &App, others: &mut [Service]) -> Planner {
    let tools = others.iter_mut().flat_map(|service| std::mem::take(&mut service.tools)).collect();
    Planner::new(app.db.clone()).with_tools(tools)
}

fn others(config: &Config, app: &App, outside: &Outside, chats: &Arc<actions::http::Surface>) -> Vec<Service> {
    Vec::from([
        module::platform_service(),
        posting::service(outside.deliveries(app), OutboxLimits::of(config.dispatch_in_flight_max)),
        shopbot::service(outside.answers(app)),
        actions::service(&app.db, config.actions.clone(), Arc::clone(chats)),
        knowledge::service(&outside.knowledge(&app.db, &app.objects)),
        webhooks::service(outside.webhook_deliveries(app), outside.webhook_desk(&app.db, config)),
        #[cfg(test)]
        echobot::service(app.db.clone(), outside.messengers.clone(), outside.secrets.clone()),
    ])
}

/// The rights that there are.
pub(crate) fn scopes() -> Vec<Scope> {
    ALL.iter().flat_map(|module| module.scopes).copied().collect()
}

pub(crate) fn sql() -> Vec<install::SqlModule> {
    ALL.iter().map(|module| module.sql).collect()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use kernel::{Bundle, Scopes};

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

    /// Changing this list changes what tokens that are in use may do.
    #[test]
    fn a_bundle_has_what_it_always_had_in_every_module() {
        let of = |bundle: Bundle| -> BTreeSet<&str> {
            let token = Scopes::from_iter([bundle]);
            scopes().into_iter().filter(|scope| token.contains(*scope)).map(|scope| scope.name).collect()
        };
        let modules = ["knowledge", "planner", "platform", "posting", "shopbot", "webhooks"];
        let read = modules.map(|module| format!("{module}:read"));
        let write = modules.map(|module| format!("{module}:write"));
        assert_eq!(of(Bundle::Workflows), BTreeSet::from(["knowledge:run", "knowledge:search"]));
        assert_eq!(of(Bundle::Console), BTreeSet::from(["chat:watch", "console:view"]));
        assert_eq!(of(Bundle::Read), read.iter().map(String::as_str).chain(["chat:watch", "knowledge:ask"]).collect());
        assert_eq!(of(Bundle::Write), write.iter().map(String::as_str).chain(["chat:write"]).collect());
        assert_eq!(scopes().iter().map(|scope| scope.name).collect::<BTreeSet<_>>().len(), scopes().len(), "a name twice");
    }

    #[test]
    fn every_scope_is_in_the_manual_with_its_words() {
        let manual = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md")).unwrap();
        for scope in scopes() {
            let bundles: Vec<String> = scope.bundles.iter().map(|bundle| format!("`{}`", bundle.as_str())).collect();
            let row = format!("| `{}` | {} | {} |", scope.name, scope.allows, bundles.join(", "));
            assert!(manual.contains(&row), "docs/operations.md lacks {row}");
        }
    }

    #[test]
    fn every_metric_is_described_by_the_module_that_counts_it() {
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap() {
            let dir = entry.unwrap().path();
            // A crate, and the ones inside it.
            for inner in fs::read_dir(&dir).unwrap().map(|inner| inner.unwrap().path()).chain([dir]) {
                let sources = inner.join("src");
                if sources.is_dir() {
                    counted(&sources, &mut names);
                }
            }
        }
        let described: BTreeSet<String> =
            ALL.iter().flat_map(|module| module.metrics).map(|metric| metric.name().to_owned()).collect();
        assert_eq!(names, described);
    }
}
