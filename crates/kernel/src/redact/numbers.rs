//! Phones and payment cards, told from every other number by the shape of their digit groups.
//!
//! A text is cut into groups of digits; neighbours with a separator between them form a window, and a window is judged
//! by the lengths of its groups: 1-3-3-2-2 is a Russian phone, 4-4-4-4 with the right check digit is a card, 3-3-3 is a
//! sum of money. Windows have at most [`GROUPS_MAX`] groups, so the work is linear in the length of the text.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{CARD, PHONE, compile, replace};

/// What every window looks like from afar: seven digits with little between them.
pub(super) const CANDIDATE: &str = r"[0-9](?:[^0-9A-Za-z]{0,9}[0-9]){6}";

const GROUPS_MAX: usize = 7;
/// Three characters, each of at most three bytes.
const SEPARATOR_BYTES_MAX: usize = 9;
const CARD_DIGITS_MAX: usize = 19;
const PHONE_DIGITS_MAX: usize = 15;
const PHONE_DIGITS_MIN: usize = 7;

/// Dates, times and UUIDs: their digits take no part.
static PROTECTED: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?-u:\b)(?:[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}",
        r"|(?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])",
        r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?",
        r"|(?:0?[1-9]|[12][0-9]|3[01])[./-](?:0?[1-9]|1[0-2])[./-](?:19|20)[0-9]{2})(?-u:\b)",
    ))
});

/// Words after which a number is a phone even without separators; `TEL;TYPE=cell:` is a vCard.
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)(?:(?-u:\b)(?:[a-z0-9]{1,24}[_-]){0,3}(?:(?:tele)?phone(?:[_ -]?number|s)?|mobile|msisdn)",
        r#"|(?-u:\b)tel(?:;[a-z0-9=,;_-]{0,64})?|тел(?:ефон)?|моб)\.?["'\\]{0,4}\s{0,3}[:=№]?\s{0,3}["'\\]{0,4}(?:\+|%2B)?\(?"#,
    ))
});

/// Whether the text under a key that names a phone can be one.
pub(super) fn may_be_phone(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_digit).count() >= PHONE_DIGITS_MIN
}

/// The text without phones and cards, or nothing when there are none.
pub(super) fn redact(text: &str) -> Option<String> {
    let groups = digit_groups(text);
    let labelled: Vec<usize> = LABEL.find_iter(text).map(|label| label.end()).collect();
    let mut next = 0;
    let spans = std::iter::from_fn(|| {
        while next < groups.len() {
            let scan = Scan { text, groups: &groups[next..], labelled: &labelled };
            match scan.card().or_else(|| scan.phone()) {
                Some(FoundNumber::Private { groups, span, marker }) => {
                    next += groups;
                    return Some((span, marker));
                }
                Some(FoundNumber::Money { groups }) => next += groups,
                None => next += 1,
            }
        }
        None
    });
    replace(text, spans)
}

/// The maximal runs of ASCII digits outside what is protected.
fn digit_groups(text: &str) -> Vec<Range<usize>> {
    let mut protected = PROTECTED.find_iter(text).map(|span| span.range()).peekable();
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        while protected.next_if(|span| span.end <= at).is_some() {}
        if !byte.is_ascii_digit() || protected.peek().is_some_and(|span| span.contains(&at)) {
            continue;
        }
        match groups.last_mut() {
            Some(group) if group.end == at => group.end += 1,
            _ => groups.push(at..at + 1),
        }
    }
    groups
}

/// What some of the next groups are.
enum FoundNumber {
    /// The span becomes the marker.
    Private { groups: usize, span: Range<usize>, marker: &'static str },
    /// Stays as it is, and no part of it is taken for anything else.
    Money { groups: usize },
}

/// The windows that begin at the first of the groups.
struct Scan<'t> {
    text: &'t str,
    groups: &'t [Range<usize>],
    labelled: &'t [usize],
}

