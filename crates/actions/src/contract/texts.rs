//! Texts that people read where nobody has given one: Russian as the specification has them, English beside.

use super::{BotActionType, TIMEOUT};

/// The language of texts and errors: Russian unless somebody prefers English.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    #[default]
    Ru,
    En,
}

impl Lang {
    pub const ALL: [Self; 2] = [Self::Ru, Self::En];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ru => "ru",
            Self::En => "en",
        }
    }

    /// Of a header `Accept-Language`: the one of ours that it weighs most, the first of equals.
    pub fn from_header(header: &str) -> Self {
        let mut best = (0.0, Self::default());
        for part in header.split(',') {
            let (tag, parameters) = part.split_once(';').unwrap_or((part, ""));
            let weight: f32 = match parameters.trim().strip_prefix("q=") {
                Some(text) => text.trim().parse().unwrap_or(0.0),
                None => 1.0,
            };
            let primary = tag.trim().split('-').next().unwrap_or_default().to_ascii_lowercase();
            let lang = Self::ALL.into_iter().find(|lang| lang.as_str() == primary);
            if let Some(lang) = lang
                && weight > best.0
            {
                best = (weight, lang);
            }
        }
        best.1
    }
}

/// What is shown for an action of this type without a text of its own; nothing stands for any other type.
pub fn default_text(known: Option<BotActionType>, lang: Lang) -> &'static str {
    match (known, lang) {
        (Some(BotActionType::TranscribeAudio), Lang::Ru) => "Готовим стенограмму…",
        (Some(BotActionType::TranscribeAudio), Lang::En) => "Preparing the transcript…",
        (Some(BotActionType::Summarize), Lang::Ru) => "Готовим саммари…",
        (Some(BotActionType::Summarize), Lang::En) => "Preparing the summary…",
        (Some(BotActionType::GenerateImage), Lang::Ru) => "Создаём изображение…",
        (Some(BotActionType::GenerateImage), Lang::En) => "Creating the image…",
        (Some(BotActionType::ProcessFile), Lang::Ru) => "Обрабатываем файл…",
        (Some(BotActionType::ProcessFile), Lang::En) => "Processing the file…",
        (None, Lang::Ru) => "Выполняем действие…",
        (None, Lang::En) => "Working on it…",
    }
}

/// What is shown for an action that ended as an error without a text of its own, by `payload.code`.
pub fn error_text(code: Option<&str>, lang: Lang) -> &'static str {
    match (code == Some(TIMEOUT), lang) {
        (true, Lang::Ru) => "Время ожидания истекло",
        (true, Lang::En) => "The time ran out",
        (false, Lang::Ru) => "Не получилось выполнить действие",
        (false, Lang::En) => "The action failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_is_spoken_to_those_who_prefer_it_and_russian_to_everybody_else() {
        for (header, lang) in [
            ("", Lang::Ru),
            ("ru", Lang::Ru),
            ("en", Lang::En),
            ("en-GB,en;q=0.9", Lang::En),
            ("EN-us", Lang::En),
            ("ru-RU, en;q=0.8", Lang::Ru),
            ("ru;q=0.5, en;q=0.7", Lang::En),
            ("de, en;q=0.3", Lang::En),
            ("de", Lang::Ru),
            ("*", Lang::Ru),
            ("en;q=0", Lang::Ru),
            ("en;q=nonsense", Lang::Ru),
            ("english", Lang::Ru),
        ] {
            assert_eq!(Lang::from_header(header), lang, "{header}");
        }
    }

    #[test]
    fn every_type_has_a_text_of_its_own_in_each_language() {
        for lang in Lang::ALL {
            let mut texts: Vec<&str> = BotActionType::ALL.into_iter().map(|known| default_text(Some(known), lang)).collect();
            texts.push(default_text(None, lang));
            texts.sort_unstable();
            texts.dedup();
            assert_eq!(texts.len(), BotActionType::ALL.len() + 1);
        }
        assert_eq!(default_text(Some(BotActionType::TranscribeAudio), Lang::Ru), "Готовим стенограмму…");
        assert_eq!(default_text(None, Lang::Ru), "Выполняем действие…");
    }
}
