-- Whether a channel with this filter takes a post with these tags. No filter takes everything; a post without tags passes
-- only where nothing has to be included.
create or replace function posting.is_routed(p_tags text[], p_filter jsonb) returns boolean language sql immutable parallel safe as $$
    select p_filter is null or (
        (coalesce(jsonb_array_length(p_filter->'include_any'), 0) = 0
         or coalesce(p_tags, '{}') && array(select jsonb_array_elements_text(p_filter->'include_any')))
        and coalesce(p_tags, '{}') @> array(select jsonb_array_elements_text(p_filter->'include_all'))
        and not coalesce(p_tags, '{}') && array(select jsonb_array_elements_text(p_filter->'exclude')))
$$;
