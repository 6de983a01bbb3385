-- How a post becomes calls to MAX: pictures and videos travel together, as many as MAX takes with the keyboard among
-- them; a file or an audio travels alone. The first message carries the text, the rest follow in order.
create or replace function posting.plan_max(
    p_media jsonb, p_text_units int, p_has_buttons boolean, out steps jsonb, out error text
) language plpgsql immutable as $$
declare
    chars_max constant int := posting.provider_limits('max')->>'text_chars_max';
    items_max constant int := posting.provider_limits('max')->>'album_items_max';
    item record;
    batch int[] := '{}';
    is_first boolean := true;
begin
    steps := '[]';
    if p_text_units > chars_max then
        error := format('the text has %s characters; MAX takes %s', p_text_units, chars_max);
    elsif p_text_units = 0 and jsonb_array_length(p_media) = 0 then
        error := 'there is no text';
    end if;
    for item in select m->>'type' as kind, (n - 1)::int as place
                  from jsonb_array_elements(p_media) with ordinality t (m, n) order by n
    loop
        if item.kind in ('file', 'audio') or cardinality(batch) >= items_max - (is_first and p_has_buttons)::int then
            if batch <> '{}' then
                steps := steps || jsonb_build_array(jsonb_build_object('text', is_first, 'media', to_jsonb(batch)));
                is_first := false;
                batch := '{}';
            end if;
        end if;
        if item.kind in ('file', 'audio') then
            steps := steps || jsonb_build_array(jsonb_build_object('text', is_first,
                                                                   'media', jsonb_build_array(item.place)));
            is_first := false;
        else
            batch := batch || item.place;
        end if;
    end loop;
    if batch <> '{}' then
        steps := steps || jsonb_build_array(jsonb_build_object('text', is_first, 'media', to_jsonb(batch)));
    elsif steps = '[]' then
        steps := '[{"text": true}]';
    end if;
end
$$;
