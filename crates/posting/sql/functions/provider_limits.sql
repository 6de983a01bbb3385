-- What a platform takes, in the numbers of messengers::limits: a test compares them with these. Null for a platform
-- that there is not.
create or replace function posting.provider_limits(p_platform text) returns jsonb
language sql immutable parallel safe as $$
    select case p_platform
        when 'telegram' then '{
            "text_chars_max": 4096, "text_bytes_max": 32768, "caption_chars_max": 1024, "album_items_max": 10,
            "media_bytes_max": {"image": 10485760, "video": 52428800, "audio": 52428800, "file": 52428800},
            "html_tags": "a b strong i em s strike del u ins tg-spoiler tg-emoji tg-time span pre code blockquote"
        }'::jsonb
        when 'max' then '{
            "text_chars_max": 4000, "text_bytes_max": null, "caption_chars_max": null, "album_items_max": 12,
            "media_bytes_max": {"image": 50000000, "video": 250000000, "audio": 256000000, "file": 4000000000},
            "html_tags": "a b strong i em s del u ins mark pre code blockquote h1 h2 h3 h4"
        }' end
$$;
