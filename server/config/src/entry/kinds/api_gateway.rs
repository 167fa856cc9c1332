//! API gateways, their routes and certificates.

use super::common::{KIND, NAME, PROVIDERS};
use crate::entry::field::Shape::{self, Flag, Int, Kept, List, Nanos, Pointer, Struct, Text, Uint};
use crate::entry::field::{Field, LABELS, TEXTS, always, set};
use proconsul_version::Behaviour::ConfigLate;

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
                ])
            ),
            set("Override", POLICY),
            set("Default", POLICY),
            set("MaxRequestHeadersKB", Int).since(ConfigLate),
        ]))
    );
    behind STATUS
];
pub(super) const BOUND_API_GATEWAY: &[Field] = fields![
    KIND,
    NAME,
    always("Listeners", List(&Kept)),
    set("Services", Kept),
];
/// A condition of a route on a header or on a part of the query.
const MATCH: &[Field] = &[
    always("Match", Text),
    always("Name", Text),
    always("Value", Text),
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
    ]),
);
const RESPONSE_FILTERS: Field = always("ResponseFilters", Struct(&[HEADERS]));
const RULE: &[Field] = &[
    FILTERS,
    RESPONSE_FILTERS,
    always(
        "Matches",
        List(&Struct(&[
            always("Headers", List(&Struct(MATCH))),
            always("Method", Text),
            always(
                "Path",
                Struct(&[always("Match", Text), always("Value", Text)]),
            ),
            always("Query", List(&Struct(MATCH))),
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
