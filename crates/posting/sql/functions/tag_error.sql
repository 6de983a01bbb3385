-- What is wrong with the start tag at the beginning of p_rest, in Telegram's words. p_token is the part of it that
-- could be read, p_offset where it begins, in bytes.
create or replace function posting.tag_error(p_rest text, p_token text, p_offset int, p_tags text[]) returns text
language plpgsql immutable parallel safe as $$
declare
    v_name text := lower(substring(p_rest from '^<([^> \t\r\n\v]*)'));
    v_after text := substr(p_rest, length(p_token) + 1);
begin
    if p_rest !~ '^<[^> \t\r\n\v]*[> \t\r\n\v]' then
        return format('Unclosed start tag at byte offset %s', p_offset);
    elsif v_name <> all (p_tags) then
        return format('Unsupported start tag "%s" at byte offset %s', v_name, p_offset);
    elsif v_after = '' then
        return format('Unclosed start tag "%s" at byte offset %s', v_name, p_offset);
    elsif p_token ~ '=[ \t\r\n\v]*$' and v_after ~ '^("[^"]*|''[^'']*)$' then
        return format('Unclosed start tag at byte offset %s', p_offset);
    elsif p_token ~ '=[ \t\r\n\v]*[A-Za-z0-9.-]*$' then
        return format('Unexpected end of name token at byte offset %s',
                      p_offset + octet_length(regexp_replace(p_token, '[A-Za-z0-9.-]*$', '')));
    end if;
    return format('Empty attribute name in the tag "%s" at byte offset %s', v_name, p_offset);
end
$$;
