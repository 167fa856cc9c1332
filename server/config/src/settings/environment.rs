//! The variables of Consul's container image, so that proconsul can replace Consul there without the image's start
//! script.

use std::collections::BTreeMap;

use crate::document::sources::LocalConfig;
use crate::resolve::address;

/// Variables of the environment.
#[derive(Clone, Debug, Default)]
pub struct Variables(BTreeMap<String, String>);

/// Variables of other programs of this repository, which the agent ignores.
const OF_OTHERS: &[&str] = &[
    "PROCONSUL_ACL_QUESTIONS",
    "PROCONSUL_ACL_SEED",
    "PROCONSUL_ACL_TEXTS",
    "PROCONSUL_BINARY",
    "PROCONSUL_BUILD_PROFILE",
    "PROCONSUL_BUILD_TARGET",
    "PROCONSUL_CONTENTION_SECONDS",
    "PROCONSUL_CONTENTION_SEED",
    "PROCONSUL_CONTENDER",
    "PROCONSUL_ELECTIONS",
    "PROCONSUL_EXPLORE_RUNS",
    "PROCONSUL_FUZZ_REQUESTS",
    "PROCONSUL_FUZZ_SEED",
    "PROCONSUL_FUZZ_SHRINKS",
    "PROCONSUL_INTEROP",
    "PROCONSUL_SAFETY_RUNS",
    "PROCONSUL_SAFETY_SEED",
    "PROCONSUL_SHADOW_RUNS",
    "PROCONSUL_SNAPSHOT_ARCHIVES",
    "PROCONSUL_TARGET",
    "PROCONSUL_TEST_FAILS_BY",
    "PROCONSUL_WRITERS_SECONDS",
    "PROCONSUL_WRITERS_SEED",
];

/// The least likeness of two names, from 0 to 1, at which one may be a misspelling of the other.
const ALIKE: f64 = 0.5;

impl Variables {
    /// Returns the variables of this process.
    pub fn of_process() -> Self {
        let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
        let variables = std::env::vars_os();
        Self(
            variables
                .map(|(name, value)| (text(name), text(value)))
                .collect(),
        )
    }

    /// Returns the value of a variable; an empty one counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name)?;
        (!value.is_empty()).then_some(value)
    }

    /// Sets a variable that is unset or empty.
    pub fn set_default(&mut self, name: &str, value: &str) {
        if self.get(name).is_none() {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Refuses unknown variables whose names begin with `PROCONSUL_`.
    ///
    /// # Errors
    /// Our text about the first unknown one, with the most similar name of `known`.
    pub fn check_own(&self, known: &[String]) -> Result<(), String> {
        let unknown = self.0.iter().find(|(name, value)| {
            name.starts_with("PROCONSUL_")
                && !known.contains(name)
                && !OF_OTHERS.contains(&&name[..])
                && !is_service_link(name, value)
        });
        let Some((name, _)) = unknown else {
            return Ok(());
        };
        // The common prefix would make all names similar.
        let own = |name: &str| name.trim_start_matches("PROCONSUL_").to_owned();
        let likeness =
            |known: &&String| strsim::normalized_damerau_levenshtein(&own(known), &own(name));
        let nearest = known
            .iter()
            .max_by(|left, right| likeness(left).total_cmp(&likeness(right)))
            .filter(|nearest| likeness(nearest) >= ALIKE);
        Err(match nearest {
            Some(nearest) => format!("{name}: unknown variable; did you mean {nearest}?"),
            None => format!("{name}: unknown variable; known are {}", known.join(", ")),
        })
    }
}

/// Whether Kubernetes or Docker has set a variable for a service or container named proconsul.
fn is_service_link(name: &str, value: &str) -> bool {
    let rest = name.trim_start_matches("PROCONSUL_");
    let is_url = ["tcp://", "udp://", "sctp://"]
        .iter()
        .any(|scheme| value.starts_with(scheme));
    match rest.strip_prefix("PORT") {
        Some("") => is_url,
        Some(rest) => {
            rest.starts_with(|letter: char| letter.is_ascii_digit())
                || rest.starts_with("_")
                    && rest[1..].starts_with(|letter: char| letter.is_ascii_digit())
        }
        None => rest == "SERVICE_HOST" || rest.starts_with("SERVICE_PORT"),
    }
}

/// The settings of the variables: arguments that precede the user's, and a piece of configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageSettings {
    /// Arguments that come before those of the command line.
    pub arguments: Vec<String>,
    /// Configuration in a variable.
    pub local_config: Option<LocalConfig>,
}

