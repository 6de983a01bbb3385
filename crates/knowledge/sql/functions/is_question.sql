-- Whether a text reads like a question: it ends with a question mark, or it begins with a word that asks and is one
-- phrase. "Где что лежит: ключ под ковриком" is a note.
create or replace function knowledge.is_question(p_text text) returns boolean language sql immutable as $$
    select rtrim(p_text) ~ '\?[)\s]*$'
        or (p_text !~ '[:;—\n]' and rtrim(p_text) !~ '\.$' and p_text ~*
            ('^\s*(/|кто|что|где|куда|откуда|когда|сколько|как|какой|какая|какое|какие|каков|чей|зачем|почему|'
             'можно|есть ли|найди|покажи|скажи|расскажи|напомни|who|what|where|when|why|how|which|whose|is|are|'
             'do|does|can|find|show|tell)\M'))
$$;
