//! Snapshots: the archive, and what its restore does (operator.md 6).

use serde_json::json;

use crate::case::Case;
use crate::case::feature::Feature;
use crate::case::trial::Trial;
use crate::case::version::Version;
use crate::wire::Request;

const SNAPSHOT: &str = "/v1/snapshot";

/// A case on a server of its own, whose whole state it replaces.
const OWN: Case = Case {
    needs: &[Feature::OwnServer],
    ..Case::SHOULD
};

/// Takes a snapshot. No two are the same bytes.
fn taken(t: &Trial) -> Vec<u8> {
    t.not_compared("an archive has times and ids of its server");
    let answer = t.api_get(SNAPSHOT).status_is(200);
    let answer = answer.header_is("Content-Type", "application/x-gzip");
    answer.body().to_vec()
}

/// An archive is refused, and the keys stay as they are.
fn refused(t: &Trial, archive: impl AsRef<[u8]>, text: &str) {
    let before = t.api_get("/v1/kv/?keys").text();
    t.api_put(SNAPSHOT, archive).is(500, text);
    t.same("the keys", t.api_get("/v1/kv/?keys").text(), before);
}

/// The cases of this topic.
pub(in crate::cases) const CASES: &[Case] = &[
    Case {
        id: "snapshot/archive/is-gzip",
        claim: "A snapshot is a gzip file with the headers of a read, whatever consistency, namespace or index is asked for",
        source: "operator.md 6.r1, 6.r2",
        run: |t| {
            for query in [
                "",
                "?stale",
                "?ns=x",
                "?consistent",
                "?index=99999",
                "?index=x",
            ] {
                t.not_compared("an archive has times and ids of its server");
                let answer = t.api_get(&format!("{SNAPSHOT}{query}")).status_is(200);
                let answer = answer
                    .header_is("Content-Type", "application/x-gzip")
                    .header_is("X-Consul-Knownleader", "true")
                    .header_is("X-Consul-Lastcontact", "0")
                    .has_header("X-Consul-Index");
                let magic = answer.body().starts_with(&[0x1f, 0x8b, 8]);
                t.check(magic, "the body does not begin as gzip does");
            }
        },
        ..OWN
    },
    Case {
        id: "snapshot/archive/other-datacenter",
        claim: "The snapshot of another datacenter is neither given nor taken",
        source: "operator.md 6.r2",
        run: |t| {
            let other = format!("{SNAPSHOT}?dc=nope");
            t.api_get(&other).is(500, "No path to datacenter");
            t.api_put(&other, "x").is(500, "No path to datacenter");
        },
        ..OWN
    },
    Case {
        id: "snapshot/archive/methods",
        claim: "Other methods than GET and PUT are 405",
        source: "operator.md 6.r3",
        run: |t| {
            for method in ["POST", "DELETE", "HEAD"] {
                let answer = t.send(&Request::new(method, SNAPSHOT)).status_is(405);
                answer.header_is("Allow", "OPTIONS,GET,PUT");
            }
        },
        ..OWN
    },
    Case {
        id: "snapshot/restore/refused",
        claim: "What is no archive is refused with the step that failed, and changes nothing",
        source: "operator.md 6.r5, 6.r13",
        run: |t| {
            let key = t.key("kept");
            t.put(&key, "", "1").is(200, "true");
            let archive = taken(t);
            let opening = "failed to decompress snapshot";
            refused(t, "", &format!("{opening}: EOF"));
            refused(t, "garbage", &format!("{opening}: unexpected EOF"));
            refused(t, "garbage123", &format!("{opening}: gzip: invalid header"));
            let reading = "failed to read snapshot file: failed reading snapshot";
            refused(t, &archive[..15], &format!("{reading}: unexpected EOF"));
            let cut = archive.len() - 4;
            refused(t, &archive[..cut], "unexpected EOF");
            let garbage = [&archive[..], &b"garbage"[..]].concat();
            refused(t, garbage, "unexpected EOF");
            let mut corrupt = archive.clone();
            corrupt[archive.len() - 8] ^= 1;
            refused(t, &corrupt, "gzip: invalid checksum");
            corrupt = archive;
            corrupt[10] = 7;
            let text = format!("{reading}: flate: corrupt input before offset 1");
            refused(t, &corrupt, &text);
        },
        ..OWN
    },
    Case {
        id: "snapshot/restore/stale",
        claim: "Only the leader restores: stale is refused before the archive is looked at, and behind the datacenter",
        source: "operator.md 6.r2b",
        run: |t| {
            for query in ["?stale", "?consistent&stale", "?stale="] {
                t.api_put(&format!("{SNAPSHOT}{query}"), "x")
                    .is(500, "stale not allowed for restore");
            }
            t.api_put(&format!("{SNAPSHOT}?stale&dc=nope"), "x")
                .is(500, "No path to datacenter");
        },
        ..OWN
    },
    Case {
        id: "snapshot/restore/has-no-content-type",
        claim: "A restore is answered with nothing",
        source: "operator.md 6.r4",
        until: Some(Version::V1_20),
        run: |t| {
            let archive = taken(t);
            let answer = t.api_put(SNAPSHOT, archive).is(200, "");
            answer.has_no_header("Content-Type");
        },
        ..OWN
    },
    Case {
        id: "snapshot/restore/is-called-binary",
        claim: "A restore is answered with nothing, which is called binary",
        source: "operator.md 6.r4; 1.22.md A6.7.r3",
        since: Version::V1_22,
        run: |t| {
            let archive = taken(t);
            let answer = t.api_put(SNAPSHOT, archive).is(200, "");
            answer.header_is("Content-Type", "application/octet-stream");
        },
        ..OWN
    },
    Case {
        id: "snapshot/restore/indexes-fall-back",
        claim: "A restore brings back keys and all indexes; the next write has an index behind all others",
        source: "operator.md 6.r6, 6.r7; kv.md 4.3.r4",
        run: |t| {
            let (key, later) = (t.key("a/b"), t.key("a/c"));
            let folder = t.key("a/");
            t.put(&key, "", "old").is(200, "true");
            let before = t.get(&key, "").entry();
            let archive = taken(t);
            t.put(&key, "", "new").is(200, "true");
            t.put(&later, "", "").is(200, "true");
            let last = t.get(&later, "").index();
            t.api_put(SNAPSHOT, archive).is(200, "");
            t.get(&key, "").entry().is_unchanged_since(&before);
            let index = t.get(&folder, "recurse").index();
            t.same("the index of the folder", index, before.modify_index);
            t.get(&later, "").status_is(404);
            t.put(&later, "", "").is(200, "true");
            t.grew("the index", last, t.get(&later, "").index());
        },
        ..OWN
    },
    Case {
        id: "snapshot/restore/answers-blocked-reads",
        claim: "Every blocked read is answered at once with what it had read before the restore, and its index",
        source: "operator.md 6.r8",
        run: |t| {
            let key = t.key("a");
            t.put(&key, "", "old").is(200, "true");
            let archive = taken(t);
            t.put(&key, "", "new").is(200, "true");
            let before = t.get(&key, "").index();
            let paths = [
                format!("/v1/kv/{key}"),
                "/v1/session/list".to_owned(),
                "/v1/catalog/nodes".to_owned(),
            ];
            let ahead = |path: &String| Request::get(&format!("{path}?index=99999&wait=60s"));
            let waiting = t.start_all(&paths.each_ref().map(ahead));
            t.api_put(SNAPSHOT, archive).is(200, "");
            let mut answers = waiting.into_iter().map(|read| read.answer().status_is(200));
            let read = answers.next().map(|answer| answer.index());
            t.same("the index of the key", read, Some(before));
            t.check(
                answers.all(|answer| answer.index() < 99999),
                "an index is ahead",
            );
        },
        ..OWN
    },
    Case {
        id: "snapshot/restore/answers-blocked-reads-of-every-kind",
        claim: "Blocked reads of keys, prefixes, missing keys, sessions, nodes and entries are answered with the index that they had",
        source: "operator.md 6.r8",
        run: |t| {
            let key = t.key("a");
            t.put(&key, "", "old").is(200, "true");
            let archive = taken(t);
            t.put(&key, "", "new").is(200, "true");
            t.put(&t.key("b"), "", "later").is(200, "true");
            t.session_without_delay();
            let paths = [
                format!("/v1/kv/{key}"),
                format!("/v1/kv/{}", t.key("b")),
                format!("/v1/kv/{}", t.key("missing")),
                format!("/v1/kv/{}?recurse", t.key("")),
                format!("/v1/kv/{}?keys", t.key("")),
                "/v1/session/list".to_owned(),
                "/v1/catalog/nodes".to_owned(),
                "/v1/config/service-defaults".to_owned(),
            ];
            let before = paths.each_ref().map(|path| t.api_get(path).index());
            let waits = |(path, index): (&String, &u64)| {
                let joint = if path.contains('?') { '&' } else { '?' };
                Request::get(&format!("{path}{joint}index={index}&wait=60s"))
            };
            let waiting: Vec<_> = paths.iter().zip(&before).map(waits).collect();
            let waiting = t.start_all(&waiting);
            t.api_put(SNAPSHOT, archive).is(200, "");
            let answers = waiting.into_iter().map(|read| read.answer().index());
            let answers: Vec<_> = answers.collect();
            t.same("the indexes", answers, before.to_vec());
        },
        ..OWN
    },
    Case {
        id: "snapshot/restore/streams-go-on",
        claim: "A read that is answered from a stream waits on while a snapshot is restored, for news of the new state",
        source: "operator.md 6.r8",
        since: Version::V1_22,
        needs: &[Feature::OwnServer, Feature::Registration],
        run: |t| {
            let service = t.node("service");
            let archive = taken(t);
            let path = format!("/v1/health/service/{service}");
            let node = t.register_node("node");
            let body =
                json!({"Node": node, "Address": "10.0.0.1", "Service": {"Service": service}});
            t.register(&body);
            let index = t.api_get(&path).index();
            let waiting = t.start(&Request::get(&format!("{path}?index={index}&wait=60s")));
            t.still_blocked(&waiting);
            t.api_put(SNAPSHOT, archive).is(200, "");
            t.still_blocked(&waiting);
            t.register(&body);
            t.grew("the index", index, waiting.answer().index());
        },
        ..Case::SHOULD
    },
    Case {
        id: "snapshot/restore/sessions-and-lock-delays",
        claim: "Later sessions are gone, earlier ones are back and hold their keys; lock-delays are forgotten",
        source: "operator.md 6.r9, 6.r10; session.md 3.1.r8, 3.3.r4",
        run: |t| {
            let (held, free) = (t.key("held"), t.key("free"));
            let earlier = t.session(r#"{"LockDelay":"60s"}"#);
            t.put(&held, &format!("acquire={earlier}"), "")
                .is(200, "true");
            let archive = taken(t);
            let later = t.session(r#"{"LockDelay":"60s"}"#);
            t.put(&free, &format!("acquire={later}"), "")
                .is(200, "true");
            t.destroy(&later);
            t.destroy(&earlier);
            let later = t.session("{}");
            t.put(&free, &format!("acquire={later}"), "")
                .is(200, "false");
            t.api_put(SNAPSHOT, archive).is(200, "");
            t.api_get(&format!("/v1/session/info/{later}"))
                .is(200, "[]");
            let answer = t.get(&held, "");
            answer.field_is("/0/Session", earlier.as_str());
            t.put(&held, &format!("release={earlier}"), "")
                .is(200, "true");
            t.put(&held, &format!("acquire={earlier}"), "")
                .is(200, "true");
            t.put(&free, &format!("acquire={earlier}"), "")
                .is(200, "true");
        },
        ..OWN
    },
    Case {
        id: "snapshot/restore/own-services-stay",
        claim: "The agent keeps its own services, also those that the catalog no longer has",
        source: "operator.md 6.r11",
        run: |t| {
            let archive = taken(t);
            let name = t.agent_service("web");
            let body = json!({"Name": name}).to_string();
            t.api_put("/v1/agent/service/register", body).is(200, "");
            t.api_put(SNAPSHOT, archive).is(200, "");
            let services = t.api_get("/v1/agent/services").status_is(200);
            t.check(services.text().contains(&name), "the service is gone");
        },
        ..OWN
    },
];
