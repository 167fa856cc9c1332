//! What the conformance suite does not say of compressed answers: how lists are compressed, and since when (kv.md 6.5; 1.22.md A6).

use std::io::Read;

use flate2::read::GzDecoder;
use proconsul::Version;

use crate::support::{Answer, Consul};

const GZIP: &str = "Accept-Encoding: gzip";

fn unpacked(answer: &Answer) -> Vec<u8> {
    assert_eq!(answer.header("Content-Encoding"), Some("gzip"));
    let mut body = Vec::new();
    let read = GzDecoder::new(&answer.body[..]).read_to_end(&mut body);
    read.expect("the body is gzip");
    body
}

#[test]
fn a_long_list() {
    for consul in Consul::both() {
        for number in 0..300 {
            consul.put(&format!("/v1/kv/p/{number}"), vec![b'x'; 1000]);
        }
        let plain = consul.get("/v1/kv/p/?recurse");
        let packed = consul.get_with("/v1/kv/p/?recurse", GZIP);
        assert_eq!(unpacked(&packed), plain.body);
        assert!(packed.body.len() < plain.body.len() / 4);
        assert_eq!(packed.header("Transfer-Encoding"), Some("chunked"));
        assert_eq!(packed.header("Content-Length"), None);
    }
}

#[test]
fn lists_are_compressed_from_1400_bytes_on_since_1_9() {
    let consul = Consul::v1_22();
    // The rest of the list is 81 bytes, and 4 of Base64 stand for 3 of the value.
    for (length, compressed) in [(987, false), (990, true)] {
        consul.put("/v1/kv/a", vec![b'x'; length]);
        for target in ["/v1/kv/a", "/v1/kv/a?recurse"] {
            let answer = consul.get_with(target, GZIP);
            let is_compressed = answer.header("Content-Encoding").is_some();
            let plain = consul.get(target);
            let size = plain.body.len();
            assert_eq!(is_compressed, compressed, "{target} of {size}");
            let body = if compressed {
                unpacked(&answer)
            } else {
                answer.body
            };
            assert_eq!(body, plain.body);
        }
    }
    let compresses = |version| {
        let answer = Consul::of(version).get_with("/v1/kv/", GZIP);
        answer.header("Content-Encoding").is_some()
    };
    assert!(compresses(Version::new(1, 8, 19)) && !compresses(Version::new(1, 9, 0)));
}
