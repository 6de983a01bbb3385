//! The keys of the providers of models. Every key is valid until the test revokes it.

use std::collections::HashSet;
use std::sync::Mutex;

use crate::sync::lock;

#[derive(Default)]
pub(crate) struct Keys(Mutex<HashSet<String>>);

impl Keys {
    pub(crate) fn is_valid(&self, key: &str) -> bool {
        !lock(&self.0).contains(key)
    }

    pub(crate) fn set(&self, key: &str, is_valid: bool) {
        let mut revoked = lock(&self.0);
        if is_valid {
            revoked.remove(key);
        } else {
            revoked.insert(key.to_owned());
        }
    }

    pub(crate) fn reset(&self) {
        lock(&self.0).clear();
    }
}
