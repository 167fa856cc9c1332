//! `snapshot save`, `inspect`, `restore`.

use super::{Outcome, because, source};
use crate::commands::support::flags::Given;
use proconsul_archive::{self, Archive};
use proconsul_gocompat::syscall::error_text;

commands! {
    "snapshot inspect" "FILE" inspect "Prints what a snapshot says about itself" {}
    "snapshot restore" "FILE" restore "Takes a server back to the state in a snapshot" {}
    "snapshot save" "FILE" save "Writes the state of a server to a file" {}
}

const ENDPOINT: &str = "v1/snapshot";

fn file_argument(given: &Given) -> Result<&str, super::Failure> {
    given.only(1)?;
    let file = given.rest().first();
    file.map(String::as_str)
        .ok_or_else(|| "Missing FILE argument".into())
}

/// Returns the content of a file. Where it is opened and cannot be read, the failure is that of the step `reading`.
fn load(path: &str, reading: &str) -> Result<Vec<u8>, super::Failure> {
    source::file(path).map_err(|error| {
        let step = match error.starts_with("open") {
            true => "Error opening snapshot file",
            false => reading,
        };
        format!("{step}: {error}").into()
    })
}

async fn inspect(given: Given) -> Outcome {
    let verifying = "Error verifying snapshot: failed to decompress snapshot";
    let packed = load(file_argument(&given)?, verifying)?;
    let Archive { meta, .. } = proconsul_archive::unpack(&packed, proconsul_archive::MOST_BYTES)
        .map_err(|error| format!("Error verifying snapshot: {error}"))?;
    let line = |(name, value): (&str, String)| format!("{name:<13}{value}\n");
    let lines = [
        ("ID", meta.id),
        ("Size", meta.size.to_string()),
        ("Index", meta.index.to_string()),
        ("Term", meta.term.to_string()),
        ("Version", meta.version.to_string()),
    ];
    Ok(lines.map(line).concat() + "\n")
}

async fn restore(given: Given) -> Outcome {
    let failed = "Error restoring snapshot";
    let packed = load(file_argument(&given)?, failed)?;
    let restored = given.client()?.write(ENDPOINT, &[], packed).await;
    restored.map_err(because(failed))?;
    Ok("Restored snapshot\n".to_owned())
}

async fn save(given: Given) -> Outcome {
    let file = file_argument(&given)?;
    let saved = given.client()?.read_bytes(ENDPOINT, &[]).await;
    let packed = saved.map_err(because("Error saving snapshot"))?.value;
    // As in Consul, a file under its own name has been read back.
    let unverified = format!("{file}.unverified");
    std::fs::write(&unverified, &packed).map_err(|error| {
        let error = error_text(&error);
        format!("Error writing unverified snapshot file: open {unverified}: {error}")
    })?;
    let read = load(&unverified, "Error verifying snapshot")?;
    let Archive { meta, .. } = proconsul_archive::unpack(&read, proconsul_archive::MOST_BYTES)
        .map_err(|error| format!("Error verifying snapshot: {error}"))?;
    let renamed = match std::path::Path::new(file).is_dir() {
        true => Err("file exists".to_owned()),
        false => std::fs::rename(&unverified, file).map_err(|error| error_text(&error)),
    };
    renamed.map_err(|error| {
        let what = format!("{unverified:?} to {file:?}");
        format!("Error renaming {what}: rename {unverified} {file}: {error}")
    })?;
    let index = meta.index;
    Ok(format!("Saved and verified snapshot to index {index}\n"))
}
