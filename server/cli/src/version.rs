//! The verb `version`: the emulated version, and proconsul's own.

use proconsul_version::{BUILD_DATE, Behaviour, Version};

/// Returns the output of `version`. Tools parse the first line; the next two name proconsul, and what it knows of the release.
pub(super) fn pretty(version: Version) -> String {
    format!(
        "Consul v{version}\n\
         proconsul {}: a stand-in for Consul's KV store and sessions, for tests; not Consul\n\
         {version} is {} (see `proconsul changes`)\n\
         Protocol 2 spoken by default, understands 2 to 3 \
         (agent will automatically use protocol >2 when speaking to compatible agents)\n\n",
        env!("CARGO_PKG_VERSION"),
        version.evidence()
    )
}

/// Returns the output of `version -format=json`, with the fields of the emulated version.
pub(super) fn json(version: Version) -> String {
    let build_date = if version.has(Behaviour::JsonAgentSelfBuildDate) {
        format!("   \"BuildDate\": \"{BUILD_DATE}\",\n")
    } else {
        String::new()
    };
    format!(
        r#"{{
   "Version": "{version}",
   "Revision": "",
   "Prerelease": "",
{build_date}   "RPC": {{
      "Default": 2,
      "Min": 2,
      "Max": 3
   }}
}}
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_consuls_and_the_next_tell_the_truth() {
        let text = pretty(Version::V1_22_0);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "Consul v1.22.0");
        assert!(
            lines[1].starts_with("proconsul ") && lines[1].ends_with("not Consul"),
            "{}",
            lines[1]
        );
        assert_eq!(
            lines[2],
            "1.22.0 is known from a real server, a build of late 2025 (see `proconsul changes`)"
        );
        assert!(
            lines[3].starts_with("Protocol 2 spoken by default"),
            "{}",
            lines[3]
        );
    }

    #[test]
    fn json_has_the_bytes_of_1_8_7() {
        let expected = r#"{
   "Version": "1.8.7",
   "Revision": "",
   "Prerelease": "",
   "RPC": {
      "Default": 2,
      "Min": 2,
      "Max": 3
   }
}
"#;
        assert_eq!(json(Version::V1_8_7), expected);
    }

    #[test]
    fn json_has_a_build_date_since_releases_say_theirs() {
        let text = json(Version::V1_22_0);
        assert!(
            text.contains("\n   \"BuildDate\": \"1970-01-01T00:00:01Z\",\n"),
            "{text}"
        );
    }
}
