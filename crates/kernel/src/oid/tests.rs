use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

const HEX: &str = "698c6bc84d8af0e866f832e3";

fn id(hex: &str) -> ObjectId {
    ObjectId::parse_hex(hex).expect("a valid id")
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a valid time")
}

#[test]
fn the_vectors_of_the_fact_sheet_read_back() {
    let vectors = [
        (HEX, "2026-02-11T11:45:12Z", "4d8af0e866", 16_265_955),
        ("698c6c494d8af0e866f832e5", "2026-02-11T11:47:21Z", "4d8af0e866", 16_265_957),
        ("6863eab6a6d7b324e2df310a", "2025-07-01T14:03:34Z", "a6d7b324e2", 14_627_082),
        ("6729d23834e1aad47395f941", "2024-11-05T08:07:20Z", "34e1aad473", 9_828_673),
    ];
    for (hex, created, random, counter) in vectors {
        let id = id(hex);
        assert_eq!(id.to_string(), hex);
        assert_eq!(id.created_at(), at(created));
        assert_eq!(hex::encode(&id.as_bytes()[4..9]), random);
        let [.., x, y, z] = *id.as_bytes();
        assert_eq!(u32::from_be_bytes([0, x, y, z]), counter);
    }
}

#[test]
fn seconds_are_unsigned_until_2106() {
    let boundaries = [
        ("00000000", "1970-01-01T00:00:00Z"),
        ("7fffffff", "2038-01-19T03:14:07Z"),
        ("80000000", "2038-01-19T03:14:08Z"),
        ("ffffffff", "2106-02-07T06:28:15Z"),
    ];
    for (seconds, created) in boundaries {
        assert_eq!(id(&format!("{seconds}{:016}", 0)).created_at(), at(created));
    }
}

#[test]
fn a_bare_id_is_read_in_either_case_and_written_in_lower_case() {
    assert_eq!(id(&HEX.to_uppercase()).to_string(), HEX);
    assert_eq!(HEX.to_uppercase().parse(), Ok(id(HEX)));
}

#[test]
fn a_bare_id_has_exactly_24_hex_digits() {
    let refused = [
        ("", "expected exactly 24 hex digits, found 0 characters"),
        (&HEX[1..], "expected exactly 24 hex digits, found 23 characters"),
        ("698c6bc84d8af0e866f832e30", "expected exactly 24 hex digits, found 25 characters"),
        ("twelve bytes", "expected exactly 24 hex digits, found 12 characters"),
        (" 98c6bc84d8af0e866f832e3", "expected a hex digit at index 0, found ' '"),
        ("698c6bc84d8af0e866f832eg", "expected a hex digit at index 23, found 'g'"),
        ("+98c6bc84d8af0e866f832e3", "expected a hex digit at index 0, found '+'"),
        ("698c6bc84d8af0e8ё6f832e3", "expected a hex digit at index 16, found 'ё'"),
        ("698c6bc84d8af0e866f832e٣", "expected a hex digit at index 23, found '٣'"),
    ];
    for (text, message) in refused {
        assert_eq!(ObjectId::parse_hex(text).expect_err(text).to_string(), message);
    }
}

#[test]
fn ids_order_by_creation_second() {
    let generator = ObjectIdGenerator::new([0xFF; 5], COUNTER_MASK);
    let earlier = generator.generate(at("2026-02-11T11:45:12Z"));
    let later = generator.generate(at("2026-02-11T11:45:13Z"));
    assert!(earlier < later);
}

#[test]
fn a_generated_id_carries_the_second_the_process_and_the_counter() {
    let generator = ObjectIdGenerator::new([0x4d, 0x8a, 0xf0, 0xe8, 0x66], 16_265_955);
    assert_eq!(generator.generate(at("2026-02-11T11:45:12.999Z")), id(HEX));
    assert_eq!(generator.generate(at("2026-02-11T11:45:12Z")), id("698c6bc84d8af0e866f832e4"));
}

