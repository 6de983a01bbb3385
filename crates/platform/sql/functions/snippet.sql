-- The redacted beginning of a text, at most p_max characters, with … as the last one when something was cut.
-- Guarantee: redacts before it cuts, because half a secret is no longer recognized, but still worth stealing. Of a very
-- long text only the beginning is looked at, up to a space, so that no secret is cut there either.
create or replace function platform.snippet(p_text text, p_max int) returns text
language plpgsql immutable parallel safe as $$
declare
    v_text text := p_text;
begin
    if length(v_text) > 16000 then
        v_text := regexp_replace(left(v_text, 16000), '\S+$', '') || '…';
    end if;
    v_text := platform.redact_text(v_text);
    return case when length(v_text) > p_max then left(v_text, p_max - 1) || '…' else v_text end;
end
$$;
