//! The archives of snapshots: a gzip'd tar with `meta.json`, `state.bin` and `SHA256SUMS`, as Consul's tools check it
//! (operator.md 6). What is wrong with an archive is told in Consul's words, up to those of Go's libraries.

mod gunzip;
mod meta;
mod tar;

use std::io::Write;
use std::time::Duration;

use flate2::{Compression, GzBuilder};

use self::gunzip::Gunzip;
use self::tar::TarFile;

pub use self::meta::{Meta, Origin};

const META: &str = "meta.json";
const STATE: &str = "state.bin";
const SUMS: &str = "SHA256SUMS";

/// The most bytes that an archive may unpack to, so that a small one cannot take all memory. Consul has no such limit.
pub const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// What an archive has inside.
#[derive(Debug)]
pub struct Archive {
    /// What the snapshot says about itself.
    pub meta: Meta,
    /// The state.
    pub state: Vec<u8>,
}

impl Archive {
    /// Checks what raft checks before the state is looked at. Earlier releases of proconsul gave raft's own version.
    ///
    /// # Errors
    /// Raft's text.
    pub fn check(&self) -> Result<(), String> {
        let Meta { version, size, .. } = self.meta;
        if version != 1 && version != meta::VERSION {
            let at = if version == 0 {
                "failed to create snapshot: "
            } else {
                ""
            };
            return Err(format!("{at}unsupported snapshot version {version}"));
        }
        let found = self.state.len();
        if usize::try_from(size) != Ok(found) {
            return Err(format!(
                "failed to write snapshot, size didn't match ({found} != {size})"
            ));
        }
        Ok(())
    }
}

/// Packs the state that a server had at this index. `wall` is the time, since the Unix epoch.
pub fn pack(origin: &Origin<'_>, index: u64, state: &[u8], wall: Duration) -> Vec<u8> {
    let meta = meta::of(origin, index, wall, state.len());
    let sums = format!(
        "{}  {META}\n{}  {STATE}\n",
        sum(meta.as_bytes()),
        sum(state)
    );
    // As Go's writer does, the header says nothing of the system.
    let builder = GzBuilder::new().operating_system(255);
    let mut encoder = builder.write(Vec::new(), Compression::default());
    for (name, content) in [
        (META, meta.as_bytes()),
        (STATE, state),
        (SUMS, sums.as_bytes()),
    ] {
        tar::append(&mut encoder, name, content, wall).expect("memory takes every file");
    }
    let ended = encoder.write_all(&[0; 2 * tar::BLOCK]);
    ended.expect("memory takes every file");
    encoder.finish().expect("memory takes every file")
}

/// Unpacks an archive that may have at most `most` bytes, and checks it.
///
/// # Errors
/// Consul's text about what is wrong with it.
pub fn unpack(archive: &[u8], most: u64) -> Result<Archive, String> {
    let mut unzipped = Gunzip::new(archive, most)
        .map_err(|error| format!("failed to decompress snapshot: {error}"))?;
    let unpacked =
        files(&mut unzipped).map_err(|error| format!("failed to read snapshot file: {error}"))?;
    match unzipped.count_rest()? {
        0 => Ok(unpacked),
        more => Err(format!("{more} unread uncompressed bytes remain")),
    }
}

/// Reads the files of the tar, whose order does not matter.
fn files(unzipped: &mut Gunzip<'_>) -> Result<Archive, String> {
    let mut meta = Meta::default();
    let [mut metas, mut state, mut sums] = [const { Vec::new() }; 3];
    loop {
        let file = TarFile::next(unzipped);
        let Some(file) = file.map_err(|error| format!("failed reading snapshot: {error}"))? else {
            break;
        };
        let (content, called) = match file.name.as_str() {
            META => (&mut metas, "failed to read snapshot metadata"),
            STATE => (&mut state, "failed to read or write snapshot data"),
            SUMS => (&mut sums, "failed to read snapshot hashes"),
            other => return Err(format!("unexpected file {other:?} in snapshot")),
        };
        let before = content.len();
        let read = file.read(unzipped, content);
        read.map_err(|error| format!("{called}: {error}"))?;
        if file.name == META {
            let decoded = meta.decode(&metas[before..]);
            decoded.map_err(|error| format!("failed to decode snapshot metadata: {error}"))?;
        }
    }
    check(&sums, &metas, &state)
        .map_err(|error| format!("failed checking integrity of snapshot: {error}"))?;
    Ok(Archive { meta, state })
}

/// Compares the files with their sums.
fn check(sums: &[u8], meta: &[u8], state: &[u8]) -> Result<(), String> {
    let mut unseen = vec![(META, meta), (STATE, state)];
    let known = unseen.clone();
    let sums = String::from_utf8_lossy(sums);
    for line in sums.lines() {
        let (expected, name) = entry(line)?;
        let Some((_, content)) = known.iter().find(|(known, _)| *known == name) else {
            return Err(format!("list missing hash for {name:?}"));
        };
        if !expected.eq_ignore_ascii_case(&sum(content)) {
            return Err(format!("hash check failed for {name:?}"));
        }
        unseen.retain(|(seen, _)| *seen != name);
    }
    match unseen.first() {
        Some((name, _)) => Err(format!("file missing for {name:?}")),
        None => Ok(()),
    }
}

/// Returns the sum and the name of a line; what follows them does not count.
fn entry(line: &str) -> Result<(&str, &str), &'static str> {
    if line.is_empty() {
        return Err("EOF");
    }
    let end = line.find(|letter: char| !letter.is_ascii_hexdigit());
    let (sum, rest) = line.split_at(end.unwrap_or(line.len()));
    if sum.is_empty() {
        return Err("no hex data for %x string");
    }
    let name = rest.split_whitespace().next();
    Ok((sum, name.ok_or("unexpected EOF")?))
}

fn sum(content: &[u8]) -> String {
    let digest = cryptoxide::hashing::sha256(content);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
