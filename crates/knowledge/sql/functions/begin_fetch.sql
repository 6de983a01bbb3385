-- Begins to fetch a page (WF31): its address and what the last answer said of itself. Guarantee: a page is fetched by
-- one worker at a time (is_busy for the others, until p_lease is over), and not again while the last answer is younger
-- than p_fresh_for (fetch_id and blob_object_id are that answer's). Returns no row for an address that is not there.
create or replace function knowledge.begin_fetch(
    p_workspace_id uuid, p_url_id bigint, p_fresh_for interval, p_lease interval
) returns table (
    normalized_url text, fetch_id bigint, blob_object_id bigint, etag text, last_modified text, is_fresh boolean,
    is_busy boolean
) language plpgsql as $$
declare
    url content.urls;
begin
    select * into url from content.urls u where (u.workspace_id, u.id) = (p_workspace_id, p_url_id) for no key update;
    if not found then
        return;
    end if;
    normalized_url := url.normalized_url;
    select f.id, f.blob_object_id, f.etag, f.last_modified, f.fetched_at > platform.now() - p_fresh_for
      into fetch_id, blob_object_id, etag, last_modified, is_fresh
      from content.url_fetches f
     where (f.workspace_id, f.url_id) = (p_workspace_id, p_url_id) and f.blob_object_id is not null
     order by f.id desc limit 1;
    is_fresh := coalesce(is_fresh, false);
    is_busy := not is_fresh and coalesce(url.busy_until > platform.now(), false);
    if not is_fresh and not is_busy then
        update content.urls u set busy_until = platform.now() + p_lease
         where (u.workspace_id, u.id) = (p_workspace_id, p_url_id);
    end if;
    return next;
end
$$;
