-- How a post becomes calls to Telegram: {"text": true} carries the text, {"media": [0, 1]} carries these items.
-- An album whose text is too long for a caption, or that comes with buttons (which an album cannot carry), sends
-- the text first and the album after it.
create or replace function posting.plan_telegram(
    p_media jsonb, p_text_chars int, p_text_bytes int, p_has_buttons boolean, out steps jsonb, out error text
) language plpgsql immutable as $$
declare
    takes constant jsonb := posting.provider_limits('telegram');
    chars_max constant int := takes->>'text_chars_max';
    bytes_max constant int := takes->>'text_bytes_max';
    caption_max constant int := takes->>'caption_chars_max';
    items_max constant int := takes->>'album_items_max';
    media_count constant int := jsonb_array_length(p_media);
    kinds text[];
    caption_chars int;
    indexes jsonb;
begin
    select array_agg(distinct m->>'type'), max(char_length(m->>'caption')) into kinds, caption_chars
      from jsonb_array_elements(p_media) m;
    if p_text_bytes > bytes_max then
        error := format('the text has %s bytes; Telegram takes %s', p_text_bytes, bytes_max);
    elsif media_count = 0 then
        if p_text_chars = 0 then
            error := 'nothing of the text is left to see';
        elsif p_text_chars > chars_max then
            error := format('the text has %s characters; Telegram takes %s', p_text_chars, chars_max);
        end if;
        steps := '[{"text": true}]';
        return;
    end if;
    if media_count > items_max then
        error := coalesce(error, format('an album of %s items; Telegram takes %s', media_count, items_max));
    elsif cardinality(kinds) > 1 and kinds && '{audio,file}'::text[] then
        error := coalesce(error, 'Telegram does not mix audio or files with other media in one album');
    elsif caption_chars > caption_max then
        error := coalesce(error, format('a caption has %s characters; Telegram takes %s', caption_chars, caption_max));
    end if;
    select jsonb_agg(n - 1 order by n) into indexes from jsonb_array_elements(p_media) with ordinality t (m, n);
    if media_count = 1 or (p_text_chars <= caption_max and not p_has_buttons) then
        if p_text_chars > caption_max then
            error := coalesce(error, format('the caption has %s characters; Telegram takes %s', p_text_chars,
                                            caption_max));
        end if;
        steps := jsonb_build_array(jsonb_build_object('text', true, 'media', indexes));
    else
        if p_text_chars > chars_max then
            error := coalesce(error, format('the text has %s characters; Telegram takes %s', p_text_chars, chars_max));
        elsif p_text_chars = 0 then
            error := coalesce(error, 'an album cannot carry buttons; add a text that can');
        end if;
        steps := jsonb_build_array('{"text": true}'::jsonb, jsonb_build_object('media', indexes));
    end if;
end
$$;
