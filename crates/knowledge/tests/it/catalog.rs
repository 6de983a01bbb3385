//! The rules that tables and functions of every module keep.

use testkit::catalog::{self, Exceptions};

#[tokio::test]
async fn tables_and_functions_keep_the_rules_of_the_house() {
    let modules = [platform::SQL, knowledge::SQL];
    catalog::check(env!("CARGO_MANIFEST_DIR"), &modules, Exceptions::default()).await;
}
