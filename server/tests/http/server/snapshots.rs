//! Snapshots: what a restore does, and archives that are refused.

use std::io::{Read, Write};
use std::time::Duration;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use proconsul::Version;

use crate::support::Consul;

/// How many changed archives of each kind have to be refused.
fn wanted() -> usize {
    let told = std::env::var("PROCONSUL_SNAPSHOT_ARCHIVES");
    told.map_or(300, |told| told.parse().expect("it is a number"))
}

fn snapshot(consul: &Consul) -> Vec<u8> {
    let answer = consul.get("/v1/snapshot");
    assert_eq!(answer.code(), 200);
    assert_eq!(answer.header("Content-Type"), Some("application/x-gzip"));
    answer.body
}

fn value(consul: &Consul, key: &str) -> String {
    consul.get(&format!("/v1/kv/{key}?raw")).text().to_owned()
}

#[test]
fn a_restore_brings_back_the_indexes_and_the_log_goes_on() {
    for version in [Version::V1_8_7, Version::V1_22_0] {
        let consul = Consul::frozen(version);
        consul.put("/v1/kv/a/b", "old");
        let kept = snapshot(&consul);
        let index = |target: &str| {
            consul
                .get(target)
                .header("X-Consul-Index")
                .map(str::to_owned)
        };
        let targets = [
            "/v1/kv/a/b",
            "/v1/kv/a/?recurse",
            "/v1/kv/none",
            "/v1/session/list",
        ];
        let before = targets.map(index);
        for key in ["a/b", "a/c", "d"] {
            consul.put(&format!("/v1/kv/{key}"), "new");
        }
        let log: u64 = index("/v1/snapshot").map_or(0, |index| index.parse().unwrap_or(0));
        let restored = consul.put("/v1/snapshot", &kept);
        restored.is(200, "");
        let kind = (version == Version::V1_22_0).then_some("application/octet-stream");
        assert_eq!(restored.header("Content-Type"), kind);
        assert_eq!(targets.map(index), before);
        assert_eq!(
            (value(&consul, "a/b"), value(&consul, "d")),
            ("old".into(), String::new())
        );
        assert_eq!(index("/v1/snapshot"), Some((log + 3).to_string()));
        consul.put("/v1/kv/d", "");
        assert_eq!(index("/v1/kv/d"), Some((log + 4).to_string()));
    }
}

#[test]
fn blocked_readers_are_answered_with_what_they_had_read() {
    let consul = Consul::frozen(Version::V1_8_7);
    consul.put("/v1/kv/a", "old");
    let kept = snapshot(&consul);
    consul.put("/v1/kv/a", "new");
    let mut readers = ["kv/a", "kv/?recurse", "session/list", "catalog/nodes"]
        .map(|path| consul.block(&format!("/v1/{path}{}index=9999", mark(path))));
    consul.put("/v1/snapshot", &kept).is(200, "");
    let answers = readers.each_mut().map(|reader| reader.answer());
    for answer in &answers {
        assert_eq!(answer.code(), 200);
        assert!(answer.index() < 9999);
    }
    let [key, ..] = answers;
    assert!(key.text().contains("bmV3"), "{}", key.text());
}

fn mark(path: &str) -> char {
    if path.contains('?') { '&' } else { '?' }
}

