//! The settings of proxies in a state.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::value::unset;
use crate::go::json::object::object_text;
use crate::store::{ExposedPath, Proxy, Upstream};

/// Most proxies have few of these.
#[derive(Deserialize, Serialize)]
#[serde(remote = "Proxy", deny_unknown_fields)]
struct ProxyFields {
    #[serde(default, skip_serializing_if = "unset")]
    destination_name: String,
    #[serde(default, skip_serializing_if = "unset")]
    destination_id: String,
    #[serde(default, skip_serializing_if = "unset")]
    local_address: String,
    #[serde(default, skip_serializing_if = "unset")]
    local_port: i64,
    #[serde(default, skip_serializing_if = "unset", deserialize_with = "config")]
    config: Option<String>,
    #[serde(default, skip_serializing_if = "unset", with = "upstreams")]
    upstreams: Vec<Upstream>,
    #[serde(default, skip_serializing_if = "unset")]
    mesh_gateway_mode: String,
    #[serde(default, skip_serializing_if = "unset")]
    expose_checks: bool,
    #[serde(default, skip_serializing_if = "unset", with = "paths")]
    exposed_paths: Vec<ExposedPath>,
}

#[derive(Deserialize, Serialize)]
#[serde(remote = "Upstream", deny_unknown_fields)]
struct UpstreamFields {
    destination_type: String,
    #[serde(default, skip_serializing_if = "unset")]
    destination_namespace: String,
    destination_name: String,
    #[serde(default, skip_serializing_if = "unset")]
    datacenter: String,
    #[serde(default, skip_serializing_if = "unset")]
    local_bind_address: String,
    local_bind_port: i64,
    #[serde(default, skip_serializing_if = "unset", deserialize_with = "config")]
    config: Option<String>,
    #[serde(default, skip_serializing_if = "unset")]
    mesh_gateway_mode: String,
}

#[derive(Deserialize, Serialize)]
#[serde(remote = "ExposedPath", deny_unknown_fields)]
struct PathFields {
    listener_port: i64,
    path: String,
    local_path_port: i64,
    #[serde(default, skip_serializing_if = "unset")]
    protocol: String,
}

/// The settings of a proxy's own. They are shown as JSON, so nothing else may get in.
fn config<'de, D: Deserializer<'de>>(source: D) -> Result<Option<String>, D::Error> {
    let Some(text) = Option::<String>::deserialize(source)? else {
        return Ok(None);
    };
    let object = object_text(&text);
    object
        .map(Some)
        .map_err(|error| D::Error::custom(format!("the config of a proxy: {error}")))
}

pub(super) fn serialize<S: Serializer>(
    proxy: &Arc<Proxy>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    ProxyFields::serialize(proxy, serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(source: D) -> Result<Arc<Proxy>, D::Error> {
    ProxyFields::deserialize(source).map(Arc::new)
}

mod upstreams {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Upstream, UpstreamFields};

    #[derive(Deserialize, Serialize)]
    #[serde(transparent)]
    struct One(#[serde(with = "UpstreamFields")] Upstream);

    pub(super) fn serialize<S: Serializer>(
        upstreams: &[Upstream],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let upstreams = upstreams.iter().cloned().map(One);
        serializer.collect_seq(upstreams)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        source: D,
    ) -> Result<Vec<Upstream>, D::Error> {
        let read = Vec::<One>::deserialize(source)?;
        Ok(read.into_iter().map(|One(upstream)| upstream).collect())
    }
}

mod paths {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{ExposedPath, PathFields};

    #[derive(Deserialize, Serialize)]
    #[serde(transparent)]
    struct One(#[serde(with = "PathFields")] ExposedPath);

    pub(super) fn serialize<S: Serializer>(
        paths: &[ExposedPath],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().cloned().map(One))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        source: D,
    ) -> Result<Vec<ExposedPath>, D::Error> {
        let read = Vec::<One>::deserialize(source)?;
        Ok(read.into_iter().map(|One(path)| path).collect())
    }
}
