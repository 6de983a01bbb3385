-- Reads Markdown as the platform would: the text that people will see, or why it cannot be sent.
-- Guarantee: for Telegram the rules of its legacy Markdown, whose only error is an entity without an end. MAX refuses
-- nothing, and what it will show is not documented: there the text stays as it is. Linear time. A null text gives
-- nulls.
create or replace function posting.read_markdown(p_text text, p_platform text, out visible text, out error text)
language plpgsql immutable parallel safe as $$
declare
    -- Every character belongs to a token; one that opens an entity runs to the entity's end or, without one, to the
    -- end of the text. The longest wins: three back-ticks before one.
    c_tokens constant text := '[^\\_*`[]+|\\[_*`[]?'
        '|_[^_]*_?|\*[^*]*\*?|`[^`]*`?'
        '|```(?:[^`]|`{1,2}[^`])*`{0,3}'
        '|\[\]?|\[[^]]+(?:\](?:\([^)]*\)?)?)?';
    v_token text;
    v_part text;
    v_at int := 1;
begin
    if p_text is null or p_platform <> 'telegram' or p_text !~ '[\\_*`[]' then
        visible := p_text;
        return;
    end if;
    visible := '';
    for v_token in select m[1] from regexp_matches(p_text, c_tokens, 'g') m loop
        v_part := case
            when v_token ~ '^[^\\_*`[]' or v_token = '\' then v_token
            when v_token like '\\%' then substr(v_token, 2)
            -- The first word is the language if white space follows it; then one line break is skipped.
            when v_token ~ '^```.*```$' and length(v_token) > 5 then
                regexp_replace(regexp_replace(substr(v_token, 4, length(v_token) - 6),
                                              '^[^` \t\r\n\v]+(?=[ \t\r\n\v])', ''),
                               '^(?:\r\n|\n\r|\r|\n)', '')
            when v_token like '```%' then null
            when v_token like '[%' then substring(v_token from '^\[([^]]*)\]')
            when length(v_token) > 1 and right(v_token, 1) = left(v_token, 1)
                then substr(v_token, 2, length(v_token) - 2)
        end;
        if v_part is null then
            visible := null;
            error := 'Can''t find end of the entity starting at byte offset ' || octet_length(left(p_text, v_at - 1));
            return;
        end if;
        visible := visible || v_part;
        v_at := v_at + length(v_token);
    end loop;
end
$$;
