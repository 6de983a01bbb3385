-- Who does something by hand, and why: the part that the events of all manual operations share. The reason is redacted,
-- because people paste what they see into it; the operator is not, because a name may be an address.
-- Raises ZD005 when one of them is missing: an operation that nobody can be asked about is refused.
create or replace function posting.manual_note(p_operator text, p_reason text)
returns jsonb language plpgsql immutable as $$
begin
    if coalesce(btrim(p_operator), '') = '' or coalesce(btrim(p_reason), '') = '' then
        raise exception 'a manual operation names its operator and its reason' using errcode = 'ZD005';
    end if;
    return jsonb_build_object('operator', left(btrim(p_operator), 200),
                              'reason', platform.snippet(btrim(p_reason), 500));
end
$$;
