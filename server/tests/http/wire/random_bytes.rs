//! Bytes that nobody chose, as heads and bodies of requests. Whatever comes, the server answers or closes, keeps its
//! promises about what is stored, and serves on.
//!
//! Every run draws the same cases unless `PROPTEST_RNG_SEED` says otherwise; `PROPTEST_CASES` says how many.

use proconsul::Version;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestCaseError, TestRunner};

use crate::support::{Consul, request};

/// Draws cases from a seed that is printed when one of them fails.
pub(crate) fn for_all<T: std::fmt::Debug>(
    strategy: impl Strategy<Value = T>,
    test: impl Fn(T) -> Result<(), TestCaseError>,
) {
    let default = Config::default();
    let seed = match default.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => 0,
    };
    let config = Config {
        // Enough for a few seconds.
        cases: if std::env::var_os("PROPTEST_CASES").is_some() {
            default.cases
        } else {
            256
        },
        rng_seed: RngSeed::Fixed(seed),
        rng_algorithm: RngAlgorithm::ChaCha,
        failure_persistence: None,
        ..default
    };
    let result = TestRunner::new(config).run(&strategy, test);
    if let Err(error) = result {
        panic!("seed {seed}: {error}");
    }
}

/// Whether the server still answers as it should, on a connection of its own.
pub(crate) fn serves(consul: &Consul) -> Result<(), TestCaseError> {
    let answer = consul.get("/v1/kv/kept?raw");
    prop_assert_eq!((answer.code(), answer.text()), (200, "as it was"));
    Ok(())
}

/// Sends bytes, and then no more; reads until the server closes.
pub(crate) fn send_all(consul: &Consul, bytes: &[u8]) -> Vec<u8> {
    let mut wire = consul.connect();
    wire.send(bytes);
    wire.stop_sending();
    wire.rest()
}

pub(crate) fn both() -> [Consul; 2] {
    let servers = [Version::V1_8_7, Version::V1_22_0].map(Consul::of);
    for consul in &servers {
        consul.put("/v1/kv/kept", "as it was").is(200, "true");
    }
    servers
}

/// A piece of what requests consist of, or of what they do not.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::sample::select(vec![
        "GET",
        "PUT",
        "DELETE",
        " ",
        "/",
        "/v1/kv/",
        "/v1/txn",
        "/v1/session/create",
        "?",
        "recurse",
        "keys",
        "raw",
        "index=",
        "wait=",
        "cas=",
        "&",
        "=",
        "%2F",
        "%",
        "..",
        "a",
        " HTTP/1.1\r\n",
        " HTTP/1.0\r\n",
        "\r\n",
        "\n",
        "Host: x\r\n",
        "Content-Length: ",
        "Transfer-Encoding: chunked\r\n",
        "Expect: 100-continue\r\n",
        "Connection: close\r\n",
        ":",
        "0",
        "5",
        "18446744073709551616",
        "1\r\nx\r\n",
        "0\r\n\r\n",
        "\r\n\r\n",
    ]);
    prop_oneof![
        8 => words.prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ]
}

#[test]
fn heads_and_bodies_of_random_bytes() {
    let servers = both();
    for_all(prop::collection::vec(any::<u8>(), 0..300), |bytes| {
        for consul in &servers {
            send_all(consul, &bytes);
            serves(consul)?;
        }
        Ok(())
    });
}

#[test]
fn heads_and_bodies_of_random_pieces() {
    let servers = both();
    for_all(prop::collection::vec(piece(), 0..40), |pieces| {
        let bytes = pieces.concat();
        for consul in &servers {
            let answers = send_all(consul, &bytes);
            let is_answer = answers.is_empty() || answers.starts_with(b"HTTP/1.");
            prop_assert!(is_answer, "{:?}", String::from_utf8_lossy(&answers));
            // A request made of these pieces may delete or overwrite what was there.
            consul.put("/v1/kv/kept", "as it was");
            serves(consul)?;
        }
        Ok(())
    });
}

/// A proper request in which some bytes are others.
#[test]
fn proper_requests_with_a_few_wrong_bytes() {
    let servers = both();
    let proper = [
        request("GET", "/v1/kv/kept?raw", &["Accept: */*"], b""),
        request(
            "PUT",
            "/v1/kv/a?flags=5",
            &["Content-Type: text/plain"],
            b"value",
        ),
        request(
            "PUT",
            "/v1/txn",
            &[],
            br#"[{"KV":{"Verb":"set","Key":"a","Value":"eA=="}}]"#,
        ),
        request(
            "PUT",
            "/v1/session/create",
            &[],
            br#"{"Name":"a","TTL":"10s"}"#,
        ),
    ];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5);
    let strategy = (prop::sample::select(proper.to_vec()), changes);
    for_all(strategy, |(mut bytes, changes)| {
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        for consul in &servers {
            send_all(consul, &bytes);
            consul.put("/v1/kv/kept", "as it was");
            serves(consul)?;
        }
        Ok(())
    });
}
