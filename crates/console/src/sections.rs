//! The menu of the console, and the topics of the bus after whose messages a page of an entry is fetched anew. Modules bring their entries.

use platform::console::MenuEntry;

/// Every topic of the workspace.
pub(crate) const ANY_TOPIC: &str = "*";

const OVERVIEW: MenuEntry = MenuEntry { path: "", title: "Overview", topics: &[ANY_TOPIC, "processes"] };

const OPERATIONS: [MenuEntry; 2] = [
    MenuEntry { path: "jobs", title: "Jobs", topics: &["jobs"] },
    // Everything in the journal is published on the topic of its source.
    MenuEntry { path: "journal", title: "Journal", topics: &[ANY_TOPIC] },
];

/// The menu, in order.
#[derive(Debug)]
pub(crate) struct Menu(pub(crate) Vec<MenuEntry>);

impl Menu {
    pub(crate) fn new(of_modules: &[MenuEntry]) -> Self {
        Self([OVERVIEW].iter().chain(of_modules).chain(&OPERATIONS).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_listens_to_the_topic_of_its_module() {
        let menu = Menu::new(&[posting::MENU, shopbot::MENU, actions::MENU, planner::MENU].concat());
        let topics = |path: &str| menu.0.iter().find(|entry| entry.path == path).unwrap().topics;
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
