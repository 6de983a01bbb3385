//! The guarantees of the cutter, on texts made for each of them and on generated ones.

use proptest::prelude::*;

use super::*;

fn chunking(max_chars: usize, overlap: usize) -> Chunking {
    Chunking::new(max_chars, overlap).expect("numbers that are allowed")
}

fn texts(text: &str, chunking: Chunking) -> Vec<String> {
    cut(text, chunking).into_iter().map(|piece| piece.text).collect()
}

/// Checks what holds for every text.
fn check(text: &str, chunking: Chunking) -> Vec<TextPiece> {
    use unicode_segmentation::UnicodeSegmentation;
    let characters: Vec<char> = text.chars().collect();
    let mut boundaries = std::collections::HashSet::from([0]);
    let mut at = 0;
    for grapheme in text.graphemes(true) {
        at += grapheme.chars().count();
        boundaries.insert(at);
    }
    let pieces = cut(text, chunking);
    let mut covered = vec![false; characters.len()];
    let mut last = None;
    for piece in &pieces {
        assert!(piece.start < piece.end);
        assert_eq!(piece.text, characters[piece.start..piece.end].iter().collect::<String>());
        assert!(boundaries.contains(&piece.start) && boundaries.contains(&piece.end), "cut inside a grapheme");
        assert!(piece.end - piece.start <= chunking.max_chars || piece.text.graphemes(true).count() == 1, "too long");
        if let Some((start, end)) = last {
            assert!(start < piece.start && end < piece.end, "a piece advances");
            assert!(piece.start + chunking.overlap >= end, "an overlap of more than was asked");
        }
        covered[piece.start..piece.end].fill(true);
        last = Some((piece.start, piece.end));
    }
    for (character, covered) in characters.iter().zip(covered) {
        assert!(covered || character.is_whitespace(), "{character:?} is in no piece");
    }
    pieces
}

#[test]
fn numbers_outside_their_range_are_refused_by_the_name_of_the_field() {
    assert_eq!(Chunking::new(1200, 120), Ok(Chunking::default()));
    assert_eq!(Chunking::new(100, 49).map(|c| c.overlap), Ok(49));
    for (max_chars, overlap, field) in
        [(99, 0, "max_chars"), (8001, 0, "max_chars"), (100, 50, "overlap"), (1200, 600, "overlap"), (0, 0, "max_chars")]
    {
        let problem = Chunking::new(max_chars, overlap).unwrap_err().to_string();
        assert!(problem.starts_with(field), "{problem}");
    }
}

#[test]
fn a_blank_text_has_no_pieces() {
    for text in ["", " ", "\n\n\t \u{a0}\r\n", "\u{2028}"] {
        assert_eq!(cut(text, Chunking::default()), []);
    }
}

#[test]
fn a_short_text_is_one_trimmed_piece_with_offsets_in_characters() {
    let pieces = cut("\n  Привет, мир! \n", Chunking::default());
    assert_eq!(pieces, [TextPiece { text: "Привет, мир!".into(), start: 3, end: 15 }]);
    // Exactly max_chars, and white space behind.
    let text = format!("{}   ", "я".repeat(100));
    assert_eq!(cut(&text, chunking(100, 10)).len(), 1);
}

#[test]
fn a_paragraph_end_is_preferred_to_a_line_end_and_that_to_a_sentence_end() {
    let word = "слово ".repeat(10); // 60 characters
    let paragraph = format!("{word}\n\nещё\nстрока. Другая. {word}");
    assert_eq!(texts(&paragraph, chunking(100, 0))[0], word.trim());
    let line = format!("{word}\nстрока. Другая. {word}");
    assert_eq!(texts(&line, chunking(100, 0))[0], word.trim());
    let sentence = format!("{word}конец. Другая {word}");
    assert_eq!(texts(&sentence, chunking(100, 0))[0], format!("{word}конец."));
    let words = format!("{word}конец и другая {word}");
    assert_eq!(texts(&words, chunking(100, 0))[0].chars().count(), 98);
}

#[test]
fn a_blank_line_of_windows_is_a_paragraph_end() {
    let word = "слово ".repeat(10);
    assert_eq!(texts(&format!("{word}\r\n\r\nещё\r\nстрока {word}"), chunking(100, 0))[0], word.trim());
}

#[test]
fn no_sentence_ends_after_an_abbreviation_an_initial_or_before_a_small_letter() {
    let word = "слово ".repeat(9); // 54 characters
    for inside in [
        "т.е. Это",
        "2024 г. Москва",
        "5 руб. Скидка",
        "e.g. Paris",
        "А. С. Пушкин",
        "А.С. Пушкин",
        "Mr. Smith",
        "1. Пункт",
        "да… но",
        "что? спросил",
    ] {
        let text = format!("{word}Первое. Вот {inside} {}", "а".repeat(90));
        assert_eq!(texts(&text, chunking(100, 0))[0], format!("{word}Первое."), "{inside}");
    }
    for end in ["Конец!", "Конец?!", "Конец…", "«Конец.»", "(Конец.)", "“The end.”", "в 2024."]
    {
        let text = format!("{word}{end} «Вот дальше {}", "а".repeat(90));
        assert_eq!(texts(&text, chunking(100, 0))[0], format!("{word}{end}"));
    }
}

