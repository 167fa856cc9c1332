//! API gateways, their routes and certificates.

use super::common::{KIND, NAME};
use crate::entry::field::Shape::{Int, Kept, List, Struct, Text};
use crate::entry::field::{Field, TEXTS, always, set};

const STATUS: Field = always("Status", Struct(&[set("Conditions", List(&Kept))]));

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
                    always("Certificates", List(&Kept)),
                    set("MaxVersion", Text),
                    set("MinVersion", Text),
                    set("CipherSuites", TEXTS),
                ])
            ),
            set("Override", Kept),
            set("Default", Kept),
        ]))
    ),
    STATUS,
];
pub(super) const BOUND_API_GATEWAY: &[Field] = fields![
    KIND,
    NAME,
    always("Listeners", List(&Kept)),
    set("Services", Kept),
];
pub(super) const HTTP_ROUTE: &[Field] = fields![
    KIND,
    NAME,
    always("Parents", List(&Kept)),
    always("Rules", List(&Kept)),
    always("Hostnames", TEXTS),
    STATUS,
];
pub(super) const TCP_ROUTE: &[Field] = fields![
    KIND,
    NAME,
    always("Parents", List(&Kept)),
    always("Services", List(&Kept)),
    STATUS,
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
