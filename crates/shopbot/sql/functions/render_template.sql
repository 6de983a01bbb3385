-- Puts values where a template names them as {{name}}, in one pass: what a customer wrote is never read as a template.
-- Raises ZD001 for a name without a value.
create or replace function shopbot.render_template(p_template text, p_vars jsonb) returns text
language plpgsql immutable parallel safe as $$
declare
    unknown text;
begin
    if position('{{' in p_template) = 0 then
        return p_template;
    end if;
    select n into unknown from unnest(shopbot.template_names(p_template)) n where not p_vars ? n limit 1;
    if unknown is not null then
        raise exception 'there is no variable `%`', left(unknown, 50) using errcode = 'ZD001', column = 'template';
    end if;
    return (select string_agg(case when t.n = 1 then t.piece
                                   else coalesce(p_vars->>btrim(split_part(t.piece, '}}', 1)), '')
                                        || substr(t.piece, position('}}' in t.piece) + 2) end, '' order by t.n)
              from string_to_table(p_template, '{{') with ordinality t (piece, n));
end
$$;