#[test]
fn the_counter_wraps_after_24_bits_and_leaves_the_process_bytes_alone() {
    for start in [COUNTER_MASK, u32::MAX] {
        let generator = ObjectIdGenerator::new([1, 2, 3, 4, 5], start);
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(generator.generate(now), id("000000000102030405ffffff"));
        assert_eq!(generator.generate(now), id("000000000102030405000000"));
    }
}

#[test]
fn a_time_outside_the_format_becomes_the_nearest_second_it_holds() {
    let generator = ObjectIdGenerator::new([0; 5], 0);
    assert_eq!(generator.generate(Timestamp::MIN).created_at(), Timestamp::UNIX_EPOCH);
    assert_eq!(generator.generate(Timestamp::MAX).created_at(), at("2106-02-07T06:28:15Z"));
}

#[test]
fn threads_that_share_a_generator_never_get_the_same_id() {
    let generator = ObjectIdGenerator::from_rng(&mut rand::rng());
    let made: Vec<ObjectId> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| (0..1000).map(|_| generator.generate(Timestamp::UNIX_EPOCH)).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("the thread ends")).collect()
    });
    assert_eq!(made.iter().collect::<HashSet<_>>().len(), 8000);
}

#[test]
fn the_registry_has_exactly_the_prefixes_of_the_voice_specification() {
    let registered: Vec<&str> = Prefix::ALL.iter().map(|prefix| prefix.as_str()).collect();
    assert_eq!(registered, ["se", "msg", "ch", "evt", "usr", "prj", "ntf", "wh", "run"]);
}

#[test]
fn prefixes_are_well_formed_and_none_begins_another() {
    for prefix in Prefix::ALL {
        let text = prefix.as_str();
        assert!((2..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase()), "{text}");
        assert!(!prefix.noun().is_empty());
        for other in Prefix::ALL.iter().filter(|other| *other != prefix) {
            assert!(!other.as_str().starts_with(text), "{text} begins {other}");
            assert_ne!(other.noun(), prefix.noun());
        }
    }
}

#[test]
fn the_examples_of_the_voice_specification_read_back() {
    let examples = [
        (Prefix::Session, "se_698c6bc84d8af0e866f832e3"),
        (Prefix::Message, "msg_698c6c494d8af0e866f832e5"),
        (Prefix::User, "usr_6863eab6a6d7b324e2df310a"),
        (Prefix::Project, "prj_6729d23834e1aad47395f941"),
    ];
    for (prefix, text) in examples {
        let oid = Oid::parse_as(text, prefix).expect("a valid oid");
        assert_eq!(oid, Oid::new(prefix, id(&text[text.len() - 24..])));
        assert_eq!(oid.to_string(), text);
    }
}

#[test]
fn every_refusal_says_what_was_expected() {
    let refused = [
        ("", "expected `<prefix>_<24 hex digits>`, found no `_`"),
        (HEX, "expected `<prefix>_<24 hex digits>`, found no `_`"),
        ("se-698c6bc84d8af0e866f832e3", "expected `<prefix>_<24 hex digits>`, found no `_`"),
        ("se_", "expected exactly 24 hex digits, found 0 characters"),
        ("se__698c6bc84d8af0e866f832e3", "expected exactly 24 hex digits, found 25 characters"),
        ("se_698c6bc84d8af0e866f832e3 ", "expected exactly 24 hex digits, found 25 characters"),
        ("se_698c6bc84d8af0e866f832ez", "expected a hex digit at index 26, found 'z'"),
        ("msg_x98c6bc84d8af0e866f832e3", "expected a hex digit at index 4, found 'x'"),
        ("se_698C6bc84d8af0e866f832e3", "an oid is written in lower case: found 'C' at index 6"),
        ("mSg_698c6bc84d8af0e866f832e3", "an oid is written in lower case: found 'S' at index 1"),
        ("_698c6bc84d8af0e866f832e3", "unknown prefix \"\"; the nearest known one is `se_` (session)"),
        (" se_698c6bc84d8af0e866f832e3", "unknown prefix \" se\"; the nearest known one is `se_` (session)"),
        ("user_698c6bc84d8af0e866f832e3", "unknown prefix \"user\"; the nearest known one is `usr_` (user)"),
        ("mgs_698c6bc84d8af0e866f832e3", "unknown prefix \"mgs\"; the nearest known one is `msg_` (message)"),
        ("EVENT_698c6bc84d8af0e866f832e3", "unknown prefix \"EVENT\"; the nearest known one is `evt_` (event log entry)"),
    ];
    for (text, message) in refused {
        assert_eq!(Oid::parse(text).expect_err(text).to_string(), message, "{text}");
    }
}

