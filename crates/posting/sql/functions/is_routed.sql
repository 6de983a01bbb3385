-- Whether a channel with this filter takes a post with these tags. No filter takes everything; a post without tags
-- passes only where nothing has to be included. Operators only, so that PostgreSQL puts it into the query instead of
-- calling it.
create or replace function posting.is_routed(p_tags text[], p_filter jsonb)
returns boolean language sql immutable parallel safe as $$
    select p_filter is null
        or ((coalesce(jsonb_array_length(p_filter->'include_any'), 0) = 0 or p_filter->'include_any' ?| p_tags)
            and coalesce(to_jsonb(p_tags) @> (p_filter->'include_all'), true)
            and not coalesce(p_filter->'exclude' ?| p_tags, false))
$$;
