-- One spelling for the many of the same address: scheme and host in lower case, no default port, no fragment, no marks
-- of advertising in the query; what else the query has keeps its order.
-- Guarantee: never an error; doing it twice changes nothing; what does not look like http(s) comes back trimmed.
create or replace function posting.canonical_url(p_url text) returns text
language plpgsql immutable parallel safe as $$
declare
    v_url text := regexp_replace(p_url, '^[\s\u00a0]+|[\s\u00a0]+$', '', 'g');
    -- Scheme, user, host, port, path, query.
    v_parts text[] := regexp_match(v_url,
                                   '^(https?)://([^\s/?#@]*@)?([^\s/?#@:[]+|\[[0-9a-f:.]+\])(?::([0-9]*))?(/[^\s?#]*)?'
                                          '(?:\?([^\s#]*))?(?:#\S*)?$', 'i');
    v_scheme text := lower(v_parts[1]);
    v_query text;
begin
    if v_parts is null then
        return v_url;
    end if;
    select string_agg(q.pair, '&' order by q.i) into v_query
      from unnest(string_to_array(v_parts[6], '&')) with ordinality q(pair, i)
     where q.pair <> '' and q.pair !~* '^(utm_[^=]*|fbclid|gclid|yclid|ysclid)(=|$)';
    return v_scheme || '://' || coalesce(v_parts[2], '') || lower(v_parts[3])
        || case when v_parts[4] = '' or v_scheme || v_parts[4] in ('http80', 'https443') then ''
                else coalesce(':' || v_parts[4], '') end
        || coalesce(v_parts[5], '/')
        || coalesce('?' || v_query, '');
end
$$;
