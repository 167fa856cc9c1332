//! The table is in order, and says of releases what is known of them.

use super::*;
use std::collections::BTreeSet;

/// Every patch of every emulated line that a threshold could fall between.
fn versions() -> impl Iterator<Item = Version> {
    let lines = (7..=23).map(|minor| (1, minor)).chain([(2, 0), (2, 1)]);
    lines.flat_map(|(major, minor)| (0..=20).map(move |patch| Version::new(major, minor, patch)))
}

#[test]
fn each_variant_finds_its_own_row() {
    for row in Behaviour::TABLE {
        assert_eq!(row.behaviour.row().id, row.id);
    }
}

#[test]
fn ids_are_unique_and_have_an_area() {
    let ids: BTreeSet<_> = Behaviour::TABLE.iter().map(|row| row.id).collect();
    assert_eq!(ids.len(), Behaviour::TABLE.len());
    for row in Behaviour::TABLE {
        assert!(row.id.contains('.'), "{} has no area", row.id);
        assert!(!row.evidence.is_empty(), "{} has no evidence", row.id);
    }
}

#[test]
fn one_entry_lasts_onward_and_what_ends_ends_after_it_began() {
    for row in Behaviour::TABLE {
        let lasting: Vec<Version> = row
            .since
            .iter()
            .filter_map(|since| match since {
                Since::Onward(first) => Some(*first),
                Since::Line(_) | Since::Only(_) => None,
            })
            .collect();
        let [first] = lasting[..] else {
            panic!("{} has {} lasting entries", row.id, lasting.len())
        };
        assert!(
            row.until.is_none_or(|until| first < until),
            "{} ends before it begins",
            row.id
        );
    }
}

#[test]
fn what_has_no_end_is_never_lost_within_a_release_line() {
    for row in Behaviour::TABLE.iter().filter(|row| row.until.is_none()) {
        for version in versions() {
            let next = Version::new(version.major, version.minor, version.patch + 1);
            // Debian's build of 1.8.7 has what upstream's 1.8.8 lacks.
            let patched = row.since.contains(&Since::Only(version));
            assert!(
                patched || !version.has(row.behaviour) || next.has(row.behaviour),
                "{} is lost after {version}",
                row.id
            );
        }
    }
}

#[test]
fn every_row_makes_a_difference_between_emulated_versions() {
    for row in Behaviour::TABLE {
        assert!(
            versions().any(|version| version.has(row.behaviour)),
            "{} holds in no version",
            row.id
        );
        assert!(
            versions().any(|version| !version.has(row.behaviour)),
            "{} always holds",
            row.id
        );
    }
}

#[test]
fn debians_1_8_7_has_the_raw_headers_and_its_neighbours_have_not() {
    let has = |patch| Version::new(1, 8, patch).has(Behaviour::KvRawHeaders);
    assert_eq!(
        [6, 7, 8, 9, 10, 11].map(has),
        [false, true, false, false, true, true]
    );
    assert!(!Version::new(1, 9, 4).has(Behaviour::KvRawHeaders));
    assert!(Version::new(1, 9, 5).has(Behaviour::KvRawHeaders));
}

#[test]
fn a_backport_holds_in_its_line_only() {
    let has = |minor, patch| Version::new(1, minor, patch).has(Behaviour::KvMissingKeyBlocks);
    assert!(!has(10, 8) && has(10, 9));
    assert!(!has(11, 0) && !has(11, 3) && has(11, 4));
    assert!(has(12, 0) && has(22, 0));
}

#[test]
fn what_was_taken_back_is_gone_again() {
    assert!(!Version::new(1, 21, 4).has(Behaviour::KvKeyPattern));
    assert!(Version::V1_21_5.has(Behaviour::KvKeyPattern));
    assert!(!Version::V1_22_0.has(Behaviour::KvKeyPattern));
    assert!(Version::new(1, 12, 2).has(Behaviour::KvPathDecodedTwice));
    assert!(!Version::new(1, 12, 3).has(Behaviour::KvPathDecodedTwice));
}

#[test]
fn the_profiles_are_those_of_the_contract() {
    use Behaviour::{
        HttpEmptyContentType, HttpEmptyContentTypeJson, HttpGzipMinimum, HttpMuxEscaped,
        HttpPrettyNewlineOnRequest, KvKeyRules, KvPathClean, KvRawHeaders, LogRunningLine,
        TxnLimit128,
    };
    let spots = [
        (KvRawHeaders, [true, true, true, true, true]),
        (HttpGzipMinimum, [false, true, true, true, true]),
        (LogRunningLine, [false, true, true, true, true]),
        (TxnLimit128, [false, true, true, true, true]),
        (HttpPrettyNewlineOnRequest, [false, false, true, true, true]),
        (HttpMuxEscaped, [false, false, true, true, true]),
        (HttpEmptyContentType, [false, false, true, true, true]),
        (HttpEmptyContentTypeJson, [false, false, false, true, true]),
        (KvPathClean, [false, false, false, true, true]),
        (KvKeyRules, [false, false, false, false, true]),
    ];
    for (behaviour, expected) in spots {
        assert_eq!(
            Version::PROFILES.map(|version| version.has(behaviour)),
            expected,
            "{behaviour:?}"
        );
    }
}