#[test]
fn a_piece_begins_with_the_last_sentence_of_the_one_before_if_it_fits_into_the_overlap() {
    let text = format!("{}Конец первого. Второе тут. {}", "слово ".repeat(12), "Дальше ".repeat(20));
    let pieces = check(&text, chunking(100, 20));
    assert!(pieces[0].text.ends_with("Второе тут."));
    assert!(pieces[1].text.starts_with("Второе тут. Дальше"), "{}", pieces[1].text);
    // No sentence begins in the last ten characters: a word does.
    let pieces = check(&text, chunking(100, 10));
    assert!(pieces[1].text.starts_with("тут. Дальше"), "{}", pieces[1].text);
    let pieces = check(&text, chunking(100, 0));
    assert!(pieces[1].text.starts_with("Дальше"));
}

#[test]
fn a_long_word_stays_whole_when_a_piece_can_hold_it() {
    let address = format!("https://example.org/{}", "x".repeat(75));
    let text = format!("Смотрите вот тут: {address} и ещё {}", "слово ".repeat(30));
    assert!(check(&text, chunking(100, 40)).iter().any(|piece| piece.text.contains(&address)));
}

#[test]
fn a_text_without_spaces_is_cut_between_graphemes() {
    let family = "👨‍👩‍👧‍👦"; // 7 characters
    let pieces = check(&family.repeat(50), chunking(100, 20));
    assert!(pieces.iter().all(|piece| piece.text.starts_with('👨') && piece.text.ends_with('👦')));
    assert_eq!(pieces[0].end, 98);
    check(&"汉字，没有空格。".repeat(60), chunking(100, 20));
    check(&"е\u{301}".repeat(300), chunking(101, 10));
    check(&"🇷🇺".repeat(300), chunking(101, 10));
}

#[test]
fn a_grapheme_longer_than_a_piece_is_kept_whole() {
    let monster = format!("a{}", "\u{301}".repeat(500));
    let pieces = check(&format!("до этого {monster} после"), chunking(100, 20));
    assert!(pieces.iter().any(|piece| piece.text == monster));
}

#[test]
fn a_large_text_is_cut_in_linear_time() {
    let started = std::time::Instant::now();
    for text in [
        "a".repeat(1 << 18),
        "\u{301}".repeat(1 << 17),
        "🇷🇺".repeat(1 << 15),
        " \n".repeat(1 << 17),
        ".) ".repeat(1 << 16),
        "....".repeat(1 << 16),
        "Слово и дело. ".repeat(1 << 14),
        format!("{}{}", "a ".repeat(1 << 16), "b".repeat(1 << 16)),
    ] {
        assert!(cut(&text, chunking(100, 49)).len() <= text.len() / 20);
        assert!(cut(&text, chunking(8000, 3999)).len() <= text.len() / 1000);
        assert!(token_count(&text) >= 0);
    }
    // Without optimisation this takes seconds, on a machine that is busy with other tests some more; quadratic time would take an hour.
    assert!(started.elapsed() < std::time::Duration::from_mins(5));
}

#[test]
fn tokens_are_estimated_from_words_digits_and_marks() {
    for (text, count) in [
        ("", 0),
        (" \n\t", 0),
        ("cat", 1),
        ("cats and dogs.", 4),
        ("understanding", 3),
        ("договор", 3),
        ("2026", 2),
        ("汉字", 2),
        ("!?", 2),
    ] {
        assert_eq!(token_count(text), count, "{text}");
    }
}

#[test]
fn the_hash_of_a_text_is_lower_case_hex() {
    assert_eq!(text_sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn every_text_keeps_the_guarantees(
        parts in proptest::collection::vec(prop_oneof![
            "[а-яa-z]{1,12}", "[А-ЯA-Z][а-я]{0,5}[.!?…]", "\\PC{0,6}", Just(" ".to_owned()), Just("\n".to_owned()),
            Just("\r\n\r\n".to_owned()), Just(" \u{301}".to_owned()), Just("👩‍👩‍👧".to_owned()), "[a-z]{60,200}", Just("т.е. ".to_owned()),
        ], 0..200),
        max_chars in 100_usize..200,
        overlap in 0_usize..50,
    ) {
        let text = parts.concat();
        let pieces = check(&text, chunking(max_chars, overlap));
        prop_assert_eq!(pieces, cut(&text, chunking(max_chars, overlap)));
    }
}