impl<'t> Scan<'t> {
    /// The windows of at most `digits_max` digits, longest first. Not even one when the first group is longer.
    fn windows(&self, digits_max: usize) -> impl Iterator<Item = Window<'t>> {
        let mut digits = 0;
        let count = self
            .groups
            .iter()
            .enumerate()
            .take(GROUPS_MAX)
            .take_while(|(index, group)| {
                digits += group.len();
                digits <= digits_max && (*index == 0 || is_joiner(&self.text[self.groups[index - 1].end..group.start]))
            })
            .count();
        let (text, groups) = (self.text, self.groups);
        (1..=count).rev().map(move |count| Window { text, groups: &groups[..count] })
    }

    /// A card is worth cutting wherever it stands, except inside a word (a hex id) or a decimal fraction.
    fn card(&self) -> Option<FoundNumber> {
        let is_card = |window: &Window<'_>| {
            window.is_card()
                && !window.touches_word()
                && !window.is_decimal()
                && !self.reaches_into(window, Window::is_russian_with_trunk)
        };
        let window = self.windows(CARD_DIGITS_MAX).find(is_card)?;
        Some(FoundNumber::Private { groups: window.groups.len(), span: window.span(), marker: CARD })
    }

    fn phone(&self) -> Option<FoundNumber> {
        let mut start = self.groups[0].start;
        let window = if let Some(plus) = self.plus() {
            if let Some(money) = self.windows(PHONE_DIGITS_MAX).find(Window::is_money) {
                return Some(FoundNumber::Money { groups: money.groups.len() });
            }
            start -= plus.len();
            self.international()
        } else if self.labelled.binary_search(&start).is_ok() {
            self.labelled_phone()
        } else {
            self.windows(PHONE_DIGITS_MAX).find(Window::is_domestic)
        }?;
        start -= usize::from(window.opens_with_parenthesis());
        Some(FoundNumber::Private { groups: window.groups.len(), span: start..window.span().end, marker: PHONE })
    }

    /// The plus before the first group, unless it belongs to an exponent, as in `1e+300`.
    fn plus(&self) -> Option<&'static str> {
        let before = &self.text[..self.groups[0].start];
        let plus = ["+", "%2B", "%2b"].into_iter().find(|plus| before.ends_with(plus))?;
        let before = &before[..before.len() - plus.len()];
        let is_exponent = before.strip_suffix(['e', 'E']).is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_digit()));
        (!is_exponent).then_some(plus)
    }

    /// After a plus: `+7 (912) 345-67-89`, `+44 20 7946 0958`.
    fn international(&self) -> Option<Window<'t>> {
        let is_phone = |window: &Window<'_>| {
            let digits_min = if window.groups.len() == 1 { 9 } else { 8 };
            window.digits().next() != Some(0) && window.digits().count() >= digits_min && self.is_whole(window)
        };
        let others = self.windows(PHONE_DIGITS_MAX).filter(|window| !window.mixes_dots_with_spaces());
        self.exactly_eleven(b"17").chain(others).find(is_phone)
    }

    /// After a word that announces a phone, a plain number is one too: `тел. 89123456789`.
    fn labelled_phone(&self) -> Option<Window<'t>> {
        let is_phone = |window: &Window<'_>| window.digits().count() >= PHONE_DIGITS_MIN && self.is_whole(window);
        let alone = self.windows(PHONE_DIGITS_MAX).filter(|window| window.groups.len() == 1);
        self.exactly_eleven(b"178").chain(alone).chain(self.windows(PHONE_DIGITS_MAX)).find(is_phone)
    }

    /// Ends where a number ends, and does not reach into the next phone or card.
    fn is_whole(&self, window: &Window<'_>) -> bool {
        !window.next_is_word() && !self.reaches_into(window, |other| other.is_card() || other.is_russian_with_trunk())
    }

    /// Whether another one begins inside the window: half of it would stay behind.
    fn reaches_into(&self, window: &Window<'_>, is_other: fn(&Window<'t>) -> bool) -> bool {
        (1..window.groups.len()).any(|from| {
            let rest = Scan { groups: &self.groups[from..], ..*self };
            rest.windows(CARD_DIGITS_MAX).any(|window| is_other(&window))
        })
    }

    /// Russian and North American numbers have eleven digits: do not take what follows them.
    fn exactly_eleven(&self, first_digits: &'static [u8]) -> impl Iterator<Item = Window<'t>> {
        let is_such = first_digits.contains(&self.text.as_bytes()[self.groups[0].start]);
        self.windows(11).filter(move |window| is_such && window.digits().count() == 11)
    }
}

