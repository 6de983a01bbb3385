//! What the helper programs of the benchmarks share.

pub mod http;
pub mod times;
