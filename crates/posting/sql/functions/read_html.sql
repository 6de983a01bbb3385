-- Reads HTML as the platform would: the text that people will see, or why it cannot be sent.
-- Guarantee: what Telegram refuses is refused here, usually in its words. For MAX, which drops in silence what it does
-- not know, an unknown or unbalanced tag is refused as well. Linear time. A null text gives nulls.
create or replace function posting.read_html(p_text text, p_platform text, out visible text, out error text)
language plpgsql immutable parallel safe as $$
declare
    v_tags constant text[] := string_to_array(posting.provider_limits(p_platform)->>'html_tags', ' ');
    -- Every character belongs to a token. One that begins with < and does not end with > is where a tag goes wrong.
    c_tokens constant text := '[^<&]+'
        '|&(?:[A-Za-z]+|#[0-9]+|#x[0-9A-Fa-f]+)?;?'
        '|<(?:/[^> \t\r\n\v]*[ \t\r\n\v]*'
        '|[A-Za-z][A-Za-z0-9-]*(?:[ \t\r\n\v](?:[ \t\r\n\v]'
        '|[^=>/"'' \t\r\n\v]+(?:[ \t\r\n\v]*=[ \t\r\n\v]*(?:"[^"]*"|''[^'']*''))?'
        '|[^=>/"'' \t\r\n\v]+[ \t\r\n\v]*=[ \t\r\n\v]*[A-Za-z0-9.-]+[ \t\r\n\v])*'
        '(?:[^=>/"'' \t\r\n\v]+[ \t\r\n\v]*=[ \t\r\n\v]*[A-Za-z0-9.-]*)?)?)?>?';
    v_token text;
    v_at int := 1;
    v_name text;
    v_open text[] := '{}';
    v_depth int := 0;
    -- Of each open tag: how many pieces of text came before it, and the attribute that has to be right.
    v_lengths int[] := '{}';
    v_values text[] := '{}';
    v_value text;
    v_length int := 0;
    v_part text;
begin
    if p_text is null or p_text !~ '[<&]' then
        visible := p_text;
        return;
    end if;
    if v_tags is null then
        error := format('Unknown platform "%s"', p_platform);
        return;
    end if;
    visible := '';
    for v_token in select m[1] from regexp_matches(p_text, c_tokens, 'g') m loop
        if v_token like '</%' then
            v_name := lower(rtrim(substr(v_token, 3), E'> \t\r\n\v'));
            if v_depth = 0 then
                error := 'Unexpected end tag';
            elsif right(v_token, 1) <> '>' then
                error := 'Unclosed end tag';
            elsif v_name <> v_open[v_depth] and (v_name <> '' or p_platform <> 'telegram') then
                error := format('Unmatched end tag at byte offset %s, expected "</%s>", found "</%s>"',
                                octet_length(left(p_text, v_at - 1)), v_open[v_depth], v_name);
            elsif v_open[v_depth] = 'tg-emoji' and v_length > v_lengths[v_depth]
                  and (case when v_values[v_depth] ~ '^[1-9][0-9]{0,18}$'
                            then v_values[v_depth]::numeric > 9223372036854775807 else true end) then
                error := 'Invalid custom emoji identifier specified';
            end if;
            v_depth := v_depth - 1;
        elsif v_token like '<%' then
            v_name := lower(substring(v_token from '^<([A-Za-z0-9-]*)'));
            v_value := '';
            if right(v_token, 1) <> '>' or v_name <> all (v_tags) then
                error := posting.tag_error(substr(p_text, v_at), v_token, octet_length(left(p_text, v_at - 1)), v_tags);
            elsif v_name = 'span' then
                if (select a.value from posting.tag_attributes(v_token) with ordinality a(name, value, i)
                     where a.name = 'class' and a.value like 'tg-%' order by a.i desc limit 1)
                   is distinct from 'tg-spoiler' then
                    error := 'Tag "span" must have class "tg-spoiler"';
                end if;
            elsif v_name = 'tg-emoji' then
                v_value := coalesce((select a.value
                                       from posting.tag_attributes(v_token) with ordinality a(name, value, i)
                                      where a.name = 'emoji-id' and a.value is not null order by a.i desc limit 1), '');
            end if;
            v_depth := v_depth + 1;
            v_open[v_depth] := v_name;
            v_lengths[v_depth] := v_length;
            v_values[v_depth] := v_value;
        else
            v_part := case when v_token not like '&%' then v_token
                           when p_platform = 'max' and v_token = '&nbsp;' then U&'\00A0'
                           else posting.html_character(v_token) end;
            if v_part is null then
                error := 'Text contains invalid Unicode characters after decoding HTML entities, '
                         'check for unmatched surrogate code units';
            end if;
            visible := visible || v_part;
            v_length := v_length + 1;
        end if;
        if error is not null then
            if error ~ '^(Un|Tag)' and error !~ 'byte offset' then
                error := error || ' at byte offset ' || octet_length(left(p_text, v_at - 1));
            end if;
            visible := null;
            return;
        end if;
        v_at := v_at + length(v_token);
    end loop;
    if v_depth > 0 then
        error := format('Can''t find end tag corresponding to start tag "%s"', v_open[v_depth]);
        visible := null;
    end if;
end
$$;
