insert into ops.event_types values ('batch.applied', 'a batch of changes was applied, or an earlier one undone');
