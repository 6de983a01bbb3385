//! Dispatching.
