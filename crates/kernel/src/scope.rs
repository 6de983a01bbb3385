//! What a token may do. Each right has a name, `module:verb`, and belongs to the module that checks it. A bundle is one word for scopes of
//! all modules. A token carries names of both; a name that no module asks for grants nothing.

use std::{collections::BTreeSet, fmt};

use crate::{Problem, text};

/// One word for scopes of all modules: a token that carries it has every scope that lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bundle {
    Console,
    Read,
    Workflows,
    Write,
}

impl Bundle {
    pub const ALL: [Self; 4] = [Self::Console, Self::Read, Self::Workflows, Self::Write];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::Read => "read",
            Self::Workflows => "workflows",
            Self::Write => "write",
        }
    }
}

impl AsRef<str> for Bundle {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// One right of one module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    pub name: &'static str,
    /// What its holder may do, after "may".
    pub allows: &'static str,
    /// Whoever carries one of these has it too.
    pub bundles: &'static [Bundle],
}

impl Scope {
    /// To be called in a constant: a name that is not `module:verb` does not compile.
    pub const fn new(name: &'static str, allows: &'static str, bundles: &'static [Bundle]) -> Self {
        assert!(is_name(name.as_bytes()), "a scope is named `module:verb`");
        Self { name, allows, bundles }
    }
}

/// The same form as `token_scopes_are_names` in the database, where a bundle is a name too.
const fn is_name(name: &[u8]) -> bool {
    let (mut at, mut colons, mut is_start) = (0, 0, true);
    while at < name.len() {
        match name[at] {
            b'a'..=b'z' => is_start = false,
            b'0'..=b'9' | b'_' if !is_start => {}
            b':' if !is_start => (colons, is_start) = (colons + 1, true),
            _ => return false,
        }
        at += 1;
    }
    colons == 1 && !is_start
}

impl AsRef<str> for Scope {
    fn as_ref(&self) -> &str {
        self.name
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The names that a token carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes(BTreeSet<String>);

impl Scopes {
    /// Every bundle.
    pub fn all() -> Self {
        Self::from_iter(Bundle::ALL)
    }

    /// The scopes that somebody asks for by name, out of those that there are.
    pub fn named(names: &[impl AsRef<str>], known: &[Scope]) -> Result<Self, Problem> {
        let every = || Bundle::ALL.map(Bundle::as_str).into_iter().chain(known.iter().map(|scope| scope.name));
        for name in names.iter().map(AsRef::as_ref) {
            if every().any(|known| known == name) {
                continue;
            }
            let module = name.split_once(':').map(|(module, _)| format!("{module}:"));
            let of_module = every().filter(|known| module.as_deref().is_some_and(|module| known.starts_with(module)));
            let near = text::nearest(name, of_module).or_else(|| text::nearest(name, every()));
            let hint = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let known = every().collect::<Vec<_>>().join(", ");
            return Err(Problem::validation("scope", format!("`{name}` is not a scope; {hint}the scopes are {known}")));
        }
        Ok(names.iter().collect())
    }

    pub fn contains(&self, scope: Scope) -> bool {
        self.0.contains(scope.name) || scope.bundles.iter().any(|bundle| self.0.contains(bundle.as_str()))
    }

    pub fn to_strings(&self) -> Vec<String> {
        self.0.iter().cloned().collect()
    }

    pub fn require(&self, scope: Scope) -> Result<(), Problem> {
        if self.contains(scope) {
            return Ok(());
        }
        let message = format!("this token lacks the scope `{scope}`; create one with `beresta token create --scope {scope}`");
        Err(Problem::forbidden(message).with("required_scope", scope.name))
    }
}

impl<S: AsRef<str>> FromIterator<S> for Scopes {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self(names.into_iter().map(|name| name.as_ref().to_owned()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: Scope = Scope::new("shop:read", "see orders", &[Bundle::Read, Bundle::Console]);
    const WRITE: Scope = Scope::new("shop:write", "change orders", &[Bundle::Write]);
    const OWN: Scope = Scope::new("books:close_2", "close the books", &[]);
    const KNOWN: [Scope; 3] = [READ, WRITE, OWN];

    #[test]
    fn an_unknown_scope_is_refused_with_the_nearest_and_the_list_of_known_ones() {
        let list = "the scopes are console, read, workflows, write, shop:read, shop:write, books:close_2";
        for (name, words) in [
            ("admin", format!("`admin` is not a scope; {list}")),
            ("raed", format!("`raed` is not a scope; did you mean `read`? {list}")),
            ("shop:wirte", format!("`shop:wirte` is not a scope; did you mean `shop:write`? {list}")),
            ("Write", format!("`Write` is not a scope; did you mean `write`? {list}")),
            ("shop:see", format!("`shop:see` is not a scope; did you mean `shop:read`? {list}")),
            ("", format!("`` is not a scope; {list}")),
            ("*", format!("`*` is not a scope; {list}")),
        ] {
            assert_eq!(Scopes::named(&["read", name], &KNOWN).unwrap_err().message, words);
        }
        let scopes = Scopes::named(&["write", "shop:read"], &KNOWN).unwrap();
        assert_eq!(scopes.to_strings(), ["shop:read", "write"]);
    }

    #[test]
    fn a_bundle_has_every_scope_that_lists_it_and_no_other() {
        for bundle in Bundle::ALL {
            for scope in KNOWN {
                assert_eq!(Scopes::from_iter([bundle]).contains(scope), scope.bundles.contains(&bundle), "{bundle:?} {scope}");
            }
        }
        assert!(!Scopes::all().contains(OWN));
    }

    #[test]
    fn a_scope_is_no_other_and_no_bundle() {
        let scopes = Scopes::from_iter([WRITE]);
        assert!(scopes.contains(WRITE) && !scopes.contains(READ) && !scopes.contains(OWN));
        let problem = scopes.require(READ).unwrap_err();
        assert_eq!((problem.status, &problem.details["required_scope"]), (403, &"shop:read".into()));
        assert!(!scopes.contains(Scope::new("books:write", "", &[Bundle::Write])));
    }

    #[test]
    fn a_stored_name_that_nobody_asks_for_grants_nothing() {
        let scopes = Scopes::from_iter(["read", "everything", "*", "shop", "shop:", "shop:*"]);
        assert!(scopes.contains(READ) && !scopes.contains(WRITE) && !scopes.contains(OWN));
    }

    #[test]
    fn a_scope_has_the_form_of_a_name() {
        for name in ["posting:write", "a:b", "knowledge_2:search_all"] {
            assert!(is_name(name.as_bytes()), "{name}");
        }
        for name in ["", "read", ":", "a:", ":a", "a:b:c", "a::b", "A:b", "a b:c", "2a:b", "a:_b", "a:b ", "a-b:c", "ж:б"] {
            assert!(!is_name(name.as_bytes()), "{name}");
        }
    }
}
