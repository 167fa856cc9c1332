//! Filters of events that are not UTF-8 (seen on 1.8.7).

use crate::support::Consul;

#[test]
fn a_filter_has_to_be_utf_8() {
    let consul = Consul::v1_8();
    for (filters, which) in [
        ("node=%ff", "node"),
        ("node=(%ff", "node"),
        ("service=%ff", "service"),
        ("service=a&tag=%ff", "tag"),
        ("service=%ff&node=%ff", "node"),
    ] {
        let answer = consul.put(&format!("/v1/event/fire/e?{filters}"), "p");
        let words = "filter: error parsing regexp: invalid UTF-8: `\u{fffd}`";
        answer.is(500, &format!("Invalid {which} {words}"));
    }
}
