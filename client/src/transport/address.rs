//! Where an agent listens, as settings name it.

use std::path::PathBuf;

use reqwest::Url;

use crate::error::Error;

/// Where an agent listens.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// As it was set.
    pub(crate) shown: String,
    /// What request paths are joined to; ends in `/`.
    pub(crate) url: Url,
    /// The host to connect to, where the one of `url` is what its certificate is for.
    #[cfg_attr(
        not(feature = "tls"),
        expect(dead_code, reason = "https:// is refused without the feature")
    )]
    pub(crate) dialled: Option<Host>,
    /// The unix socket to connect to in place of the host.
    pub(crate) socket: Option<PathBuf>,
}

/// A host as it was set.
#[derive(Clone, Debug)]
#[cfg_attr(
    not(feature = "tls"),
    expect(dead_code, reason = "https:// is refused without the feature")
)]
pub(crate) struct Host {
    /// Its name or IP address.
    pub(crate) name: String,
    /// With its port, as requests name it.
    pub(crate) authority: String,
}

impl Address {
    /// Reads an address. One without a scheme is of HTTPS if `secure` says so; `server_name` is what the certificate
    /// must be for, in place of the address' host.
    pub(crate) fn parse(
        address: &str,
        secure: bool,
        server_name: Option<&str>,
    ) -> Result<Self, Error> {
        let shown = address.to_owned();
        let wrong = |why: &str| {
            Error::Settings(format!(
                "the address {shown:?} {why}; expected host:port, http://..., https://... or unix:///path"
            ))
        };
        let (text, socket) = if let Some(path) = shown.strip_prefix("unix://") {
            if path.is_empty() {
                return Err(wrong("names no socket"));
            }
            ("http://localhost".to_owned(), Some(PathBuf::from(path)))
        } else if shown.contains("://") {
            (shown.clone(), None)
        } else {
            let scheme = if secure { "https" } else { "http" };
            (format!("{scheme}://{shown}"), None)
        };
        let mut url = Url::parse(&text).map_err(|error| wrong(&format!("is not one ({error})")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("has an unknown scheme"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("has parameters"));
        }
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        let dialled = match server_name {
            Some(name) if url.scheme() == "https" => certified_for(&mut url, name)?,
            _ => None,
        };
        Ok(Self {
            shown,
            url,
            dialled,
            socket,
        })
    }
}

/// Puts the name that the certificate is for into a URL. Gives the host that stood there.
fn certified_for(url: &mut Url, name: &str) -> Result<Option<Host>, Error> {
    let own = url.host_str().expect("https has a host").to_owned();
    if own == name {
        return Ok(None);
    }
    let host = Host {
        // An IPv6 address is in brackets in a URL, and nowhere else.
        name: own.trim_matches(['[', ']']).to_owned(),
        authority: match url.port() {
            Some(port) => format!("{own}:{port}"),
            None => own,
        },
    };
    let is_name = name.parse::<std::net::IpAddr>().is_err() && url.set_host(Some(name)).is_ok();
    if !is_name {
        return Err(Error::Settings(format!(
            "CONSUL_TLS_SERVER_NAME={name}: expected the name of a host"
        )));
    }
    Ok(Some(host))
}
