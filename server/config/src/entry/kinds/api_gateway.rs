//! API gateways, their routes and certificates.

use super::common::{KIND, LIMITS, NAME, PROVIDERS};
use super::gateway::{GATEWAY_TLS, SDS};
use crate::entry::field::Shape::{self, Flag, Int, Kept, List, Nanos, Pointer, Struct, Text, Uint};
use crate::entry::field::{Field, LABELS, TEXTS, always, set};
use proconsul_version::Behaviour::{ConfigLate, ConfigTwo, ConfigTwoOne};

/// What an entry names: another, or a part of it.
const REFERENCE: &[Field] = &[
    always("Kind", Text),
    always("Name", Text),
    always("SectionName", Text),
    set("Partition", Text),
    set("Namespace", Text),
];
const STATUS: Field = always(
    "Status",
    Struct(&[always(
        "Conditions",
        List(&Struct(&[
            always("Type", Text),
            always("Status", Text),
            always("Reason", Text),
            always("Message", Text),
            always("Resource", Struct(REFERENCE)),
            always("LastTransitionTime", Text),
        ])),
    )]),
);
const PARENTS: Field = always("Parents", List(&Struct(REFERENCE)));
/// What a listener asks of tokens: all of it is a feature of Enterprise.
const POLICY: Shape = Struct(&[]);

pub(super) const API_GATEWAY: &[Field] = fields![
    KIND,
    NAME,
    always(
        "Listeners",
        List(&Struct(&[
            always("Name", Text),
            always("Hostname", Text),
            always("Port", Int),
            always("Protocol", Text),
            always(
                "TLS",
                Struct(&[
                    always("Certificates", List(&Struct(REFERENCE))),
                    always("MaxVersion", Text),
                    always("MinVersion", Text),
                    always("CipherSuites", TEXTS),
                    SDS.since(ConfigTwo),
                ])
            ),
            set("Override", POLICY),
            set("Default", POLICY),
            set("MaxRequestHeadersKB", Int).since(ConfigLate),
        ]))
    ),
    always("TLS", Struct(GATEWAY_TLS)).since(ConfigTwo),
    LIMITS.named("Defaults").since(ConfigTwo),
    set("ExtAuthz", Struct(AUTHORIZATION)).since(ConfigTwoOne);
    behind STATUS
];
pub(super) const BOUND_API_GATEWAY: &[Field] = fields![
    KIND,
    NAME,
    always("Listeners", List(&Kept)),
    set("Services", Kept),
];
const AUTHORIZATION: &[Field] = &[always("Enabled", Flag)];
/// What a filter tells a service that looks at requests and responses.
const PROCESSING: &[Field] = &[
    always("HeadersMode", Text),
    always("BodyMode", Text),
    always("TrailersMode", Text),
    always("MaxBodyBytes", Uint),
];
/// The condition of a route on a part of the query.
const QUERY_MATCH: &[Field] = &[
    always("Match", Text),
    always("Name", Text),
    always("Value", Text),
];
const HEADER_MATCH: &[Field] = &[
    always("Match", Text),
    always("Name", Text),
    always("Value", Text),
    set("Invert", Flag).since(ConfigTwoOne),
];
const HEADERS: Field = always(
    "Headers",
    List(&Struct(&[
        always("Add", LABELS),
        always("Remove", TEXTS),
        always("Set", LABELS),
    ])),
);
const FILTERS: Field = always(
    "Filters",
    Struct(&[
        HEADERS,
        always("URLRewrite", Pointer(&[always("Path", Text)])),
        always(
            "RetryFilter",
            Pointer(&[
                always("NumRetries", Uint),
                always("RetryOn", TEXTS),
                always("RetryOnStatusCodes", List(&Uint)),
                always("RetryOnConnectFailure", Flag),
            ]),
        ),
        always(
            "TimeoutFilter",
            Pointer(&[
                always("RequestTimeout", Nanos),
                always("IdleTimeout", Nanos),
            ]),
        ),
        always("JWT", Pointer(PROVIDERS)),
        EXTERNAL_PROCESSING,
        always("ExtAuthz", Pointer(AUTHORIZATION)).since(ConfigTwoOne),
    ]),
);
const EXTERNAL_PROCESSING: Field = always(
    "ExtProc",
    List(&Struct(&[
        set("StatPrefix", Text),
        always("Mode", Text),
        always(
            "Overrides",
            Struct(&[
                always(
                    "Processing",
                    Struct(&[
                        always("Request", Struct(PROCESSING)),
                        always("Response", Struct(PROCESSING)),
                    ]),
                ),
                set(
                    "GRPCInitialMetadata",
                    List(&Struct(&[set("Key", Text), set("Value", Text)])),
                ),
            ]),
        ),
    ])),
)
.since(ConfigTwoOne);
const RESPONSE_FILTERS: Field = always("ResponseFilters", Struct(&[HEADERS]));
const SERVICE_TLS: Field = set("TLS", Struct(&[SDS])).since(ConfigTwo);
const RULE: &[Field] = &[
    FILTERS,
    RESPONSE_FILTERS,
    always(
        "Matches",
        List(&Struct(&[
            always("Headers", List(&Struct(HEADER_MATCH))),
            always("Method", Text),
            always(
                "Path",
                Struct(&[always("Match", Text), always("Value", Text)]),
            ),
            always("Query", List(&Struct(QUERY_MATCH))),
        ])),
    ),
    always(
        "Services",
        List(&Struct(&[
            always("Name", Text),
            always("Weight", Int),
            FILTERS,
            RESPONSE_FILTERS,
            set("Partition", Text),
            set("Namespace", Text),
            SERVICE_TLS,
            LIMITS.since(ConfigTwo),
        ])),
    ),
];
pub(super) const HTTP_ROUTE: &[Field] = fields![
    KIND,
    NAME,
    PARENTS,
    always("Rules", List(&Struct(RULE))),
    always("Hostnames", TEXTS);
    behind STATUS
];
pub(super) const TCP_ROUTE: &[Field] = fields![
    KIND,
    NAME,
    PARENTS,
    always(
        "Services",
        List(&Struct(&[
            always("Name", Text),
            set("Partition", Text),
            set("Namespace", Text),
            SERVICE_TLS,
            LIMITS.since(ConfigTwo),
        ]))
    );
    behind STATUS
];
pub(super) const INLINE_CERTIFICATE: &[Field] = fields![
    KIND,
    NAME,
    always("Certificate", Text),
    always("PrivateKey", Text),
];
pub(super) const FILE_CERTIFICATE: &[Field] = fields![
    KIND,
    NAME,
    always("Certificate", Text),
    always("PrivateKey", Text),
];
