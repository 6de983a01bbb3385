-- Whether the settings of a channel are ones that something enforces: an unknown key or value is refused rather than
-- silently ignored. `template` holds {text} and may hold {links}; `on_unknown` says what to do when a send left and no
-- answer came; `on_bad_markup` what to do with a text that its parse mode cannot read.
create or replace function posting.is_channel_settings(p_settings jsonb) returns boolean
language sql immutable parallel safe as $$
    select case when jsonb_typeof(p_settings) is distinct from 'object' then false else
        not exists (
            select from jsonb_each(p_settings) as s (key, value)
             where not case s.key
                when 'parse_mode' then s.value in ('"HTML"', '"Markdown"', '"None"')
                when 'disable_preview' then jsonb_typeof(s.value) = 'boolean'
                when 'silent' then jsonb_typeof(s.value) = 'boolean'
                when 'on_unknown' then s.value in ('"retry"', '"hold"')
                when 'on_bad_markup' then s.value in ('"fail"', '"plain"')
                when 'template' then jsonb_typeof(s.value) = 'string' and s.value #>> '{}' like '%{text}%'
                                     and char_length(s.value #>> '{}') <= 1000
                else false end)
    end
$$;
