-- The routing tags of a post: those it was given, and the hashtags that a reader would see in its text.
-- Raises ZD001 for tags that are not a list of short texts.
create or replace function posting.message_tags(p_raw jsonb, p_payload jsonb)
returns text[] language plpgsql immutable as $$
declare
    seen text := p_payload->>'text';
begin
    if p_raw ? 'tags' and jsonb_typeof(p_raw->'tags') <> 'null'
        and (jsonb_typeof(p_raw->'tags') <> 'array' or jsonb_array_length(p_raw->'tags') > 50
        or exists (select from jsonb_array_elements(p_raw->'tags') t
                   where jsonb_typeof(t.value) <> 'string' or char_length(t.value #>> '{}') > 64)) then
        raise exception '`tags` is a list of at most 50 texts of at most 64 characters' using errcode = 'ZD001',
            column = 'tags';
    end if;
    if p_payload->>'parse_mode' = 'HTML' then
        select coalesce(r.visible, seen) into seen from posting.read_html(seen, 'telegram') r;
    end if;
    return posting.canonical_tags(
        array(select jsonb_array_elements_text(case when jsonb_typeof(p_raw->'tags') = 'array' then p_raw->'tags'
                                               else '[]' end))
        || posting.hashtags(seen));
end
$$;
