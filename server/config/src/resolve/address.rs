//! The addresses of this machine, and the templates of Consul's configuration that name them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the addresses of all interfaces with the interfaces' names, IPv4 first.
#[cfg(feature = "machine")]
fn all() -> Vec<(String, IpAddr)> {
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    let mut addresses: Vec<_> = interfaces
        .into_iter()
        .map(|interface| (interface.name.clone(), interface.ip()))
        .collect();
    addresses.sort_by_key(|(_, address)| address.is_ipv6());
    addresses
}

/// There are no interfaces.
#[cfg(not(feature = "machine"))]
fn all() -> Vec<(String, IpAddr)> {
    Vec::new()
}

/// Returns the first address of an interface.
pub fn of_interface(name: &str) -> Option<IpAddr> {
    all()
        .into_iter()
        .find(|(interface, _)| interface == name)
        .map(|(_, address)| address)
}

/// Returns the address of this machine in its network, or its loopback address. Of several addresses it returns the
/// first, because nothing depends on it; Consul refuses to start.
pub fn of_this_machine(version: IpVersion) -> IpAddr {
    let outward = |address: &IpAddr| match (version, address) {
        (IpVersion::Four, IpAddr::V4(address)) => {
            !address.is_loopback() && !address.is_link_local()
        }
        (IpVersion::Six, IpAddr::V6(address)) => {
            !address.is_loopback() && !address.is_unicast_link_local()
        }
        (IpVersion::Four, IpAddr::V6(_)) | (IpVersion::Six, IpAddr::V4(_)) => false,
    };
    let found = all().into_iter().map(|(_, address)| address).find(outward);
    found.unwrap_or(match version {
        IpVersion::Four => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpVersion::Six => IpAddr::V6(Ipv6Addr::LOCALHOST),
    })
}

/// A version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4.
    Four,
    /// IPv6.
    Six,
}

/// Replaces the templates in a list of addresses: `{{ GetPrivateIP }}` and `{{ GetInterfaceIP "eth0" }}`.
///
/// # Errors
/// Our text about any other template.
pub fn expand(text: &str) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, template)) = rest.split_once("{{") {
        let unknown = || {
            format!(
                "{text:?}: of all templates only GetPrivateIP and GetInterfaceIP \"name\" are known to proconsul"
            )
        };
        let (template, after) = template.split_once("}}").ok_or_else(unknown)?;
        expanded += before;
        match template.split_whitespace().collect::<Vec<_>>()[..] {
            ["GetPrivateIP"] => expanded += &of_this_machine(IpVersion::Four).to_string(),
            ["GetInterfaceIP", name] => {
                let name = name
                    .strip_prefix('"')
                    .and_then(|name| name.strip_suffix('"'))
                    .ok_or_else(unknown)?;
                // An interface without address expands to nothing, as in Consul.
                expanded.extend(of_interface(name).map(|address| address.to_string()));
            }
            _ => return Err(unknown()),
        }
        rest = after;
    }
    Ok(expanded + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_templates_stays_as_it_is() {
        assert_eq!(expand("127.0.0.1 ::1"), Ok("127.0.0.1 ::1".to_owned()));
    }

    #[test]
    fn templates_stand_for_addresses() {
        let expanded = expand("127.0.0.2 {{ GetInterfaceIP \"lo\" }} x").expect("a known template");
        assert_eq!(expanded, "127.0.0.2 127.0.0.1 x");
        assert_eq!(expand("{{GetInterfaceIP \"none0\"}}"), Ok(String::new()));
        let private = expand("{{ GetPrivateIP }}").expect("a known template");
        assert_eq!(private, of_this_machine(IpVersion::Four).to_string());
        assert!(
            private.parse::<Ipv4Addr>().is_ok(),
            "{private} is an address"
        );
    }

    #[test]
    fn other_templates_are_refused_by_name() {
        for text in [
            "{{ GetPublicIP }}",
            "{{",
            "{{ GetInterfaceIP lo }}",
            "{{ GetAllInterfaces | attr \"x\" }}",
        ] {
            let refused = expand(text).expect_err("not a known template");
            assert!(refused.starts_with(&format!("{text:?}: ")), "{refused}");
        }
    }
}
