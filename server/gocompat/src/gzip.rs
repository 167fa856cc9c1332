//! Compression of answers as by Consul's Go library (`nytimes/gziphandler`).

use std::io::Write;

use flate2::{Compression, GzBuilder};

/// Whether the header `Accept-Encoding` asks for gzip: by name, with a weight above 0. `*` does not count
/// (kv.md 6.5).
///
/// Pass the first such header, or an empty text. Of repeated weights and repeated codings the last counts.
pub fn accepts_gzip(accept_encoding: &str) -> bool {
    let mut codings = accept_encoding.split(',').filter_map(parse_coding);
    let gzip = codings.rfind(|(coding, _)| coding.eq_ignore_ascii_case("gzip"));
    gzip.is_some_and(|(_, weight)| weight > 0.0)
}

/// Returns the name and the weight of a coding; `None` for an invalid weight.
fn parse_coding(coding: &str) -> Option<(&str, f64)> {
    let mut parts = coding.split(';').map(str::trim);
    let name = parts.next()?;
    // Every part sets the weight, even without `q`: `gzip;q=0;x=1` is accepted.
    parts
        .try_fold(1.0, |_, part| match part.strip_prefix("q=") {
            Some(weight) => weight.parse().ok(),
            None => Some(1.0),
        })
        .map(|weight| (name, weight))
}

/// Compresses a complete body. The caller decides whether it is large enough.
pub fn compress(body: &[u8]) -> Vec<u8> {
    // As in Go, the header has neither time nor system, so the same body gives the same bytes.
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
