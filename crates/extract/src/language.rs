//! The language of a text, by its letters and their neighbours.

use whatlang::Lang;

/// Enough to tell, and no more work for a long text.
const SAMPLE_CHARS: usize = 4000;

/// The language as ISO 639-1, if the text is long and clear enough to tell it; else what the document says of itself.
pub(crate) fn language(text: &str, declared: Option<&str>) -> Option<String> {
    // The beginning of a document is its title page and its contents; the middle is text.
    let chars = text.chars().count();
    let sample: String = text.chars().skip(chars.saturating_sub(SAMPLE_CHARS) / 2).take(SAMPLE_CHARS).collect();
    let found = whatlang::detect(&sample).filter(whatlang::Info::is_reliable).map(|found| iso_639_1(found.lang()));
    let found = found.or_else(|| is_russian(&sample).then_some("ru"));
    found.map(ToOwned::to_owned).or_else(|| declared.and_then(primary))
}

/// A few sentences of Russian look to statistics like any of its neighbours; its letters tell them apart.
fn is_russian(sample: &str) -> bool {
    let (mut cyrillic, mut others) = (0, 0);
    for c in sample.chars().filter(|c| c.is_alphabetic()) {
        if matches!(c, 'а'..='я' | 'А'..='Я' | 'ё' | 'Ё') { cyrillic += 1 } else { others += 1 }
    }
    cyrillic >= 10
        && cyrillic > others
        && sample.contains(['ы', 'э', 'ё', 'Э'])
        && !sample.contains(['і', 'ї', 'є', 'ґ', 'ў', 'ј', 'ђ', 'љ'])
}

/// The first part of a tag such as `ru-RU`, if it is of ISO 639-1.
fn primary(tag: &str) -> Option<String> {
    let primary = tag.trim().split(['-', '_']).next()?.to_ascii_lowercase();
    (primary.len() == 2 && primary.bytes().all(|byte| byte.is_ascii_lowercase())).then_some(primary)
}

#[rustfmt::skip]
fn iso_639_1(lang: Lang) -> &'static str {
    match lang {
        Lang::Rus => "ru", Lang::Eng => "en", Lang::Ukr => "uk", Lang::Bel => "be", Lang::Bul => "bg", Lang::Srp => "sr", Lang::Mkd => "mk",
        Lang::Deu => "de", Lang::Fra => "fr", Lang::Spa => "es", Lang::Ita => "it", Lang::Por => "pt", Lang::Nld => "nl", Lang::Pol => "pl",
        Lang::Ces => "cs", Lang::Slk => "sk", Lang::Slv => "sl", Lang::Hrv => "hr", Lang::Hun => "hu", Lang::Ron => "ro", Lang::Ell => "el",
        Lang::Tur => "tr", Lang::Aze => "az", Lang::Uzb => "uz", Lang::Tuk => "tk", Lang::Kat => "ka", Lang::Hye => "hy", Lang::Heb => "he",
        Lang::Yid => "yi", Lang::Ara => "ar", Lang::Pes => "fa", Lang::Urd => "ur", Lang::Hin => "hi", Lang::Ben => "bn", Lang::Tam => "ta",
        Lang::Tel => "te", Lang::Kan => "kn", Lang::Mal => "ml", Lang::Mar => "mr", Lang::Guj => "gu", Lang::Pan => "pa", Lang::Ori => "or",
        Lang::Nep => "ne", Lang::Sin => "si", Lang::Tha => "th", Lang::Khm => "km", Lang::Mya => "my", Lang::Vie => "vi", Lang::Ind => "id",
        Lang::Jav => "jv", Lang::Tgl => "tl", Lang::Cmn => "zh", Lang::Jpn => "ja", Lang::Kor => "ko", Lang::Fin => "fi", Lang::Swe => "sv",
        Lang::Dan => "da", Lang::Nob => "nb", Lang::Est => "et", Lang::Lav => "lv", Lang::Lit => "lt", Lang::Cat => "ca", Lang::Lat => "la",
        Lang::Epo => "eo", Lang::Afr => "af", Lang::Zul => "zu", Lang::Sna => "sn", Lang::Aka => "ak", Lang::Amh => "am",
        Lang::Cym => "cy",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_tells_its_language_and_a_short_one_what_it_declares() {
        let text = "Сроки доставки обсуждаются с каждым, кто сделал заказ.";
        assert_eq!(language(text, Some("en")).as_deref(), Some("ru"));
        assert_eq!(language("42", Some("en-GB")).as_deref(), Some("en"));
        assert_eq!(language("42", None), None);
    }
}
