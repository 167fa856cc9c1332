//! The body of an intention.

use crate::failure::Failure;
use crate::request::Request;
use proconsul_config::entry::intention;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_gocompat::json::kinds::{Int, RawJson};
use proconsul_gocompat::json::maps;
use proconsul_store::{ConfigMembers, ConfigValue, Labels};
use proconsul_version::{Behaviour, Version};

go_struct! {
    /// The body of an intention.
    pub(super) struct IntentionBody as "struct { Hash string; CreatedAt string; UpdatedAt string; *structs.Alias }",
    own decoder: Refused {
        "Hash": String,
        "CreatedAt": String,
        "UpdatedAt": String,
        *Alias {
            "ID": String => id,
            "Description": String => description,
            "SourceNS": String => source_namespace,
            "SourceName": String => source,
            "DestinationNS": String => destination_namespace,
            "DestinationName": String => destination,
            "SourceType" is "structs.IntentionSourceType": String => source_type,
            "Action" is "structs.IntentionAction": String => action,
            "Permissions" since Behaviour::IntentionEntries: RawJson => permissions,
            "DefaultAddr": String => default_address,
            "DefaultPort": Int => default_port,
            "Meta": Option<Labels> => meta,
            "Precedence": Int,
            "CreateIndex": u64,
            "ModifyIndex": u64,
        }
    }
}

impl IntentionBody {
    /// The id, which is usually empty.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The name of the service that is called.
    pub(super) fn destination(&self) -> &str {
        &self.destination
    }

    /// The namespaces that are named, with their fields.
    pub(super) fn namespaces(&self) -> [(&'static str, &str); 2] {
        [
            ("SourceNS", &self.source_namespace),
            ("DestinationNS", &self.destination_namespace),
        ]
    }

    /// Returns the intention with its defaults, at this time.
    ///
    /// # Errors
    /// The text about values of wrong types in its permissions.
    pub(super) fn intention(self, now: &str, version: Version) -> Result<ConfigValue, String> {
        let meta = self.meta.unwrap_or_default().into_iter();
        let meta = meta.map(|(name, value)| (name, ConfigValue::Text(value)));
        let mut intention = ConfigValue::Members(ConfigMembers::new());
        for (name, text) in [
            ("Description", self.description),
            ("SourceNS", self.source_namespace),
            ("SourceName", self.source),
            ("DestinationNS", self.destination_namespace),
            ("DestinationName", self.destination),
            ("SourceType", self.source_type),
            ("Action", self.action),
            ("DefaultAddr", self.default_address),
            ("CreatedAt", now.to_owned()),
            ("UpdatedAt", now.to_owned()),
        ] {
            intention.set(name, ConfigValue::Text(text));
        }
        intention.set("DefaultPort", ConfigValue::Number(self.default_port));
        intention.set("Meta", ConfigValue::Members(maps::collect(meta)));
        if let Some(permissions) = intention::permissions(&self.permissions, version)? {
            intention.set("Permissions", permissions);
        }
        intention::complete(&mut intention);
        Ok(intention)
    }
}

/// Reads the body; `None` for `null`.
pub(super) async fn read_body(
    request: &mut Request,
    undecodable: impl Fn(&str) -> Failure,
) -> Result<Option<IntentionBody>, Failure> {
    let sent = request.read_whole().await;
    let mut body = None;
    let rules = request.decoding(UnknownFields::Refused);
    let decoded = request.decode::<Option<IntentionBody>>(sent, &mut body, rules);
    decoded.map_err(|words| undecodable(&words))?;
    Ok(body)
}
