-- The one normal form of a post, whatever source it came from: what is hashed, stored and sent.
-- Guarantee: two payloads that mean the same text, media, links and buttons have the same normal form; the order of
-- media counts. Tags and times are not part of it.
-- Raises ZD001, with the name of the field as its column, for a payload that cannot be a post.
create or replace function posting.normalize_payload(p_raw jsonb) returns jsonb language plpgsql immutable as $$
declare
    known constant text[] :=
        '{text,parse_mode,media,links,buttons,tags,disable_preview,silent,scheduled_for,
          source_ref,source,run_id,trace_id,workspace_id}';
    stray text;
    mode text;
    body text;
    items jsonb := '[]';
    links jsonb;
    item jsonb;
    normal jsonb;
begin
    if jsonb_typeof(p_raw) is distinct from 'object' then
        raise exception 'a post is a JSON object' using errcode = 'ZD001', column = 'body';
    end if;
    select k into stray from jsonb_object_keys(p_raw) k where k <> all (known) limit 1;
    if stray is not null then
        raise exception
            'there is no field `%`; the fields are text, parse_mode, media, links, buttons, tags, '
            'disable_preview, silent, scheduled_for, source_ref', left(stray, 50)
            using errcode = 'ZD001', column = left(stray, 50);
    end if;

    mode := p_raw->>'parse_mode';
    if mode is not null and (jsonb_typeof(p_raw->'parse_mode') <> 'string' or mode not in ('HTML', 'Markdown', 'None'))
        then
        raise exception '`parse_mode` is HTML, Markdown or None' using errcode = 'ZD001', column = 'parse_mode';
    end if;
    if p_raw ? 'text' and jsonb_typeof(p_raw->'text') not in ('string', 'null') then
        raise exception '`text` is a text' using errcode = 'ZD001', column = 'text';
    end if;
    body := posting.normalize_text(p_raw->>'text', mode);

    if p_raw ? 'media' and jsonb_typeof(p_raw->'media') not in ('array', 'null') then
        raise exception '`media` is a list' using errcode = 'ZD001', column = 'media';
    end if;
    if jsonb_typeof(p_raw->'media') = 'array' then
        if jsonb_array_length(p_raw->'media') > 30 then
            raise exception 'a post has at most 30 media items' using errcode = 'ZD001', column = 'media';
        end if;
        for item in select value from jsonb_array_elements(p_raw->'media') loop
            if jsonb_typeof(item) <> 'object'
                or coalesce(item->>'type', '') not in ('image', 'photo', 'video', 'audio', 'file')
               or num_nonnulls(item->>'url', item->>'blob_ref', item->>'file_id', item->>'attachment_token') = 0
               or exists (select from jsonb_each(item) e
                          where jsonb_typeof(e.value) not in ('string', 'number', 'null')
                             or char_length(e.value #>> '{}') > 4096)
            then
                raise exception
                    'a media item has `type` (image, video, audio or file) and one of `url`, '
                    '`blob_ref`, `file_id`, `attachment_token`'
                    using errcode = 'ZD001', column = 'media';
            end if;
            items := items || jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
                'type', case item->>'type' when 'photo' then 'image' else item->>'type' end,
                'blob_ref', item->>'blob_ref',
                -- Where we have the bytes, it no longer matters where they came from.
                'url', case when item->>'blob_ref' is null then posting.canonical_url(item->>'url') end,
                'file_id', item->>'file_id', 'attachment_token', item->>'attachment_token',
                'caption', posting.normalize_text(item->>'caption', mode), 'name', item->>'name')));
        end loop;
    end if;

    if p_raw ? 'links' and jsonb_typeof(p_raw->'links') <> 'null'
        and (jsonb_typeof(p_raw->'links') <> 'array' or jsonb_array_length(p_raw->'links') > 50
        or exists (select from jsonb_array_elements(p_raw->'links') l
                   where jsonb_typeof(l.value) <> 'string' or l.value #>> '{}' !~* '^https?://\S+$'
                      or char_length(l.value #>> '{}') > 2048)) then
        raise exception '`links` is a list of at most 50 http or https addresses' using errcode = 'ZD001',
            column = 'links';
    end if;
    select jsonb_agg(posting.canonical_url(l.value #>> '{}') order by l.n) into links
      from jsonb_array_elements(case when jsonb_typeof(p_raw->'links') = 'array' then p_raw->'links' else '[]' end)
          with ordinality l (value, n);

    if p_raw ? 'buttons' and jsonb_typeof(p_raw->'buttons') <> 'null' and not posting.is_buttons(p_raw->'buttons') then
        raise exception
            '`buttons` is a list of rows, a row a list of {"text", "url"} with 1 to 8 buttons, 30 rows at most'
            using errcode = 'ZD001', column = 'buttons';
    end if;
    if body is null and items = '[]' then
        raise exception 'a post has `text` or `media`' using errcode = 'ZD001', column = 'text';
    end if;

    normal := jsonb_strip_nulls(jsonb_build_object(
        'type', case when items = '[]' then 'text' else 'media' end,
        'text', body, 'parse_mode', mode, 'media', nullif(items, '[]'), 'links', links,
        'buttons', case when jsonb_typeof(p_raw->'buttons') = 'array'
            and p_raw->'buttons' <> '[]' then p_raw->'buttons' end,
        'disable_preview', case when p_raw->'disable_preview' = 'true' then true end,
        'silent', case when p_raw->'silent' = 'true' then true end));
    return normal;
end
$$;
