//! The sections of the console: its menu, and the topics of the bus after whose messages a page of a section is fetched anew.

use platform::console::ConsolePage;

/// Every topic of the workspace.
pub(crate) const ANY_TOPIC: &str = "*";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    /// The first part of its addresses, after `/console/`.
    pub(crate) path: &'static str,
    pub(crate) title: &'static str,
    /// A topic means itself and everything under it: `chat` is also `chat:1`.
    pub(crate) topics: &'static [&'static str],
}

const OVERVIEW: Section = Section { path: "", title: "Overview", topics: &[ANY_TOPIC, "processes"] };

const MODULES: [Section; 9] = [
    Section { path: "posts", title: "Posts", topics: &["posting"] },
    Section { path: "channels", title: "Channels", topics: &["posting"] },
    Section { path: "events", title: "Events", topics: &["posting"] },
    Section { path: "ingest", title: "Ingest", topics: &["posting"] },
    Section { path: "conversations", title: "Conversations", topics: &["shopbot"] },
    Section { path: "rules", title: "Rules", topics: &["shopbot"] },
    Section { path: "bots", title: "Bots", topics: &["shopbot"] },
    Section { path: "chats", title: "Chats", topics: &["chat"] },
    Section { path: "planner", title: "Goals", topics: &["planner"] },
];

const OPERATIONS: [Section; 2] = [
    Section { path: "jobs", title: "Jobs", topics: &["jobs"] },
    // Everything in the journal is published on the topic of its source.
    Section { path: "journal", title: "Journal", topics: &[ANY_TOPIC] },
];

/// The menu, in order.
#[derive(Debug)]
pub(crate) struct Menu(pub(crate) Vec<Section>);

impl Menu {
    /// Pages that modules bring stand behind those of the modules that this crate knows.
    pub(crate) fn new(pages: &[ConsolePage]) -> Self {
        let brought = pages.iter().map(|page| Section { path: page.path, title: page.title, topics: page.topics });
        Self([OVERVIEW].into_iter().chain(MODULES).chain(brought).chain(OPERATIONS).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_listens_to_the_topic_of_its_module() {
        let menu = Menu::new(&[]);
        let topics = |path: &str| menu.0.iter().find(|section| section.path == path).unwrap().topics;
        for (path, topic) in [
            ("posts", "posting"),
            ("channels", "posting"),
            ("conversations", "shopbot"),
            ("bots", "shopbot"),
            ("chats", "chat"),
            ("planner", "planner"),
            ("jobs", "jobs"),
            ("journal", ANY_TOPIC),
        ] {
            assert_eq!(topics(path), [topic], "{path}");
        }
    }
}
