//! The verbs `login` and `logout`.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use crate::commands::support::flags::Given;
use crate::commands::{Failure, Outcome, because, source};
use proconsul_gocompat::syscall::error_text;

commands! {
    "login" "" login "Gets a token for the bearer token of an auth method" {
        Text "bearer-token-file" "A file with the bearer token";
        Pair "meta" "key=value for the token's description; may be repeated";
        Text "method" "The name of the auth method";
        Text "token-sink-file" "The file into which the token's SecretID is written";
        Text "type" "The type of the auth method";
    }
    "logout" "" logout "Deletes the token of this command, which a login made" {}
}

fn no_more(given: &Given) -> Result<(), Failure> {
    if given.rest().is_empty() {
        Ok(())
    } else {
        Err("Should have no non-flag arguments.".into())
    }
}

async fn login(given: Given) -> Outcome {
    no_more(&given)?;
    let required = |flag| {
        let text = given.filled(flag);
        text.ok_or_else(|| Failure::from(format!("Missing required '-{flag}' flag")))
    };
    let method = required("method")?;
    let sink = required("token-sink-file")?;
    let path = required("bearer-token-file")?;
    let bearer = String::from_utf8_lossy(&source::file(path)?).into_owned();
    if bearer.trim().is_empty() {
        return Err(format!("No bearer token found in {path}").into());
    }
    let pairs = given.texts("meta").into_iter();
    let meta: Vec<_> = pairs.filter_map(|pair| pair.split_once('=')).collect();
    let client = given.client()?;
    let token = client.acl().login(method, bearer.trim(), &meta).await;
    let token = token.map_err(because("Error logging in"))?;
    write_secret(Path::new(sink), &token.secret_id)
        .map_err(|why| format!("Error writing token to file sink: {why}"))?;
    Ok(String::new())
}

/// Replaces a file at once: whoever follows it never sees half of a secret.
fn write_secret(path: &Path, secret: &str) -> Result<(), String> {
    let within = |step: &str, at: &Path, error: &std::io::Error| {
        format!("{step} {}: {}", at.display(), error_text(error))
    };
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        fs::create_dir_all(folder).map_err(|error| within("mkdir", folder, &error))?;
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!("-{}.tmp", std::process::id()));
    let new = Path::new(&name);
    let written = owned_by_user(new).and_then(|mut file| file.write_all(secret.as_bytes()));
    written.map_err(|error| within("open", new, &error))?;
    fs::rename(new, path).map_err(|error| {
        let _ = fs::remove_file(new);
        let (from, to) = (new.display(), path.display());
        format!("rename {from} {to}: {}", error_text(&error))
    })
}

/// Creates a file that other users cannot read.
fn owned_by_user(path: &Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

async fn logout(given: Given) -> Outcome {
    no_more(&given)?;
    let done = given.client()?.acl().logout().await;
    done.map_err(because("Error destroying token"))?;
    Ok(String::new())
}
