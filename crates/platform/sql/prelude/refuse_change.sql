-- What was written to a journal stays as it was written. Retention is the only one that removes.
-- Raises ZP001.
create or replace function platform.refuse_change() returns trigger language plpgsql as $$
begin
    if tg_op = 'DELETE' and current_setting('platform.retention', true) = 'on' then
        return old;
    end if;
    raise exception '% is append-only: % is refused', tg_table_name, lower(tg_op)
        using errcode = 'ZP001', hint = 'write a new row that corrects the old one';
end
$$;
