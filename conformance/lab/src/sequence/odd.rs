//! Requests that no client sends: any path with any parameters and any body. Which of several mistakes a server tells, and in which
//! words, is as much of an answer as any other.
//!
//! The generator leaves out:
//! * requests that a server acts on later: those that change the agent, coordinates, and checks that run;
//! * lists in random order, or by distance;
//! * null within a body, which makes 1.8.7 panic;
//! * `health/ingress`, whose index differed once: the cause is not known.

use proptest::prelude::*;
use proptest::sample::select;

use Body::{Each, Of};
use Value::{Always, List, Object, One};

/// A request that may be wrong in any way. `@0` to `@2` in it are the sessions of the sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OddRequest {
    /// The method.
    pub method: &'static str,
    /// The path and the query.
    pub target: String,
    /// The body, if there is one.
    pub body: Option<String>,
}

/// An endpoint: its path, what may follow it, its methods, and what is written to it.
struct Endpoint(
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    Body,
);

/// What a body is made of.
#[derive(Clone, Copy)]
enum Body {
    /// Most requests have none.
    None,
    /// An object.
    Of(&'static [Field]),
    /// A list of objects.
    Each(&'static [Field]),
}

/// The name of a field, and its usual values.
struct Field(&'static str, Value);

enum Value {
    /// One of these, as JSON.
    One(&'static [&'static str]),
    /// One of these, always.
    Always(&'static [&'static str]),
    Object(&'static [Field]),
    List(&'static [Field]),
}

const GET: &[&str] = &["GET"];
const PUT: &[&str] = &["PUT"];
const POST: &[&str] = &["POST"];
const ANY: &[&str] = &["GET", "PUT", "POST", "DELETE", "OPTIONS", "PATCH"];

const NAMES: &[&str] = &[
    "n1",
    "n2",
    "web",
    "api",
    "",
    "x%20y",
    "%C3%BC",
    "WEB",
    "a.b",
    "a/b",
    "service:web",
    "passing",
    "any",
];
const KEYS: &[&str] = &["odd", "odd/a", "odd/a/b", "odd/", "", "/odd", "odd%20a"];
const SESSIONS: &[&str] = &["@0", "@1", "x", "", "00000000-0000-0000-0000-00000000abcd"];
const ENTRIES: &[&str] = &[
    "service-defaults",
    "service-defaults/",
    "service-defaults/web",
    "proxy-defaults/global",
    "service-resolver/web",
    "x",
    "x/a",
    "",
];
const QUERIES: &[&str] = &[
    "odd/explain",
    "none/explain",
    "x",
    "",
    "00000000-0000-0000-0000-00000000abcd",
];

const ENDPOINTS: &[Endpoint] = &[
    Endpoint("/v1/catalog/datacenters", &[""], ANY, Body::None),
    Endpoint("/v1/catalog/nodes", &[""], GET, Body::None),
    Endpoint("/v1/catalog/services", &[""], GET, Body::None),
    Endpoint("/v1/catalog/service/", NAMES, GET, Body::None),
    Endpoint("/v1/catalog/connect/", NAMES, GET, Body::None),
    Endpoint("/v1/catalog/node/", NAMES, GET, Body::None),
    Endpoint("/v1/catalog/node-services/", NAMES, GET, Body::None),
    Endpoint("/v1/catalog/gateway-services/", NAMES, GET, Body::None),
    Endpoint("/v1/catalog/register", &[""], PUT, Of(REGISTRATION)),
    Endpoint("/v1/catalog/register", &[""], PUT, Of(REGISTRATION)),
    Endpoint("/v1/catalog/deregister", &[""], PUT, Of(DEREGISTRATION)),
    Endpoint("/v1/health/node/", NAMES, GET, Body::None),
    Endpoint("/v1/health/checks/", NAMES, GET, Body::None),
    Endpoint("/v1/health/state/", NAMES, GET, Body::None),
    Endpoint("/v1/health/service/", NAMES, GET, Body::None),
    Endpoint("/v1/health/connect/", NAMES, GET, Body::None),
    Endpoint("/v1/internal/ui/services", &[""], GET, Body::None),
    Endpoint("/v1/internal/ui/node/", NAMES, GET, Body::None),
    Endpoint(
        "/v1/internal/ui/gateway-services-nodes/",
        NAMES,
        GET,
        Body::None,
    ),
    Endpoint("/v1/agent/services", &[""], GET, Body::None),
    Endpoint("/v1/agent/checks", &[""], GET, Body::None),
    Endpoint("/v1/agent/service/", NAMES, GET, Body::None),
    Endpoint("/v1/agent/health/service/name/", NAMES, GET, Body::None),
    Endpoint("/v1/agent/health/service/id/", NAMES, GET, Body::None),
    Endpoint("/v1/agent/check/pass/", NAMES, PUT, Body::None),
    Endpoint("/v1/agent/check/update/", NAMES, PUT, Of(UPDATE)),
    Endpoint("/v1/agent/service/deregister/", NAMES, PUT, Body::None),
    Endpoint("/v1/session/create", &[""], PUT, Of(SESSION)),
    Endpoint("/v1/session/info/", SESSIONS, ANY, Body::None),
    Endpoint("/v1/session/renew/", SESSIONS, PUT, Body::None),
    Endpoint("/v1/session/destroy/", &["x", "", "odd"], ANY, Body::None),
    Endpoint("/v1/session/node/", NAMES, GET, Body::None),
    Endpoint("/v1/kv/", KEYS, GET, Body::None),
    Endpoint("/v1/kv/", KEYS, &["PUT", "DELETE"], Of(UPDATE)),
    Endpoint("/v1/txn", &[""], PUT, Each(OPERATION)),
    Endpoint("/v1/txn", &[""], PUT, Each(OPERATION)),
    Endpoint("/v1/config", &[""], PUT, Of(DEFAULTS)),
    Endpoint("/v1/config", &[""], PUT, Of(ALL_PROXIES)),
    Endpoint("/v1/config", &[""], PUT, Of(RESOLVER)),
    Endpoint("/v1/config/", ENTRIES, &["GET", "DELETE"], Body::None),
    Endpoint("/v1/connect/intentions", &[""], POST, Of(INTENTION)),
    Endpoint(
        "/v1/connect/intentions/",
        QUERIES,
        &["GET", "PUT", "DELETE"],
        Of(INTENTION),
    ),
    Endpoint("/v1/connect/intentions/match", &[""], GET, Body::None),
    Endpoint("/v1/connect/intentions/check", &[""], GET, Body::None),
    Endpoint("/v1/discovery-chain/", NAMES, &["GET", "POST"], Body::None),
    Endpoint("/v1/query", &[""], POST, Of(QUERY)),
    Endpoint(
        "/v1/query/",
        QUERIES,
        &["GET", "PUT", "DELETE", "OPTIONS"],
        Of(QUERY),
    ),
    Endpoint("/v1/acl/token", &[""], PUT, Of(UPDATE)),
    Endpoint("/v1/acl/policy/", NAMES, ANY, Body::None),
    Endpoint("/v1/status/leader", &[""], ANY, Body::None),
    Endpoint("/v1/", NAMES, ANY, Body::None),
];

const TEXTS: &[&str] = &[r#""web""#, r#""api""#, r#""""#, r#""é x""#];
const NODES: &[&str] = &[r#""n1""#, r#""n2""#];
const IDS: &[&str] = &[
    r#""@0""#,
    r#""@1""#,
    r#""x""#,
    r#""""#,
    r#""00000000-0000-0000-0000-00000000abcd""#,
];
const LABELS: &[&str] = &["{}", r#"{"a":"b"}"#, r#"{"":"x"}"#, r#"{"a":1}"#];
const SERVICE: &[Field] = &[
    Field("ID", One(TEXTS)),
    Field("Service", One(TEXTS)),
    Field("Tags", One(&["[]", r#"["a","b"]"#])),
    Field("Port", One(&["0", "80", "-1", "65536"])),
    Field("Address", One(&[r#""10.0.0.1""#, r#""""#])),
    Field("Meta", One(LABELS)),
    Field(
        "Weights",
        One(&[r#"{"Passing":1,"Warning":0}"#, r#"{"Passing":0}"#, "{}"]),
    ),
    Field(
        "Kind",
        One(&[r#""""#, r#""connect-proxy""#, r#""x""#, r#""mesh-gateway""#]),
    ),
    Field(
        "Proxy",
        One(&[
            "{}",
            r#"{"DestinationServiceName":"web"}"#,
            r#"{"Upstreams":[{}]}"#,
        ]),
    ),
    Field("EnableTagOverride", One(&["true", "false"])),
];
const CHECK: &[Field] = &[
    Field("Node", One(NODES)),
    Field("CheckID", One(TEXTS)),
    Field("Name", One(TEXTS)),
    Field(
        "Status",
        One(&[r#""passing""#, r#""critical""#, r#""x""#, r#""""#]),
    ),
    Field("ServiceID", One(TEXTS)),
    Field("Output", One(TEXTS)),
    Field(
        "Definition",
        One(&[
            "{}",
            r#"{"Interval":"10s"}"#,
            r#"{"Interval":"x"}"#,
            r#"{"HTTP":5}"#,
        ]),
    ),
];
const REGISTRATION: &[Field] = &[
    Field("Node", One(NODES)),
    Field("Address", One(&[r#""10.0.0.1""#, r#""10.0.0.2""#])),
    Field("ID", One(&[r#""""#, r#""x""#])),
    Field("NodeMeta", One(LABELS)),
    Field("TaggedAddresses", One(LABELS)),
    Field("Service", Object(SERVICE)),
    Field("Check", Object(CHECK)),
    Field("Checks", List(CHECK)),
    Field("SkipNodeUpdate", One(&["true", "false"])),
    Field("Datacenter", One(&[r#""dc1""#, r#""nowhere""#])),
];
const DEREGISTRATION: &[Field] = &[
    Field("Node", One(NODES)),
    Field("ServiceID", One(TEXTS)),
    Field("CheckID", One(TEXTS)),
    Field("Datacenter", One(&[r#""dc1""#, r#""nowhere""#])),
];
const SESSION: &[Field] = &[
    Field("Name", One(TEXTS)),
    Field("Node", One(NODES)),
    Field("TTL", One(&[r#""1h""#, r#""x""#, "3600"])),
    Field("LockDelay", One(&[r#""0s""#, r#""61s""#, "0", r#""x""#])),
    Field("Behavior", One(&[r#""delete""#, r#""release""#, r#""x""#])),
    Field("Checks", One(&["[]", r#"["web"]"#, r#"["serfHealth"]"#])),
];
const UPDATE: &[Field] = &[
    Field("Status", One(&[r#""passing""#, r#""x""#])),
    Field("Output", One(TEXTS)),
];
const KV: &[Field] = &[
    Field(
        "Verb",
        One(&[
            r#""set""#,
            r#""get""#,
            r#""cas""#,
            r#""lock""#,
            r#""unlock""#,
            r#""delete""#,
            r#""check-index""#,
            r#""get-tree""#,
            r#""x""#,
        ]),
    ),
    Field("Key", One(&[r#""odd""#, r#""odd/a""#, r#""""#])),
    Field("Value", One(&[r#""QQ==""#, r#""!""#, "null"])),
    Field("Flags", One(&["0", "1", "-1"])),
    Field("Index", One(&["0", "9999999999"])),
    Field("Session", One(IDS)),
];
const NODE: &[Field] = &[
    Field("Node", One(NODES)),
    Field("Address", One(&[r#""10.0.0.1""#, r#""""#])),
    Field("Meta", One(LABELS)),
    Field("ModifyIndex", One(&["0", "9999999999"])),
];
const VERBS: &[&str] = &[
    r#""set""#,
    r#""get""#,
    r#""cas""#,
    r#""delete""#,
    r#""delete-cas""#,
    r#""x""#,
];
const OPERATION: &[Field] = &[
    Field("KV", Object(KV)),
    Field(
        "Node",
        Object(&[Field("Verb", One(VERBS)), Field("Node", Object(NODE))]),
    ),
    Field(
        "Service",
        Object(&[
            Field("Verb", One(VERBS)),
            Field("Node", One(NODES)),
            Field("Service", Object(SERVICE)),
        ]),
    ),
    Field(
        "Check",
        Object(&[Field("Verb", One(VERBS)), Field("Check", Object(CHECK))]),
    ),
];
// Of several fields that a kind does not have 1.8.7 tells in an order of chance.
const DEFAULTS: &[Field] = &[
    Field("Kind", Always(&[r#""service-defaults""#])),
    Field("Name", Always(&[r#""web""#, r#""api""#])),
    Field("Protocol", One(&[r#""http""#, r#""tcp""#])),
    Field(
        "MeshGateway",
        One(&["{}", r#"{"Mode":"local"}"#, r#"{"Mode":"x"}"#]),
    ),
    Field("Subsets", One(&["{}"])),
];
const ALL_PROXIES: &[Field] = &[
    Field("Kind", Always(&[r#""proxy-defaults""#])),
    Field("Name", Always(&[r#""global""#, r#""web""#])),
    Field("Config", One(&["{}", r#"{"a":1}"#, "[{}]"])),
    Field("MeshGateway", One(&["{}", r#"{"Mode":"local"}"#])),
];
const RESOLVER: &[Field] = &[
    Field("Kind", Always(&[r#""service-resolver""#])),
    Field("Name", Always(&[r#""web""#, r#""api""#])),
    Field("DefaultSubset", One(TEXTS)),
    Field(
        "Subsets",
        One(&["{}", r#"{"web":{}}"#, "[{}]", r#"{"web":{"Filter":"("}}"#]),
    ),
    Field("ConnectTimeout", One(&[r#""5s""#, "5", r#""x""#])),
];
const INTENTION: &[Field] = &[
    Field("ID", One(&[r#""x""#])),
    Field("SourceName", One(&[r#""web""#, r#""api""#, r#""*""#])),
    Field("DestinationName", One(&[r#""web""#, r#""api""#, r#""*""#])),
    Field("Action", One(&[r#""allow""#, r#""deny""#, r#""x""#])),
    Field("SourceType", One(&[r#""consul""#, r#""x""#])),
    Field("Meta", One(LABELS)),
    Field("DefaultPort", One(&["80", "-1"])),
];
const QUERY: &[Field] = &[
    Field("Name", One(&[r#""odd""#, r#""""#])),
    Field("Session", One(IDS)),
    Field(
        "Service",
        Object(&[
            Field("Service", One(TEXTS)),
            Field("OnlyPassing", One(&["true"])),
            Field("Tags", One(&["[]", r#"["a"]"#])),
            Field(
                "Failover",
                One(&["{}", r#"{"NearestN":1}"#, r#"{"Datacenters":["x"]}"#]),
            ),
        ]),
    ),
    Field(
        "Template",
        One(&[
            "{}",
            r#"{"Type":"name_prefix_match"}"#,
            r#"{"Type":"x"}"#,
            r#"{"Type":"name_prefix_match","Regexp":"("}"#,
        ]),
    ),
    Field("DNS", One(&["{}", r#"{"TTL":"10s"}"#, r#"{"TTL":"x"}"#])),
];

/// Values that any field may have.
const ODD: &[&str] = &[
    "0",
    "-1",
    "1.5",
    "1e300",
    "true",
    "[]",
    "{}",
    r#"["a"]"#,
    r#""x""#,
    r#""""#,
    r#""10s""#,
    r#"{"a":1}"#,
];

const PARAMETERS: &[&str] = &[
    "dc=dc1",
    "dc=nowhere",
    "dc=",
    "index=x",
    "index=-1",
    "index=0&wait=1ms",
    "wait=x",
    "wait=-1s",
    "stale",
    "consistent",
    "recurse",
    "keys",
    "separator=/",
    "raw",
    "cas=0",
    "cas=x",
    "cas=9999999999",
    "flags=1",
    "flags=x",
    "acquire=@0",
    "acquire=x",
    "release=@0",
    "node-meta=a:b",
    "node-meta=a",
    "tag=a",
    "tag=a&tag=b",
    "passing",
    "passing=x",
    "filter=Node==n1",
    "filter=Service==web",
    "filter=ServiceName+!=+\"web\"",
    "filter=(",
    "filter=Bogus==1",
    "filter=a+in+Tags",
    "filter=Meta.a==b",
    "filter=Port==80",
    "filter=Port==x",
    "filter=Name+matches+\"(\"",
    "token=x",
    "pretty",
    "note=x",
    "reason=x",
    "enable=x",
    "ns=x",
    "by=source",
    "by=x",
    "name=web",
    "source=web",
    "destination=api",
    "limit=x",
    "limit=1",
    "connect=x",
    "kind=web",
    "expanded",
    "FILTER=(",
    "%zz",
    "a=%C3%BC",
    "wan",
];

impl Body {
    fn text(self) -> BoxedStrategy<Option<String>> {
        let text = match self {
            Self::None => {
                return prop::option::weighted(0.05, select(ODD).prop_map(str::to_owned)).boxed();
            }
            Self::Of(fields) => object(fields),
            Self::Each(fields) => list(fields),
        };
        let broken = (text.clone(), any::<prop::sample::Index>()).prop_map(|(text, at)| {
            let mut text = text;
            let ends: Vec<_> = (0..=text.len())
                .filter(|end| text.is_char_boundary(*end))
                .collect();
            text.truncate(*at.get(&ends));
            text
        });
        let odd = prop_oneof![select(ODD), Just("null")].prop_map(str::to_owned);
        prop_oneof![
            90 => text.prop_map(Some),
            3 => broken.prop_map(Some),
            4 => odd.prop_map(Some),
            3 => Just(None),
        ]
        .boxed()
    }
}

impl Value {
    fn text(&self) -> BoxedStrategy<String> {
        let usual = match self {
            Self::Always(values) => return select(*values).prop_map(str::to_owned).boxed(),
            Self::One(values) => select(*values).prop_map(str::to_owned).boxed(),
            Self::Object(fields) => object(fields),
            Self::List(fields) => list(fields),
        };
        prop_oneof![9 => usual, 1 => select(ODD).prop_map(str::to_owned)].boxed()
    }
}

/// Objects with some of these fields, the first more often than the rest.
fn object(fields: &'static [Field]) -> BoxedStrategy<String> {
    let members = fields.iter().enumerate().map(|(at, Field(name, value))| {
        let member = value
            .text()
            .prop_map(move |value| format!("\"{name}\":{value}"));
        match value {
            Always(_) => member.prop_map(Some).boxed(),
            _ => prop::option::weighted(if at < 2 { 0.8 } else { 0.25 }, member).boxed(),
        }
    });
    let members: Vec<_> = members.collect();
    members
        .prop_map(|members| {
            let members: Vec<_> = members.into_iter().flatten().collect();
            format!("{{{}}}", members.join(","))
        })
        .boxed()
}

fn list(fields: &'static [Field]) -> BoxedStrategy<String> {
    let elements = prop::collection::vec(object(fields), 0..3);
    elements
        .prop_map(|all| format!("[{}]", all.join(",")))
        .boxed()
}

/// Any such request.
pub(super) fn odd_request() -> impl Strategy<Value = OddRequest> {
    let parameters = prop::collection::vec(select(PARAMETERS), 0..3);
    let endpoint = (0..ENDPOINTS.len()).prop_flat_map(|number| {
        let Endpoint(path, rests, methods, body) = &ENDPOINTS[number];
        let method = prop_oneof![19 => select(*methods), 1 => select(ANY)];
        (Just(*path), select(*rests), method, body.text())
    });
    (endpoint, parameters).prop_map(|((path, rest, method, body), parameters)| {
        let mark = if parameters.is_empty() { "" } else { "?" };
        OddRequest {
            method,
            target: format!("{path}{rest}{mark}{}", parameters.join("&")),
            body,
        }
    })
}
