//! The rules that the tables and functions of every module keep, as the catalog of PostgreSQL tells.

use std::collections::BTreeSet;

use platform::SqlModule;
use sqlx::{AssertSqlSafe, Executor};

use crate::{TestDb, files};

/// Names, each with the reason why it is there.
type NamedReasons = &'static [(&'static str, &'static str)];

/// What a module does otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exceptions {
    /// Tables that hold no workspace's data.
    pub tables: NamedReasons,
    /// Unique rules that cannot begin with the workspace.
    pub unique: NamedReasons,
}

const TABLES: &str = "with tables as (
    select c.* from pg_class c
     where c.relnamespace::regnamespace::text = any ($1) and c.relkind in ('r', 'p') and not c.relispartition)";
const NOT_SHARDED: &str = "select t.oid::regclass::text from tables t
     where not exists (select from pg_index i join pg_attribute a on a.attrelid = t.oid and a.attnum = i.indkey[0]
                        where i.indrelid = t.oid and i.indisprimary and a.attname = 'workspace_id')";
const NOT_PROTECTED: &str = "select t.oid::regclass::text from tables t where not (t.relrowsecurity and t.relforcerowsecurity)";
const UNIQUE_ACROSS_WORKSPACES: &str = "select x.relname::text
      from tables t join pg_index i on i.indrelid = t.oid join pg_class x on x.oid = i.indexrelid
      join pg_attribute a on a.attrelid = t.oid and a.attnum = i.indkey[0]
     where i.indisunique and not i.indisprimary and a.attname <> 'workspace_id'";
const FOREIGN_KEY_WITHOUT_INDEX: &str = "select k.conname::text from tables t join pg_constraint k on k.conrelid = t.oid
     where k.contype = 'f'
       and not exists (select from pg_index i
                        where i.indrelid = t.oid and (i.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey)";
const OPEN_PARTITION: &str = "select c.relname::text from pg_class c
     where c.relispartition and c.relkind = 'r' and c.relnamespace::regnamespace::text = any ($1)
       and has_table_privilege('beresta_app', c.oid, 'select, insert, update, delete')";

/// Checks the last of these modules, with the others installed before it.
pub async fn check(crate_dir: &str, modules: &[SqlModule], exceptions: Exceptions) {
    let module = modules.last().expect("a module");
    files::every_sql_file_is_installed(crate_dir, module);
    let test = TestDb::frozen_with(modules).await;
    let rules: [(&str, &str, NamedReasons); 5] = [
        ("the primary key of a table begins with the workspace", NOT_SHARDED, exceptions.tables),
        ("row security is on and forced", NOT_PROTECTED, exceptions.tables),
        ("a unique rule begins with the workspace", UNIQUE_ACROSS_WORKSPACES, exceptions.unique),
        ("an index begins with the columns of every foreign key", FOREIGN_KEY_WITHOUT_INDEX, &[]),
        ("no partition can be reached around its parent", OPEN_PARTITION, &[]),
    ];
    for (rule, query, excepted) in rules {
        let excepted: BTreeSet<String> = excepted.iter().map(|(name, _)| (*name).to_owned()).collect();
        let found = names(&test, &format!("{TABLES} {query}"), module.schemas).await;
        assert_eq!(found, excepted, "{}: {rule}", module.name);
    }
    // Once more with everything in place: a body may name what came after it.
    let mut owner = test.owner().await;
    for file in module.functions {
        owner.execute(file.text).await.unwrap_or_else(|error| panic!("{}: {error}", file.name));
    }
}

/// Those of the columns that an index of the table has or depends on: a change of one of the others touches no index.
pub async fn indexed(test: &TestDb, table: &str, columns: &[&str]) -> BTreeSet<String> {
    let query = format!(
        "select distinct a.attname::text from pg_index i join pg_attribute a on a.attrelid = i.indrelid
          where i.indrelid = '{table}'::regclass and a.attname = any ($1)
            and (a.attnum = any (i.indkey) or pg_get_expr(i.indpred, i.indrelid) ~ ('\\m' || a.attname || '\\M'))"
    );
    names(test, &query, columns).await
}

/// The functions of a schema.
pub async fn functions(test: &TestDb, schema: &str) -> BTreeSet<String> {
    names(test, "select proname::text from pg_proc where pronamespace::regnamespace::text = any ($1)", &[schema]).await
}

/// The first column of a query whose parameter is a list.
pub async fn names(test: &TestDb, query: &str, list: &[&str]) -> BTreeSet<String> {
    let query = sqlx::query_scalar(AssertSqlSafe(query.to_owned())).bind(list.to_vec());
    query.fetch_all(&mut test.owner().await).await.expect("the catalog answers").into_iter().collect()
}