impl ImageSettings {
    /// Reads the variables. An empty one counts as unset.
    ///
    /// # Errors
    /// Our text about an interface without an address.
    pub fn read(variables: &Variables) -> Result<ImageSettings, String> {
        let variable = |name: &str| variables.get(name).map(str::to_owned);
        let mut image = ImageSettings::default();
        if let Some(directory) = variable("CONSUL_DATA_DIR") {
            image.arguments.push(format!("-data-dir={directory}"));
        }
        let directory = variable("CONSUL_CONFIG_DIR");
        if let Some(directory) = &directory {
            image.arguments.push(format!("-config-dir={directory}"));
        }
        for (name, flag) in [
            ("CONSUL_BIND_INTERFACE", "bind"),
            ("CONSUL_CLIENT_INTERFACE", "client"),
        ] {
            if let Some(interface) = variable(name) {
                let Some(address) = address::of_interface(&interface) else {
                    return Err(format!(
                        "{name}: no address found for the interface {interface:?}"
                    ));
                };
                image.arguments.push(format!("-{flag}={address}"));
            }
        }
        image.local_config =
            variable("CONSUL_LOCAL_CONFIG").map(|text| LocalConfig { directory, text });
        Ok(image)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<ImageSettings, String> {
        ImageSettings::read(&of(variables))
    }

    fn of(variables: &[(&str, &str)]) -> Variables {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Variables(variables.iter().map(owned).collect())
    }

    #[test]
    fn a_misspelt_variable_is_named_with_the_nearest_known_one() {
        let known = ["PROCONSUL_AS_VERSION", "PROCONSUL_SEED"].map(str::to_owned);
        let check = |name, value| of(&[(name, value)]).check_own(&known);
        for (name, value) in [
            ("PROCONSUL_SEED", "1"),
            ("PROCONSUL_TARGET", "x"),
            ("CONSUL_SEDE", "1"),
            ("PROCONSUL_SERVICE_HOST", "10.0.0.1"),
            ("PROCONSUL_SERVICE_PORT_HTTP", "8500"),
            ("PROCONSUL_PORT", "tcp://10.0.0.1:8500"),
            ("PROCONSUL_PORT_8500_TCP_ADDR", "10.0.0.1"),
        ] {
            assert_eq!(check(name, value), Ok(()), "{name}");
        }
        let rows = [
            (
                "PROCONSUL_SEDE",
                "unknown variable; did you mean PROCONSUL_SEED?",
            ),
            (
                "PROCONSUL_VERSION",
                "unknown variable; did you mean PROCONSUL_AS_VERSION?",
            ),
            (
                "PROCONSUL_WHATEVER_ELSE",
                "unknown variable; known are PROCONSUL_AS_VERSION, PROCONSUL_SEED",
            ),
        ];
        for (name, expected) in rows {
            assert_eq!(check(name, "1"), Err(format!("{name}: {expected}")));
        }
        assert!(check("PROCONSUL_PORT", "8500").is_err());
    }

    #[test]
    fn no_variables_say_nothing() {
        assert_eq!(read(&[]), Ok(ImageSettings::default()));
        assert_eq!(
            read(&[("CONSUL_LOCAL_CONFIG", ""), ("CONSUL_DATA_DIR", "")]),
            Ok(ImageSettings::default())
        );
    }

    #[test]
    fn directories_become_flags_and_the_local_configuration_goes_into_its_directory() {
        let image = read(&[
            ("CONSUL_DATA_DIR", "/d"),
            ("CONSUL_CONFIG_DIR", "/c"),
            ("CONSUL_LOCAL_CONFIG", "{}"),
        ]);
        let image = image.expect("no interface is asked for");
        assert_eq!(image.arguments, ["-data-dir=/d", "-config-dir=/c"]);
        let local = LocalConfig {
            directory: Some("/c".to_owned()),
            text: "{}".to_owned(),
        };
        assert_eq!(image.local_config, Some(local));
    }

    #[test]
    fn interfaces_become_addresses() {
        let image = read(&[
            ("CONSUL_CLIENT_INTERFACE", "lo"),
            ("CONSUL_BIND_INTERFACE", "lo"),
        ]);
        let image = image.expect("the loopback interface has an address");
        assert_eq!(image.arguments, ["-bind=127.0.0.1", "-client=127.0.0.1"]);
        let refused = read(&[("CONSUL_BIND_INTERFACE", "none0")]);
        let text = "CONSUL_BIND_INTERFACE: no address found for the interface \"none0\"";
        assert_eq!(refused, Err(text.to_owned()));
    }
}
