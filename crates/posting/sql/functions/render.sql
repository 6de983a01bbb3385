-- What one kind of channel is sent for a payload, and whether that channel would take it: text, parameters and the
-- ordered steps (each one call to the provider). Retries use the result as it is, so one delivery never changes its
-- text. `error` says why a provider is bound to refuse it; it is null when nothing speaks against it. Limits as the
-- providers count them: Telegram code points after parsing, MAX UTF-16 units before it.
create or replace function posting.render(
    p_payload jsonb, p_platform text, p_send_mode text, p_settings jsonb,
    out rendered_text text, out render_meta jsonb, out template_version text, out error text
) language plpgsql stable as $$
declare
    mode text := coalesce(p_payload->>'parse_mode', p_settings->>'parse_mode', 'None');
    template constant text := coalesce(p_settings->>'template', '{text}');
    media constant jsonb := coalesce(p_payload->'media', '[]');
    media_count constant int := jsonb_array_length(coalesce(p_payload->'media', '[]'));
    buttons jsonb := p_payload->'buttons';
    links text;
    seen text;
    plan jsonb;
    refusal text;
begin
    select string_agg(case when mode = 'HTML' then replace(replace(l, '&', '&amp;'), '<', '&lt;') else l end, E'\n'
                      order by n) into links
      from jsonb_array_elements_text(coalesce(p_payload->'links', '[]')) with ordinality t (l, n)
     where strpos(coalesce(p_payload->>'text', ''), l) = 0;
    rendered_text := coalesce(p_payload->>'text', '');
    if links is not null and strpos(template, '{links}') = 0 then
        rendered_text := concat_ws(E'\n\n', nullif(rendered_text, ''), links);
    end if;
    if template <> '{text}' then
        -- The text goes in last, so that a placeholder inside somebody's text stays what it is.
        rendered_text := (select replace(split_part(t, '{text}', 1), '{links}', coalesce(links, '')) || rendered_text
                              || replace(substr(t, strpos(t, '{text}') + 6), '{links}', coalesce(links, ''))
                            from (select template as t) given);
    end if;
    template_version := case when template = '{text}' then '1' else '1.' || left(md5(template), 8) end;

    if mode = 'HTML' then
        select r.visible, r.error into seen, error from posting.read_html(rendered_text, p_platform) r;
    elsif mode = 'Markdown' then
        select r.visible, r.error into seen, error from posting.read_markdown(rendered_text, p_platform) r;
    else
        seen := rendered_text;
    end if;
    if error is not null and p_settings->>'on_bad_markup' = 'plain' then
        rendered_text := case when mode = 'HTML' then regexp_replace(rendered_text, '</?[A-Za-z][^<>]*>', '', 'g')
                              else rendered_text end;
        mode := 'None';
        seen := rendered_text;
        error := null;
    elsif error is not null then
        error := 'the text is not valid ' || mode || ': ' || error;
    end if;

    if p_send_mode = 'text' and media_count > 0 then
        error := coalesce(error, 'this channel takes text only');
    elsif p_send_mode = 'media' and media_count = 0 then
        error := coalesce(error, 'this channel takes media only');
    end if;
    if p_platform = 'telegram' then
        select s.steps, s.error into plan, refusal
          from posting.plan_telegram(media, char_length(seen), octet_length(rendered_text), buttons is not null) s;
    elsif p_platform = 'max' then
        select s.steps, s.error into plan, refusal
          from posting.plan_max(media, posting.utf16_length(rendered_text), buttons is not null) s;
    else
        refusal := format('there is no platform `%s`', p_platform);
    end if;

    error := coalesce(error, refusal);
    rendered_text := nullif(rendered_text, '');
    render_meta := jsonb_strip_nulls(jsonb_build_object(
        'parse_mode', mode, 'buttons', buttons,
        'disable_preview', case when coalesce(p_payload->'disable_preview', p_settings->'disable_preview') = 'true'
                                then true end,
        'silent', case when coalesce(p_payload->'silent', p_settings->'silent') = 'true' then true end,
        -- One step that carries everything needs no plan.
        'steps', nullif(plan, '[{"text": true}]')));
end
$$;
