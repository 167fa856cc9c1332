use std::time::Duration;

use proconsul_gocompat::gzip::compress;

use super::{Archive, Origin, gunzip, pack, tar, unpack};

const ORIGIN: Origin<'_> = Origin {
    node_id: "id",
    address: "127.0.0.1:8300",
};
const LIMIT: u64 = 1 << 20;

fn archive() -> Vec<u8> {
    pack(&ORIGIN, 7, b"a state", Duration::from_secs(1))
}

fn refusal(archive: &[u8]) -> String {
    unpack(archive, LIMIT).expect_err("it is refused")
}

/// Packs files as they are.
fn packed(files: &[(&str, &str)]) -> Vec<u8> {
    let mut plain = Vec::new();
    for (name, content) in files {
        let appended = tar::append(&mut plain, name, content.as_bytes(), Duration::ZERO);
        appended.expect("memory takes it");
    }
    plain.extend([0; 2 * tar::BLOCK]);
    compress(&plain)
}

fn content(name: &'static str) -> String {
    let whole = archive();
    let mut unzipped = gunzip::Gunzip::new(&whole, LIMIT).expect("it is an archive");
    loop {
        let file = tar::TarFile::next(&mut unzipped).expect("it is good");
        let file = file.expect("the file is there");
        let mut content = Vec::new();
        file.read(&mut unzipped, &mut content).expect("it is whole");
        if file.name == name {
            return String::from_utf8(content).expect("it is a text");
        }
    }
}

#[test]
fn what_is_packed_is_unpacked() {
    let Archive { meta, state } = unpack(&archive(), LIMIT).expect("it is good");
    assert_eq!(state, b"a state");
    assert_eq!(
        (meta.version, meta.index, meta.term, meta.size),
        (1000, 7, 2, 7)
    );
    assert_eq!(meta.id, "2-7-1000");
}

/// A real Consul refuses every version but 1 and lives; our earlier releases gave that one.
#[test]
fn archives_have_a_version_of_our_own() {
    let checked = |version| {
        let mut archive = unpack(&archive(), LIMIT).expect("it is good");
        assert_eq!(archive.meta.version, 1000);
        archive.meta.version = version;
        archive.check()
    };
    assert_eq!((checked(1000), checked(1)), (Ok(()), Ok(())));
    let unknown = "unsupported snapshot version 9".to_owned();
    assert_eq!(checked(9), Err(unknown));
}

/// Each text seen on 1.8.7 (operator.md 6.r5, 6.r13).
#[test]
fn what_is_no_archive_is_refused_in_consuls_words() {
    for (archive, text) in [
        (vec![], "failed to decompress snapshot: EOF"),
        (
            b"garbage".to_vec(),
            "failed to decompress snapshot: unexpected EOF",
        ),
        (
            b"garbage123".to_vec(),
            "failed to decompress snapshot: gzip: invalid header",
        ),
        (
            compress(&[b'h'; 1024]),
            "failed to read snapshot file: failed reading snapshot: archive/tar: invalid tar header",
        ),
        (
            compress(b"hello"),
            "failed to read snapshot file: failed reading snapshot: unexpected EOF",
        ),
        ([archive(), b"garbage".to_vec()].concat(), "unexpected EOF"),
        ([archive(), vec![0; 20]].concat(), "gzip: invalid header"),
        (
            [archive(), compress(&[0; 1024])].concat(),
            "1024 unread uncompressed bytes remain",
        ),
    ] {
        assert_eq!(refusal(&archive), text);
    }
}

/// Each text seen on 1.8.7 (operator.md 6.r13).
#[test]
fn metadata_is_decoded_as_in_go() {
    let array = "json: cannot unmarshal array into Go value of type raft.SnapshotMeta";
    let text =
        "json: cannot unmarshal string into Go struct field SnapshotMeta.Index of type uint64";
    for (meta, words) in [
        ("{", "unexpected end of JSON input"),
        ("[]", array),
        (r#"{"Index":"a"}"#, text),
    ] {
        let refused = refusal(&packed(&[("meta.json", meta)]));
        let step = "failed to read snapshot file: failed to decode snapshot metadata";
        assert_eq!(refused, format!("{step}: {words}"));
    }
    let refused = refusal(&packed(&[("x", "1")]));
    let text = "failed to read snapshot file: unexpected file \"x\" in snapshot";
    assert_eq!(refused, text);
}

/// Each text seen on 1.8.7 (operator.md 6.r13), which names any of several missing files.
#[test]
fn files_and_sums_belong_together() {
    let [meta, state, sums] = ["meta.json", "state.bin", "SHA256SUMS"].map(content);
    let meta = ("meta.json", meta.as_str());
    let state = ("state.bin", state.as_str());
    let with = |sums: &'static str| packed(&[meta, state, ("SHA256SUMS", sums)]);
    let first_line = sums.lines().next().unwrap_or_default();
    let first_line = packed(&[meta, state, ("SHA256SUMS", first_line)]);
    let sums = ("SHA256SUMS", sums.as_str());
    for (archive, words) in [
        (packed(&[]), "file missing for \"meta.json\""),
        (packed(&[meta, state]), "file missing for \"meta.json\""),
        (first_line, "file missing for \"state.bin\""),
        (
            packed(&[state, sums]),
            "hash check failed for \"meta.json\"",
        ),
        (packed(&[meta, sums]), "hash check failed for \"state.bin\""),
        (
            packed(&[meta, state, state, sums]),
            "hash check failed for \"state.bin\"",
        ),
        (with("zz  meta.json\n"), "no hex data for %x string"),
        (with("\n"), "EOF"),
        (with("00  other\n"), "list missing hash for \"other\""),
    ] {
        let step = "failed to read snapshot file: failed checking integrity of snapshot";
        assert_eq!(refusal(&archive), format!("{step}: {words}"));
    }
    for files in [[sums, state, meta], [state, meta, sums]] {
        assert!(unpack(&packed(&files), LIMIT).is_ok());
    }
}

#[test]
fn a_cut_archive_is_refused_wherever_it_is_cut() {
    let whole = archive();
    for length in 0..whole.len() {
        let text = refusal(&whole[..length]);
        let end = if length == 0 { "EOF" } else { "unexpected EOF" };
        assert!(text.ends_with(end), "{length}: {text}");
    }
}

#[test]
fn a_flipped_trailer_is_a_wrong_checksum() {
    for from_end in [1, 8] {
        let mut archive = archive();
        let at = archive.len() - from_end;
        archive[at] ^= 1;
        assert_eq!(refusal(&archive), "gzip: invalid checksum");
    }
    let mut archive = archive();
    archive[10] = 7;
    let text = "failed to read snapshot file: failed reading snapshot: flate: corrupt input before offset 1";
    assert_eq!(refusal(&archive), text);
}

#[test]
fn a_bomb_is_refused_at_the_limit() {
    let zeros = vec![0; 4 << 20];
    let zeros = String::from_utf8(zeros).expect("zeros are text");
    let text = refusal(&packed(&[("state.bin", &zeros)]));
    let limit = "failed to read snapshot file: failed to read or write snapshot data: unpacked it has more than the 1048576 bytes that proconsul takes";
    assert_eq!(text, limit);
    let empty = compress(b"");
    let text = refusal(&empty.repeat(100_000));
    assert!(text.ends_with("gzip: invalid header"), "{text}");
}
