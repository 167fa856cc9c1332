//! Settings of proxies in the bodies of services.

use std::borrow::Cow;
use std::sync::Arc;

use proconsul_config::schema::body::{In, Part};
use proconsul_config::schema::{At, On, Shape as _};
use proconsul_gocompat::json::context::DecodeContext;
use proconsul_gocompat::json::decode::{Decode, FieldSet, go_struct};
use proconsul_gocompat::json::value::{Value, ValueKind};
use proconsul_store::{Proxy, Upstream};

/// The decoded settings of a proxy.
#[derive(Default)]
pub(crate) struct ProxyBody {
    /// Whether the catalog was given `null` for them, on which Consul's decoder panics.
    pub(crate) is_null: bool,
    proxy: Proxy,
    upstreams: Option<Vec<Option<Upstream>>>,
}

impl ProxyBody {
    /// Returns the settings; `None` for a null upstream, on which Consul's handler panics.
    pub(crate) fn into_proxy(self) -> Option<Arc<Proxy>> {
        let upstreams = match self.upstreams {
            Some(upstreams) => Some(upstreams.into_iter().collect::<Option<_>>()?),
            None => None,
        };
        Some(Arc::new(Proxy {
            upstreams,
            ..self.proxy
        }))
    }
}

/// A proxy's settings in the catalog.
pub(crate) struct CatalogProxyFields;

impl Decode for CatalogProxyFields {
    type Place = ProxyBody;

    fn decode(place: &mut ProxyBody, value: Value<'_>, context: &mut DecodeContext) {
        if matches!(value.kind(), ValueKind::Null) {
            place.is_null = true;
        } else {
            ProxyFields::decode(place, value, context);
        }
    }

    fn go_type() -> Cow<'static, str> {
        ProxyFields::go_type()
    }
}

/// The fields of a proxy itself.
const PROXY_FIELDS: &dyn FieldSet<ProxyBody> = &Part {
    at: At {
        get: |body: &ProxyBody| &body.proxy,
        place: |body: &mut ProxyBody| &mut body.proxy,
    },
    on: On::AGENT_BODY,
};

const PROXY_TYPE: &str = Proxy::SERVER.name;

go_struct! {
    /// A proxy's settings.
    pub(crate) ProxyFields as PROXY_TYPE for body: ProxyBody, own decoder: Refused {
        "Upstreams" is "structs.Upstreams": Option<Vec<Option<In<Upstream, false>>>> => body.upstreams,
        ..PROXY_FIELDS;
    }
}