/// Some groups of digits and the separators between them.
struct Window<'t> {
    text: &'t str,
    groups: &'t [Range<usize>],
}

impl<'t> Window<'t> {
    fn span(&self) -> Range<usize> {
        self.groups[0].start..self.groups[self.groups.len() - 1].end
    }

    fn before(&self) -> &'t str {
        &self.text[..self.span().start]
    }

    fn after(&self) -> &'t str {
        &self.text[self.span().end..]
    }

    fn digits(&self) -> impl DoubleEndedIterator<Item = u8> {
        self.groups.iter().flat_map(|group| self.text[group.clone()].bytes().map(|digit| digit - b'0'))
    }

    fn lengths(&self) -> Vec<usize> {
        self.groups.iter().map(Range::len).collect()
    }

    fn joiners(&self) -> impl Iterator<Item = &'t str> {
        self.groups.windows(2).map(|pair| &self.text[pair[0].end..pair[1].start])
    }

    fn touches_word(&self) -> bool {
        self.before().ends_with(|c: char| c.is_ascii_alphanumeric()) || self.next_is_word()
    }

    fn next_is_word(&self) -> bool {
        self.after().starts_with(|c: char| c.is_ascii_alphanumeric())
    }

    /// Part of a fraction such as `0.5312345678901234`. A marker counts as the digits that it replaced, here and
    /// below: otherwise the second redaction would see a boundary that the first one did not.
    fn is_decimal(&self) -> bool {
        self.before().strip_suffix('.').is_some_and(|rest| rest.ends_with(is_digit_or_marker))
            || self.after().strip_prefix('.').is_some_and(|rest| rest.starts_with(is_digit_or_marker))
    }

    /// A dot, and more behind it: a fraction has no second one. What stands there may become a marker, so it counts as one now.
    fn runs_on(&self) -> bool {
        let is_more = |c: char| c.is_alphanumeric() || matches!(c, '+' | '%' | '(');
        self.after().strip_prefix('.').is_some_and(|rest| rest.starts_with(is_more))
    }

    /// Part of something longer: an article number, a range, a time.
    fn is_continued(&self) -> bool {
        let before = self.before();
        let is_left = before
            .strip_suffix(['-', '.', ':'])
            .is_some_and(|rest| rest.ends_with(is_digit_or_marker) || is_word_and_dash(before));
        is_left || self.after().strip_prefix(['-', '.', ':']).is_some_and(|rest| rest.starts_with(is_digit_or_marker))
    }

    /// `13..=19` digits, alone or in groups as printed on a card, of a range that cards use, with the right check digit.
    fn is_card(&self) -> bool {
        let (last, front) = (self.groups.len() - 1, &self.groups[..self.groups.len() - 1]);
        let digits: Vec<u8> = self.digits().collect();
        (13..=CARD_DIGITS_MAX).contains(&digits.len())
            && (last == 0 || front.iter().all(|group| (4..=8).contains(&group.len())))
            && self.joiners().all(|joiner| matches!(joiner, " " | "-" | "\u{a0}" | "\u{202f}"))
            && matches!(digits[..], [3..=6, ..] | [2, 2..=7, ..])
            && passes_luhn(&digits)
    }

    /// The forms in which people write a phone without its country code, or with a bare one.
    fn is_domestic(&self) -> bool {
        !self.touches_word() && (self.is_russian_with_trunk() || (!self.is_continued() && self.is_local()))
    }

    /// `8 (912) 345-67-89` and its like: eleven digits, the first 7 or 8, then a region. So particular that nothing
    /// around it makes it less of a phone.
    fn is_russian_with_trunk(&self) -> bool {
        let mut digits = self.digits();
        let begins_so = matches!((digits.next(), digits.next()), (Some(7 | 8), Some(3 | 4 | 8 | 9)));
        if !begins_so || digits.count() != 9 {
            return false;
        }
        match self.lengths()[..] {
            [1, 3, 3, 2, 2] | [1, 3, 2, 2, 3] | [1, 3, 2, 3, 2] | [1, 3, 3, 4] | [1, 3, 7] | [4, 3, 2, 2] | [4, 3, 4] => true,
            [1, _, ..] if self.joiners().next().is_some_and(|joiner| joiner.ends_with('(')) => true,
            [1 | 4, _, ..] => self.joiners().all(|joiner| joiner == "-"),
            _ => false,
        }
    }

    /// Without any code of the country; weaker, so nothing may stand close to it.
    fn is_local(&self) -> bool {
        let digits: Vec<u8> = self.digits().collect();
        let any = |separator: char| self.joiners().any(|joiner| joiner.contains(separator));
        let is_plain = |joiner: &str| matches!(joiner, " " | "-" | "\u{a0}" | "\u{202f}");
        match (&self.lengths()[..], &digits[..]) {
            // (495) 123-45-67, (020) 7946 0958
            ([2..=5, ..], _) if self.opens_with_parenthesis() => (9..=12).contains(&digits.len()),
            // 912 345-67-89
            ([3, 3, 2, 2], [3 | 4 | 8 | 9, ..]) => !any('.'),
            // 345-67-89
            ([3, 2, 2], [1..=9, ..]) => self.joiners().all(|joiner| joiner == "-"),
            // 415-555-2671, 1 (415) 555-2671
            ([3, 3, 4], [2..=9, _, _, 2..=9, ..]) | ([1, 3, 3, 4], [1, 2..=9, _, _, 2..=9, ..]) => {
                any('-') || any('.') || any(')')
            }
            // 020 7946 0958
            ([2..=5, 3..=4, 3..=4], [0, 1..=9, ..]) => matches!(digits.len(), 10 | 11) && self.joiners().all(is_plain),
            _ => false,
        }
    }

    fn opens_with_parenthesis(&self) -> bool {
        self.before().ends_with('(') && self.joiners().next().is_some_and(|joiner| joiner.starts_with(')'))
    }

    /// Nobody writes a phone like that; two numbers beside each other look so.
    fn mixes_dots_with_spaces(&self) -> bool {
        self.joiners().any(|joiner| joiner == ".") && self.joiners().any(|joiner| joiner.starts_with(char::is_whitespace))
    }

    /// `+10 000 000`, `+150000.00`, `+1 234 567.89`, `+12 345 678 ₽`: a sum with its sign.
    fn is_money(&self) -> bool {
        let joiners: Vec<&str> = self.joiners().collect();
        let (whole, has_fraction) = match joiners.split_last() {
            Some((last, rest)) if *last == "." && rest.iter().all(|joiner| *joiner != ".") => (rest.len() + 1, true),
            _ => (self.groups.len(), false),
        };
        let is_grouped = self.groups[1..whole].iter().all(|group| group.len() == 3)
            && joiners[..whole - 1].iter().all(|joiner| joiner.chars().all(char::is_whitespace))
            && (whole == 1 || self.groups[0].len() <= 3);
        let is_zero = |group: &Range<usize>| self.text[group.clone()].bytes().all(|digit| digit == b'0');
        let is_round = whole > 2 && self.groups[whole - 2..whole].iter().all(is_zero);
        is_grouped
            && ((has_fraction && !self.is_decimal() && !self.runs_on()) || is_round || (whole > 1 && is_currency(self.after())))
    }
}

fn is_joiner(between: &str) -> bool {
    let is_separator = |c: char| matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '-' | '\u{2011}' | '–' | '(' | ')');
    between == "." || (between.len() <= SEPARATOR_BYTES_MAX && between.chars().all(is_separator))
}

fn is_digit_or_marker(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '[' | ']')
}

fn is_word_and_dash(before: &str) -> bool {
    before.strip_suffix('-').is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_alphanumeric()))
}

fn is_currency(after: &str) -> bool {
    const SIGNS: [&str; 13] = ["₽", "$", "€", "£", "¥", "₸", "руб", "р.", "RUB", "USD", "EUR", "тыс", "млн"];
    let after = after.trim_start();
    // A sign before digits belongs to the sum that follows.
    SIGNS.iter().filter_map(|sign| after.strip_prefix(sign)).any(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The check digit of payment cards: from the right, every second digit counts twice.
fn passes_luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, u32::from(*digit)) {
            (0, digit) => digit,
            (_, digit) if digit > 4 => digit * 2 - 9,
            (_, digit) => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}
