create table platform.journals (
    table_name text primary key,
    span       text not null constraint journal_span_known check (span in ('day', 'week', 'month')),
    keep       interval not null constraint journal_keep_positive check (keep > interval '0')
);
comment on table platform.journals is
    'Every table that is partitioned by its column ts: how wide a partition is and how long it is kept.';