#[test]
fn sessions_come_back_with_whole_ttls_and_without_lock_delays() {
    let consul = Consul::frozen(Version::V1_8_7);
    let made = consul.put("/v1/session/create", r#"{"TTL":"10s"}"#);
    let id = made.text().split('"').nth(3).unwrap_or_default().to_owned();
    consul
        .put(&format!("/v1/kv/held?acquire={id}"), "")
        .is(200, "true");
    let kept = snapshot(&consul);
    consul.server().advance(Duration::from_secs(15));
    consul
        .put(&format!("/v1/session/destroy/{id}"), "")
        .is(200, "true");
    let other = consul.put("/v1/session/create", "{}");
    let other = other
        .text()
        .split('"')
        .nth(3)
        .unwrap_or_default()
        .to_owned();
    consul
        .put(&format!("/v1/kv/held?acquire={other}"), "")
        .is(200, "false");
    consul.put("/v1/snapshot", &kept).is(200, "");
    consul
        .get(&format!("/v1/session/info/{other}"))
        .is(200, "[]");
    consul.server().advance(Duration::from_secs(19));
    assert!(consul.get("/v1/kv/held").text().contains(&id));
    consul.server().advance(Duration::from_secs(2));
    assert!(!consul.get("/v1/kv/held").text().contains(&id));
}

#[test]
fn the_agent_keeps_its_own_services() {
    let consul = Consul::frozen(Version::V1_8_7);
    let kept = snapshot(&consul);
    consul
        .put("/v1/agent/service/register", r#"{"Name":"web"}"#)
        .is(200, "");
    consul.put("/v1/snapshot", &kept).is(200, "");
    assert!(consul.get("/v1/agent/services").text().contains("web"));
    assert_eq!(consul.get("/v1/catalog/service/web").text(), "[]");
    consul.server().advance(Duration::from_secs(180));
    assert!(consul.get("/v1/catalog/service/web").text().contains("web"));
}

#[test]
fn another_server_of_the_same_release_takes_it() {
    let consul = Consul::frozen(Version::V1_8_7);
    consul.put("/v1/kv/a", "1");
    let kept = snapshot(&consul);
    let other = Consul::frozen_with(|config| {
        config.version = Version::V1_8_7;
        config.node_name = "other".to_owned();
    });
    other.put("/v1/snapshot", &kept).is(200, "");
    assert_eq!(value(&other, "a"), "1");
    other.server().advance(Duration::from_secs(180));
    assert!(other.get("/v1/catalog/nodes").text().contains("\"other\""));
    assert_eq!(other.put("/v1/session/create", "{}").code(), 200);
    let newer = Consul::v1_22();
    let refused = newer.put("/v1/snapshot", &kept);
    assert_eq!(refused.code(), 500);
    let words = "the state is of a server with version 1.8.7, expected 1.22.0 as this one has";
    assert!(refused.text().ends_with(words), "{}", refused.text());
}

fn changed(random: &mut fastrand::Rng, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(0..bytes.len());
        match random.u8(0..6) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes.insert(at, random.u8(..)),
            2 => drop(bytes.remove(at)),
            3 => {
                let end = (at + random.usize(1..600)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = random.usize(0..bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => bytes[at] ^= 1 << random.u32(0..8),
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

fn zipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// Few changes are without effect: the time in a header, what fills a block. Then all of the snapshot is restored.
#[test]
fn changed_archives_are_refused_and_change_nothing() {
    let consul = Consul::frozen(Version::V1_8_7);
    consul.put("/v1/kv/mark", "old");
    let kept = snapshot(&consul);
    let mut plain = Vec::new();
    let unzipped = GzDecoder::new(kept.as_slice()).read_to_end(&mut plain);
    unzipped.expect("it is an archive");
    let mut random = fastrand::Rng::with_seed(14);
    for is_inside in [false, true] {
        consul.put("/v1/kv/mark", "new");
        let mut before = consul.server().dump();
        let mut refused = 0;
        while refused < wanted() {
            let archive = match is_inside {
                true => zipped(&changed(&mut random, &plain)),
                false => changed(&mut random, &kept),
            };
            let answer = consul.put("/v1/snapshot", &archive);
            if answer.code() == 500 {
                refused += 1;
                assert!(consul.server().dump() == before, "{}", answer.text());
            } else {
                answer.is(200, "");
                assert_eq!(value(&consul, "mark"), "old");
                consul.put("/v1/kv/mark", "new");
                before = consul.server().dump();
            }
        }
    }
}
