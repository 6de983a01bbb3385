-- Takes secrets and personal data out of a text that is about to be stored or shown, with the words of the Rust side
-- (kernel::redact): [secret], [email], [phone], [card].
-- Made of patterns without backtracking, so that a long hostile text costs little. When in doubt it cuts too much: it
-- knows fewer forms of numbers than the Rust side and no check digits. Unlike there, a second redaction may cut more
-- (credentials of a URL that contain a phone with spaces).
create or replace function platform.redact_text(p_text text) returns text
language plpgsql immutable parallel safe as $$
declare
    -- A name whose value is a secret. Only its end counts: what stands before it does not matter.
    c_name constant text := '(?:token|secrets?|passwords?|passwd|passphrase|signature|authorization|cookies?'
        '|credentials?|(?:api|access|private|secret|signing|encryption)[_-]?key|access[_-]?key[_-]?id'
        '|\m(?:pwd|sig|jwt|cvv|cvc))';
    c_quoted constant text := '(' || c_name || '\\*["'']?\s*[:=]\s*(?:Some\()?';
    v_text text := p_text;
begin
    if v_text ~* '-----BEGIN' then
        v_text := regexp_replace(v_text, '(?:-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*'
            '(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)){1,1}?', '[secret]', 'g');
    end if;
    -- A header line to its end; then values in quotes (of JSON, of Debug, escaped), numbers and lists, bare values.
    if v_text ~* (c_name || '|api-key') then
        v_text := regexp_replace(v_text, '((?:authorization|cookie|api-key|\mx-[a-z0-9-]{0,64}(?:token|secret'
            '|signature))[ \t]*:[ \t]*)\S[^\r\n]*', '\1[secret]', 'gi');
        v_text := regexp_replace(v_text, c_quoted || '\\+")[^"\\]+', '\1[secret]', 'gi');
        v_text := regexp_replace(v_text, c_quoted || '")(?:[^"\\]|\\.)+', '\1[secret]', 'gi');
        v_text := regexp_replace(v_text, c_quoted || ''')(?:[^''\\]|\\.)+', '\1[secret]', 'gi');
        v_text := regexp_replace(v_text, '(' || c_name || '["'']\s*:\s*)(?:-?[0-9][^\s,}"'']*|\[\s*["''][^]]*\]?)',
                                 '\1[secret]', 'gi');
        v_text := regexp_replace(v_text, '(' || c_name || '[ \t]*(?:=|%3D)+[ \t]*)[^\s&"''<>=][^\s&"''<>]*',
                                 '\1[secret]', 'gi');
    end if;
    v_text := regexp_replace(v_text, '((?:bearer(?:[ \t]|%20|\+)+)+)(?!(?:tokens?|auth|authentication|authorization'
        '|scheme|realm=|header)[.:!?)]?(?:[\s"''<>&,;\\]|$))[^\s"''<>&,;\\]+', '\1[secret]', 'gi');
    v_text := regexp_replace(v_text, '((?:[?&;]|%3F|%26)(?:key|auth)(?:=|%3D))[^\s&"''<>]+', '\1[secret]', 'gi');
    v_text := regexp_replace(v_text, '(://)[^\s/?#"''<>]+@', '\1[secret]@', 'g');
    v_text := regexp_replace(v_text, '(/hooks/push/)[^\s/?#&"''<>]+', '\1[secret]', 'g');
    -- Tokens known by their looks: Telegram bot, Beresta, JWT, OpenAI, Google, AWS, GitHub, Slack, with what follows.
    v_text := regexp_replace(v_text, '(?:[0-9]{6,}(?::|%(?:25)?3[Aa])[A-Za-z0-9_-]{30,}|brs_[A-Za-z0-9_-]{20,}'
        '|eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*|\msk-[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{30,}'
        '|(?:AKIA|ASIA)[0-9A-Z]{16}[A-Za-z0-9_-]*|gh[opsur]_[A-Za-z0-9_-]{30,}|github_pat_[A-Za-z0-9_-]{30,}'
        '|xox[abeprs]-[A-Za-z0-9_-]{10,})(?:(?:[.:]|%(?:25)?3[Aa])[A-Za-z0-9_-]+)*', '[secret]', 'g');
    v_text := regexp_replace(v_text, '[\w.%+-]+(?:@|%40)(?:[\w-]+\.)+[[:alpha:]]{2,}', '[email]', 'g');
    if v_text ~ '[0-9](?:[^0-9A-Za-z]{0,9}[0-9]){6}' then
        -- A card as it is printed; then phones: after a plus, after a word, Russian with 7 or 8, by their groups.
        v_text := regexp_replace(v_text,
            '(?<![0-9A-Za-z.-])[2-6][0-9]{3}(?:[ \u00a0-][0-9]{4}){3}(?![0-9A-Za-z])', '[card]', 'g');
        v_text := regexp_replace(v_text, '(?<![0-9][eE])(?:\+|%2[Bb])\(?[1-9]'
            '(?:[ \u00a0\u202f\u2011\u2013().-]{0,3}[0-9]){7,14}(?![0-9A-Za-z])', '[phone]', 'g');
        v_text := regexp_replace(v_text, '((?:phones?|phone[_ -]?number|mobile|msisdn|\mtel|тел(?:ефон)?|моб)\.?'
            '["''\\]{0,4}\s{0,3}[:=№]?\s{0,3}["''\\]{0,4})\(?[0-9](?:[ \u00a0\u202f()-]{0,3}[0-9]){6,14}'
            '(?![0-9A-Za-z])', '\1[phone]', 'gi');
        v_text := regexp_replace(v_text, '(?<![0-9A-Za-z])(?:[78][ \u00a0-]{1,2}\(?|[78]\()[3489][0-9]{2}\)?'
            '[ \u00a0-]{0,2}[0-9]{3}[ \u00a0-]?[0-9]{2}[ \u00a0-]?[0-9]{2}(?![0-9A-Za-z])', '[phone]', 'g');
        v_text := regexp_replace(v_text, '(?<![0-9A-Za-z.:-])'
            '(?:\([0-9]{3,5}\)[ \u00a0]?[0-9]{1,3}(?:[ \u00a0-][0-9]{2,4}){1,2}'
            '|[3489][0-9]{2}[ \u00a0-][0-9]{3}-[0-9]{2}-[0-9]{2}|[2-9][0-9]{2}[.-][2-9][0-9]{2}[.-][0-9]{4}'
            '|[1-9][0-9]{2}-[0-9]{2}-[0-9]{2})(?![0-9A-Za-z]|[.:-][0-9])', '[phone]', 'g');
    end if;
    return v_text;
end
$$;