#[test]
fn an_oid_of_another_kind_is_refused_and_both_kinds_are_named() {
    let refused = Oid::parse_as("msg_698c6c494d8af0e866f832e5", Prefix::Session);
    assert_eq!(refused, Err(OidError::WrongPrefix { expected: Prefix::Session, found: Prefix::Message }));
    assert_eq!(
        refused.expect_err("another kind").to_string(),
        "expected an oid of the kind `se_` (session), found `msg_` (message)"
    );
}

#[test]
fn a_hostile_prefix_is_cut_in_the_error() {
    let Err(OidError::UnknownPrefix { found, .. }) = Oid::parse(&format!("{}_", "я".repeat(1 << 20))) else {
        panic!("the prefix is unknown");
    };
    assert_eq!(found, "я".repeat(16));
}

#[test]
fn an_oid_is_a_string_in_json() {
    let oid = Oid::new(Prefix::Segment, id(HEX));
    let json = serde_json::to_string(&oid).unwrap();
    assert_eq!(json, "\"ch_698c6bc84d8af0e866f832e3\"");
    assert_eq!(serde_json::from_str::<Oid>(&json).unwrap(), oid);
    let refused = serde_json::from_str::<Oid>("\"ch_698c\"").unwrap_err().to_string();
    assert!(refused.contains("expected exactly 24 hex digits, found 4 characters"), "{refused}");
    assert!(serde_json::from_str::<Oid>("17").is_err());
}

fn any_oid() -> impl Strategy<Value = Oid> {
    (prop::sample::select(Prefix::ALL), any::<[u8; 12]>())
        .prop_map(|(prefix, bytes)| Oid::new(prefix, ObjectId::from_bytes(bytes)))
}

proptest! {
    #[test]
    fn an_oid_survives_its_text_form(oid in any_oid()) {
        prop_assert_eq!(Oid::parse(&oid.to_string()), Ok(oid));
        prop_assert_eq!(Oid::parse_as(&oid.to_string(), oid.prefix), Ok(oid));
        prop_assert_eq!(ObjectId::parse_hex(&oid.id.to_string()), Ok(oid.id));
        prop_assert_eq!(ObjectId::parse_hex(&oid.id.to_string().to_uppercase()), Ok(oid.id));
    }

    #[test]
    fn an_oid_has_one_text_form_only(text in any::<String>(), oid in any_oid(), cut in 0..40_usize) {
        // Random text, and random text spliced into a valid oid: whatever parses prints back as itself.
        let mut spliced: String = oid.to_string().chars().take(cut).collect();
        spliced.push_str(&text);
        for text in [text, spliced] {
            if let Ok(read) = Oid::parse(&text) {
                prop_assert_eq!(read.to_string(), text);
            }
        }
    }

    #[test]
    fn a_single_wrong_character_is_refused_or_names_something_else(
        oid in any_oid(), index in any::<prop::sample::Index>(),
        wrong in prop_oneof![any::<char>(), prop::char::range('0', 'z')],
    ) {
        let mut text: Vec<char> = oid.to_string().chars().collect();
        let index = index.index(text.len());
        prop_assume!(text[index] != wrong);
        text[index] = wrong;
        prop_assert_ne!(Oid::parse(&text.iter().collect::<String>()), Ok(oid));
    }

    #[test]
    fn a_generated_id_tells_its_second(second in 0..=i64::from(u32::MAX), process: [u8; 5], start: u32) {
        let now = Timestamp::from_second(second).unwrap();
        let generator = ObjectIdGenerator::new(process, start);
        let (first, second) = (generator.generate(now), generator.generate(now));
        prop_assert_eq!(first.created_at(), now);
        prop_assert_eq!(&first.as_bytes()[4..9], &process);
        prop_assert_ne!(first, second);
    }
}
