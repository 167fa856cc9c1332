//! Compression of answers, as the Go library does it that Consul wraps its endpoints with (`nytimes/gziphandler`).

use std::io::Write;

use flate2::{Compression, GzBuilder};

/// Whether the header `Accept-Encoding` asks for gzip: named with a weight above 0. A `*` does not name it (kv.md 6.5).
///
/// Of several such headers only the first counts; without one pass the empty text. Of several weights of one coding and
/// several mentions of gzip, the last counts.
pub fn accepts_gzip(accept_encoding: &str) -> bool {
    let mut codings = accept_encoding.split(',').filter_map(parse_coding);
    let gzip = codings.rfind(|(coding, _)| coding.eq_ignore_ascii_case("gzip"));
    gzip.is_some_and(|(_, weight)| weight > 0.0)
}

/// The name and the weight of one coding; nothing if the weight is no number.
fn parse_coding(coding: &str) -> Option<(&str, f64)> {
    let mut parts = coding.split(';').map(str::trim);
    let name = parts.next()?;
    // Every further part sets the weight, also one that is none: `gzip;q=0;x=1` is accepted.
    parts
        .try_fold(1.0, |_, part| match part.strip_prefix("q=") {
            Some(weight) => weight.parse().ok(),
            None => Some(1.0),
        })
        .map(|weight| (name, weight))
}

/// Compresses a complete body. Whether it is large enough to be worth it is the caller's to say.
pub fn compress(body: &[u8]) -> Vec<u8> {
    // Neither time nor system in the header, as Go leaves them: the same body gives the same bytes.
    let mut encoder = GzBuilder::new()
        .operating_system(255)
        .write(Vec::new(), Compression::fast());
    encoder.write_all(body).expect("memory takes every body");
    encoder.finish().expect("memory takes every body")
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::{accepts_gzip, compress};

    /// Each seen on Consul 1.8.7.
    #[test]
    fn who_asks_for_gzip() {
        for header in [
            "gzip",
            "GZIP",
            "deflate, gzip;q=0.5, br",
            "gzip; q=0.0001",
            "gzip ;q=1",
            "gzip;q=5",
            "gzip;Q=0",
            "gzip;q=0;x=1",
            "gzip;q=0, gzip",
        ] {
            assert!(accepts_gzip(header), "{header}");
        }
        for header in [
            "",
            "*",
            "identity",
            "x-gzip",
            "gzip;q=0",
            "gzip;q= 0",
            "gzip;q=0.000",
            "gzip;q=-1",
            "gzip;q=abc",
            "gzip;q=nan",
            "gzip, gzip;q=0",
        ] {
            assert!(!accepts_gzip(header), "{header}");
        }
    }

    #[test]
    fn bodies_come_back_as_they_were() {
        for body in [Vec::new(), b"true\n".to_vec(), vec![b'x'; 100_000]] {
            let compressed = compress(&body);
            assert_eq!(
                compressed[..10],
                [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, compressed[8], 255]
            );
            let mut decompressed = Vec::new();
            GzDecoder::new(&compressed[..])
                .read_to_end(&mut decompressed)
                .expect("the bytes are gzip");
            assert_eq!(decompressed, body);
        }
        assert!(compress(&[b'x'; 100_000]).len() < 1_000);
    }
}
