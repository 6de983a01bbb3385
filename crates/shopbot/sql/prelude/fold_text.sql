-- A text as it is compared with keywords: compatible forms are one form, letters are small, ё is е, extra spaces are
-- gone, and only the first 1000 characters count.
-- The letters of the Russian alphabet are made small here and not only by lower(), which knows them only where the
-- locale of the database does.
-- Guarantee: never an error; null stays null.
create or replace function shopbot.fold_text(p_text text) returns text language sql immutable parallel safe as $$
    select left(translate(lower(shopbot.clean_text(normalize(left(p_text, 4000), nfkc))),
                          'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЁё', 'абвгдежзийклмнопрстуфхцчшщъыьэюяее'), 1000)
$$;
