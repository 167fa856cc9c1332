//! Texts that repeat in quotes what they were given: as Go's `%q` of the release prints them (seen on 1.8.7).

use proconsul::Version;

use crate::support::Consul;

/// A character in a path, and in a JSON text; how the Go of 1.8.7 quotes it, and how that of 1.22 does.
const CHARACTERS: [(&str, &str, &str, &str); 5] = [
    ("%7f", "\u{7f}", r"\u007f", r"\x7f"),
    ("%f0%9f%ab%a0", "\u{1fae0}", r"\U0001fae0", "\u{1fae0}"),
    ("%f0%9f%98%80", "\u{1f600}", "\u{1f600}", "\u{1f600}"),
    ("%c2%a0", "\u{a0}", r"\u00a0", r"\u00a0"),
    ("%ee%80%80", "\u{e000}", r"\ue000", r"\ue000"),
];

fn answers(version: Version, in_path: &str, in_text: &str, quoted: &str) {
    let consul = Consul::of(version);
    let what = |operation: &str| {
        let answer = consul.put("/v1/txn", operation);
        answer.json()["Errors"][0]["What"].clone()
    };
    let get = format!(r#"[{{"KV":{{"Verb":"get","Key":"k{in_text}"}}}}]"#);
    assert_eq!(what(&get), format!(r#"key "k{quoted}" doesn't exist"#));
    let get =
        format!(r#"[{{"Node":{{"Verb":"cas","Node":{{"Node":"n{in_text}","ModifyIndex":7}}}}}}]"#);
    let stale = format!(r#"failed to set node "n{quoted}", index is stale"#);
    assert_eq!(what(&get), stale);
    let number = consul.put(&format!("/v1/kv/k?flags=1{in_path}"), "");
    let words = format!(r#"strconv.ParseUint: parsing "1{quoted}": invalid syntax"#);
    assert!(number.text().ends_with(&words), "{}", number.text());
    let body = format!(r#"{{"Name":"c","TTL":"1s","ServiceID":"x{in_text}"}}"#);
    let check = consul.put("/v1/agent/check/register", body);
    let words = format!(r#"ServiceID "x{quoted}" does not exist"#);
    assert!(check.text().ends_with(&words), "{}", check.text());
    let body = format!(r#"{{"Name":"s","x{in_text}":1}}"#);
    let field = consul.put("/v1/agent/service/register", body);
    let words = format!(r#"json: unknown field "x{quoted}""#);
    assert!(field.text().ends_with(&words), "{}", field.text());
    let enable = consul.put(&format!("/v1/agent/maintenance?enable=x{in_path}"), "");
    let words = format!(r#"Invalid value for enable: "x{quoted}""#);
    assert!(enable.text().ends_with(&words), "{}", enable.text());
}

#[test]
fn what_is_no_printable_character_to_the_releases_go() {
    for (in_path, in_text, older, newer) in CHARACTERS {
        answers(Version::V1_8_7, in_path, in_text, older);
        answers(Version::default(), in_path, in_text, newer);
    }
}
