-- The hashtags of a text as people see it, canonical: # and letters, digits or underscores with a letter among them,
-- not in the middle of a word. The fragment of an address is none.
create or replace function posting.hashtags(p_text text) returns text[]
language sql immutable parallel safe as $$
    select posting.canonical_tags(array(
        select m[1]
          from regexp_matches(
                   regexp_replace(p_text, '[a-z][a-z0-9+.-]*://\S+|(?:[\w-]+\.)+[[:alpha:]]{2,}[/?#]\S*', ' ', 'gi'),
                   '(?<!\w)#(\w*[[:alpha:]]\w*)', 'g') m))
$$;
