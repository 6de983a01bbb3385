//! Every place where a marker of the run stands: in any column of any table, and in any file of the object store.

use std::path::Path;

use anyhow::Result;
use sqlx::AssertSqlSafe;

use super::groups::marker_pattern;
use crate::chaos::stage::Stage;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MarkerTrace {
    pub(super) marker: String,
    /// The table, or the file.
    pub(super) place: String,
}

/// A row as text, and its bytes as the text that they are.
const TABLES: &str = "
    select format('%I.%I', n.nspname, c.relname),
           't::text' || coalesce((select string_agg(format(' || '' '' || coalesce(encode(t.%I, ''escape''), '''')', a.attname), '')
                                    from pg_attribute a
                                   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.atttypid = 'bytea'::regtype), '')
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^(pg_|information_schema$|chaos$)' order by 1";

pub(super) async fn find(stage: &Stage) -> Result<Vec<MarkerTrace>> {
    let tables: Vec<(String, String)> = sqlx::query_as(TABLES).fetch_all(&stage.db).await?;
    let mut traces = Vec::new();
    for (table, row) in tables {
        let query = format!("select distinct found[1] from {table} t, regexp_matches({row}, $1, 'g') found");
        let query = sqlx::query_scalar(AssertSqlSafe(query)).bind(marker_pattern(stage.seed));
        let markers: Vec<String> = query.fetch_all(&stage.db).await?;
        traces.extend(markers.into_iter().map(|marker| MarkerTrace { marker, place: table.clone() }));
    }
    search_files(&stage.dir.join("objects"), stage.seed, &mut traces)?;
    Ok(traces)
}

fn search_files(dir: &Path, seed: u64, traces: &mut Vec<MarkerTrace>) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            search_files(&path, seed, traces)?;
        } else {
            let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
            let place = format!("file {}", path.file_name().unwrap_or_default().display());
            let mut found = markers(&text, seed);
            found.dedup();
            traces.extend(found.into_iter().map(|marker| MarkerTrace { marker, place: place.clone() }));
        }
    }
    Ok(())
}

/// The markers of a text, in their order.
fn markers(text: &str, seed: u64) -> Vec<String> {
    let start = format!("zk{seed}");
    let read = |(at, _): (usize, &str)| {
        let rest = &text[at + start.len()..];
        let kind = rest.chars().next().filter(|kind| matches!(kind, 'm' | 'p'))?;
        let digits: String = rest[1..].chars().take_while(char::is_ascii_digit).collect();
        (!digits.is_empty() && rest[1 + digits.len()..].starts_with('q')).then(|| format!("{start}{kind}{digits}q"))
    };
    text.match_indices(&start).filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_whole_and_a_part_of_one_is_none() {
        assert_eq!(markers("<p>zk7p12q and zk7m1q.</p> zk7p1 zk8p1q zk7x1q zk7pq", 7), ["zk7p12q", "zk7m1q"]);
    }
}
