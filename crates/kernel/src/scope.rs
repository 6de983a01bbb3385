//! What a token may do. A token belongs to one workspace and carries a set of scopes.

use std::{collections::BTreeSet, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::Problem;

/// The closed list of scopes: every scope here is checked somewhere, and nothing else is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Sign in to the console and see the workspace.
    Console,
    /// Read through the API.
    Read,
    /// Change through the API.
    Write,
}

impl Scope {
    pub const ALL: [Self; 3] = [Self::Console, Self::Read, Self::Write];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Console => "console",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(", ");
            Problem::validation("scope", format!("`{text}` is not a scope; the scopes are {known}"))
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes(BTreeSet<Scope>);

impl Scopes {
    pub fn all() -> Self {
        Self(Scope::ALL.into())
    }

    pub fn contains(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }

    pub fn to_strings(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }

    /// Reads stored scopes. A name that this version does not know grants nothing.
    pub fn from_stored(names: &[String]) -> Self {
        names.iter().filter_map(|name| name.parse().ok()).collect()
    }

    pub fn require(&self, scope: Scope) -> Result<(), Problem> {
        if self.contains(scope) {
            return Ok(());
        }
        let message = format!("this token lacks the scope `{scope}`; create one with `beresta token create --scope {scope}`");
        Err(Problem::forbidden(message).with("required_scope", scope.as_str()))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_scope_is_refused_with_the_list_of_known_ones() {
        let problem = "admin".parse::<Scope>().unwrap_err();
        assert_eq!(problem.message, "`admin` is not a scope; the scopes are console, read, write");
    }

    #[test]
    fn a_stored_scope_that_is_unknown_grants_nothing() {
        let scopes = Scopes::from_stored(&["read".into(), "everything".into()]);
        assert!(scopes.contains(Scope::Read));
        assert!(scopes.require(Scope::Write).is_err());
    }
}
