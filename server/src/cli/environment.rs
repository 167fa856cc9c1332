//! The variables that Consul's container image honours, so that proconsul can stand in that image without its start
//! script.

use super::address;
use super::sources::LocalConfig;

/// What the variables say: arguments that go before the user's, and a piece of configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) arguments: Vec<String>,
    pub(super) local_config: Option<LocalConfig>,
}

impl Image {
    /// Reads the variables, of which an empty one counts as none.
    ///
    /// # Errors
    /// An interface that is asked for and has no address.
    pub(super) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Image, String> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let mut image = Image::default();
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

    fn read(variables: &[(&str, &str)]) -> Result<Image, String> {
        Image::read(|wanted| {
            let (_, value) = variables.iter().find(|(name, _)| *name == wanted)?;
            Some((*value).to_owned())
        })
    }

    #[test]
    fn no_variables_say_nothing() {
        assert_eq!(read(&[]), Ok(Image::default()));
        assert_eq!(
            read(&[("CONSUL_LOCAL_CONFIG", ""), ("CONSUL_DATA_DIR", "")]),
            Ok(Image::default())
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
