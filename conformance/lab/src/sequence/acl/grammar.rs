//! The requests of sequences with tokens, as a grammar from which one is drawn.
//!
//! `(a|b)` is one of these, `@name` one of the alternatives of that name, `^` a slot that is the same wherever it stands
//! in one request. What begins with `$` is filled in when a request is played (`acl/names.rs`).

use proconsul_conformance::history::chance::Chance;

/// The slots of policies, roles and tokens.
pub(super) const SLOTS: usize = 3;

/// Draws a text about `slot` from the alternatives of `name`.
pub(super) fn draw(name: &str, slot: usize, chance: &mut Chance) -> String {
    let mut drawn = String::new();
    one_of(name, &slot.to_string(), chance, &mut drawn);
    drawn
}

fn one_of(name: &str, slot: &str, chance: &mut Chance, drawn: &mut String) {
    let alternatives = alternatives(name);
    expand(
        alternatives[chance.below(alternatives.len())],
        slot,
        chance,
        drawn,
    );
}

fn expand(text: &str, slot: &str, chance: &mut Chance, drawn: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(['(', '@', '^']) {
        drawn.push_str(&rest[..at]);
        let (mark, behind) = rest[at..].split_at(1);
        rest = match mark {
            "^" => {
                drawn.push_str(slot);
                behind
            }
            "(" => {
                let (parts, behind) = choices(behind);
                expand(parts[chance.below(parts.len())], slot, chance, drawn);
                behind
            }
            _ => {
                let end = behind.find(|letter: char| !letter.is_ascii_lowercase());
                let (name, behind) = behind.split_at(end.unwrap_or(behind.len()));
                one_of(name, slot, chance, drawn);
                behind
            }
        };
    }
    drawn.push_str(rest);
}

/// The choices in a parenthesis that was opened, and what is behind it.
fn choices(text: &str) -> (Vec<&str>, &str) {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            '|' | ')' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
                if letter == ')' {
                    return (parts, &text[start..]);
                }
            }
            _ => {}
        }
    }
    panic!("not closed: ({text}")
}

fn alternatives(name: &str) -> &'static [&'static str] {
    let found = RULES.iter().chain(REQUESTS).find(|(own, _)| *own == name);
    found.unwrap_or_else(|| panic!("the grammar has {name}")).1
}

type Alternatives = &'static [(&'static str, &'static [&'static str])];

/// The rules of policies, as they stand in JSON.
const RULES: Alternatives = &[
    (
        "rules",
        &[
            "",
            "@rule@rule",
            "@rule@rule@rule@rule@rule",
            "@broad@broad@broad@broad@rule",
            "@broad@broad@rule@rule@rule",
        ],
    ),
    (
        "broad",
        &[
            r#"(key|node|service|session)_prefix \"\" { policy = \"write\" }\n"#,
            r#"(key|node|service|session)_prefix \"\" { policy = \"(read|write)\" }\n"#,
            r#"(agent|event|query|node|service)_prefix \"\" { policy = \"(read|write)\" }\n"#,
        ],
    ),
    (
        "rule",
        &[
            "@keyrule",
            "@keyrule",
            "@keyrule",
            "@noderule",
            "@noderule",
            "@servicerule",
            "@servicerule",
            "@sessionrule",
            "@otherrule",
        ],
    ),
    (
        "keyrule",
        &[
            r#"key_prefix \"(|sequence/|sequence/$T/|sequence/$T/a|sequence/$T/a/|sequence/$T/b)\" { policy = \"@klevel\" }\n"#,
            r#"key \"sequence/$T/(|a|a/b|a/|b)\" { policy = \"@klevel\" }\n"#,
        ],
    ),
    (
        "noderule",
        &[
            r#"node_prefix \"(|sequence-$T-)\" { policy = \"@level\" }\n"#,
            r#"node \"(sequence-$T-n1|sequence-$T-n2|$N|$N)\" { policy = \"@level\" }\n"#,
        ],
    ),
    (
        "servicerule",
        &[
            r#"service_prefix \"(|sequence-$T-|w)\" { policy = \"@level\" }\n"#,
            r#"service \"(sequence-$T-web|sequence-$T-db|web|db|consul)\" { policy = \"@level\" }\n"#,
            r#"service \"sequence-$T-web\" { policy = \"@level\" intentions = \"@level\" }\n"#,
        ],
    ),
    (
        "sessionrule",
        &[
            r#"session_prefix \"(|sequence-$T-)\" { policy = \"@level\" }\n"#,
            r#"session \"(sequence-$T-n1|$N|$N)\" { policy = \"@level\" }\n"#,
        ],
    ),
    (
        "otherrule",
        &[
            r#"agent_prefix \"\" { policy = \"@level\" }\n"#,
            r#"agent \"$N\" { policy = \"@level\" }\n"#,
            r#"event_prefix \"(|$T-)\" { policy = \"@level\" }\n"#,
            r#"event \"$T-e1\" { policy = \"@level\" }\n"#,
            r#"query_prefix \"(|sequence-$T-)\" { policy = \"@level\" }\n"#,
            r#"query \"sequence-$T-(q|r)\" { policy = \"@level\" }\n"#,
            r#"(acl|operator|keyring) = \"@level\"\n"#,
            r#"acl = \"@level\"\n"#,
        ],
    ),
    ("level", &["deny", "read", "write", "write"]),
    ("klevel", &["deny", "read", "list", "write", "write"]),
];

const REQUESTS: Alternatives = &[
    (
        "request",
        &[
            "@policy", "@policy", "@role", "@token", "@token", "@acl", "@agent", "@agent",
            "@agent", "@catalog", "@health", "@health", "@query", "@query", "@event", "@other",
        ],
    ),
    (
        "setpolicy",
        &[r#"PUT /v1/acl/policy {"Name":"$T-p^","Rules":"@rules"}"#],
    ),
    ("setrole", &[r#"PUT /v1/acl/role {"Name":"$T-r^",@links}"#]),
    (
        "settoken",
        &[r#"PUT /v1/acl/token {"AccessorID":"$A^","SecretID":"$S^",@links}"#],
    ),
    // What is there to be read.
    (
        "something",
        &[
            r#"PUT /v1/agent/service/register {"ID":"@instance","Name":"sequence-$T-(web|db)","Check":{"TTL":"1h","Status":"(passing|critical)"}@own}"#,
            r#"PUT /v1/agent/check/register {"ID":"@check","Name":"c","TTL":"1h"@own}"#,
            r#"PUT /v1/catalog/register {"Node":"sequence-$T-n1","Address":"127.0.0.1","Service":{"ID":"(web|db)","Service":"sequence-$T-(web|db)","Tags":["one"]},"Checks":[{"CheckID":"c^","Name":"c","Status":"passing","ServiceID":"(web|db|)"}]}"#,
            r#"POST /v1/query {"Name":"(sequence-$T-(q|r)|)","Token":"(||$S^)","Service":{"Service":"sequence-$T-(web|db)","Tags":["one"]}}"#,
            "PUT /v1/kv/sequence/$T/(a|a/b|a/d|b|b/) x",
            "PUT /v1/kv/sequence/$T/(a|a/b|a/d|b|b/) x",
            "PUT /v1/event/fire/$T-e(1|2) x",
        ],
    ),
    (
        "policy",
        &[
            "@setpolicy",
            "@setpolicy",
            r#"PUT /v1/acl/policy {"Name":"$T-p^","Description":"x","Rules":"@rules","Datacenters":["(dc1|dc2)"]}"#,
            r#"PUT /v1/acl/policy/$P^ {"Name":"$T-p(0|1|2)","Rules":"@rules"}"#,
            r#"PUT /v1/acl/policy/$P^ {"Name":"$T-p^","Rules":"@rules"}"#,
            r#"PUT /v1/acl/policy/$P^ {"Name":"$T-p^","Rules":"@rules"}"#,
            r#"PUT /v1/acl/policy (|{|{"Name":""}|{"Name":"$T p"}|{"Name":"$T-p^","Foo":1}|{"Name":"$T-p^","Rules":"key {"})"#,
            "DELETE /v1/acl/policy/$P^",
            "GET /v1/acl/policy/(name/$T-p^|$P^|$P^|nope|)",
            "GET /v1/acl/policies",
        ],
    ),
    (
        "role",
        &[
            "@setrole",
            r#"PUT /v1/acl/role/$R^ {"Name":"$T-r(^|0)",@links}"#,
            "DELETE /v1/acl/role/$R^",
            "GET /v1/acl/role/(name/$T-r^|$R^|$R^|nope)",
            "GET /v1/acl/roles(||?policy=$P^)",
        ],
    ),
    (
        "token",
        &[
            "@settoken",
            "@settoken",
            r#"PUT /v1/acl/token {"AccessorID":"$A(^|0)","SecretID":"$S(^|1)","Description":"x","Local":(true|false),@links}"#,
            r#"PUT /v1/acl/token {"Description":"made",@links}"#,
            r#"PUT /v1/acl/token/$A^ {@links}"#,
            r#"PUT /v1/acl/token/$A^ {"Description":"(x|y)","SecretID":"$S(^|0)",@links}"#,
            r#"PUT /v1/acl/token/$A^ {"AccessorID":"$A(^|0)","Local":(true|false),@links}"#,
            r#"PUT /v1/acl/token/$A^/clone {"Description":"(|clone)"}"#,
            r#"PUT /v1/acl/token/00000000-0000-0000-0000-000000000002 {"Description":"Anonymous Token",@links}"#,
            "DELETE /v1/acl/token/$A(^|^|4)",
            "GET /v1/acl/token/(self|self|$A^|$A^|$A4|$AE|$S^|nope|00000000-0000-0000-0000-000000000002)",
            "GET /v1/acl/tokens(||?policy=$P^|?role=$R^|?authmethod=x)",
        ],
    ),
    // One link each: 1.8.7 merges policies into rules that it keeps, so that what a token with several of them is
    // refused is refused to others later (acl.md 9.12). `server/tests/acl.rs` asks about merged policies.
    (
        "links",
        &[
            r#""Policies":[]"#,
            r#""Policies":[{"@plink"}]"#,
            r#""Policies":[{"@plink"}]"#,
            r#""Policies":[{"@plink"}]"#,
            r#""Roles":[{"@rlink"}]"#,
            r#""Roles":[{"@rlink"}]"#,
            r#""ServiceIdentities":[@sid]"#,
            r#""NodeIdentities":[@nid]"#,
        ],
    ),
    (
        "plink",
        &[
            r#"ID":"$P(0|1|2)"#,
            r#"ID":"$P(0|1|2)"#,
            r#"Name":"$T-p(0|1|2)"#,
            r#"Name":"global-management"#,
        ],
    ),
    ("rlink", &[r#"ID":"$R(0|1)"#, r#"Name":"$T-r(0|1)"#]),
    (
        "sid",
        &[
            r#"{"ServiceName":"sequence-$T-(web|db)"}"#,
            r#"{"ServiceName":"sequence-$T-(web|db)","Datacenters":["(dc1|dc2)"]}"#,
        ],
    ),
    (
        "nid",
        &[r#"{"NodeName":"(sequence-$T-n1|$M)","Datacenter":"(dc1|dc1|dc2)"}"#],
    ),
    (
        "acl",
        &[
            r#"POST /v1/internal/acl/authorize [{"Resource":"key","Access":"(read|list|write|write-prefix)","Segment":"sequence/$T/(|a|a/b)"},{"Resource":"(node|session|agent)","Access":"(read|write)","Segment":"$N"},{"Resource":"(service|intention)","Access":"(read|write)","Segment":"(sequence-$T-web|*)"},{"Resource":"(acl|operator|keyring)","Access":"(read|write)"}]"#,
            "GET /v1/acl/(replication|auth-methods|binding-rules)",
            r#"PUT /v1/agent/token/(default|default|bogus) {"Token":"(|$S^|$S^)"}"#,
        ],
    ),
    ("instance", &["sequence-$T-(web|db)-(1|2)"]),
    ("check", &["$T-c(0|1)"]),
    ("own", &["", "", r#","Token":"$S(0|1|2)""#]),
    (
        "agent",
        &[
            r#"PUT /v1/agent/service/register {"ID":"@instance","Name":"sequence-$T-(web|db)"@own}"#,
            r#"PUT /v1/agent/service/register {"ID":"@instance","Name":"sequence-$T-(web|db)","Check":{"TTL":"1h","Status":"(passing|critical)"}@own}"#,
            "PUT /v1/agent/service/deregister/@instance",
            "PUT /v1/agent/service/maintenance/@instance?enable=(true|true|false)&reason=x",
            r#"PUT /v1/agent/check/register {"ID":"@check","Name":"c","TTL":"1h"@own}"#,
            r#"PUT /v1/agent/check/register {"ID":"@check","Name":"c","TTL":"1h","ServiceID":"@instance"@own}"#,
            "PUT /v1/agent/check/(pass|warn|fail|deregister)/@check",
            "PUT /v1/agent/check/(pass|warn|fail)/service:@instance?note=n",
            r#"PUT /v1/agent/check/update/@check {"Status":"(passing|critical)","Output":"(|o)"}"#,
            "PUT /v1/agent/maintenance?enable=(true|false)",
            "GET /v1/agent/(services|services|checks|checks|members|self)",
            "GET /v1/agent/service/@instance",
            "GET /v1/agent/health/service/(name/sequence-$T-(web|db)|id/@instance)",
        ],
    ),
    (
        "catalog",
        &[
            r#"PUT /v1/catalog/register {"Node":"sequence-$T-n1","Address":"127.0.0.(1|1|3)","Service":{"ID":"(web|db)","Service":"sequence-$T-(web|db)","Tags":["one"]}}"#,
            r#"PUT /v1/catalog/register {"Node":"sequence-$T-n(1|2)","Address":"127.0.0.1","SkipNodeUpdate":(true|false),"Service":{"ID":"(web|db)","Service":"sequence-$T-(web|db)"},"Checks":[{"CheckID":"c^","Name":"c","Status":"passing","ServiceID":"(web|db|)"}]}"#,
            r#"PUT /v1/catalog/register {"Node":"sequence-$T-n1","Address":"127.0.0.1","Check":{"CheckID":"c^","Name":"c","Status":"(passing|critical)","ServiceID":"(web|)","ServiceName":"(|sequence-$T-db)"}}"#,
            r#"PUT /v1/catalog/deregister {"Node":"(sequence-$T-n1|sequence-$T-N1)","(ServiceID|CheckID)":"(web|db|c^|check|check-web)"}"#,
            "GET /v1/catalog/(services|datacenters|node-services/sequence-$T-n1|node/sequence-$T-n1|node/$N)",
            "GET /v1/catalog/nodes?filter=Node+matches+%22sequence-$T-%22",
            "GET /v1/catalog/(service|connect)/sequence-$T-(web|db)(||?tag=one)",
        ],
    ),
    (
        "health",
        &[
            "GET /v1/health/state/(any|passing|critical)?filter=Node+matches+%22sequence-$T-%22",
            "GET /v1/health/node/(sequence-$T-n(1|2)|$N)",
            "GET /v1/health/(checks|service|service|connect|ingress)/sequence-$T-(web|db)",
            "GET /v1/health/service/sequence-$T-(web|db)?passing",
            "GET /v1/session/(list|node/sequence-$T-n1|node/$N)",
        ],
    ),
    (
        "query",
        &[
            r#"POST /v1/query {"Name":"(sequence-$T-(q|r)|)","Token":"(||$S^)","Service":{"Service":"sequence-$T-(web|db)","Tags":["one"]}}"#,
            "GET /v1/query",
            "GET /v1/query/($Q0|$Q1|sequence-$T-q|nope)/(execute|explain)",
            "GET /v1/query/($Q0|$Q1|$Q2)",
            "DELETE /v1/query/($Q0|$Q1|$Q2)",
        ],
    ),
    (
        "event",
        &[
            "PUT /v1/event/fire/$T-e(1|2) x",
            "GET /v1/event/list?name=$T-e(1|2)",
        ],
    ),
    (
        "other",
        &[
            "GET /v1/status/(leader|peers)",
            "GET /v1/operator/raft/configuration",
            "GET /v1/coordinate/(datacenters|node/sequence-$T-n1)",
            "GET /v1/connect/intentions",
            "PUT /v1/agent/force-leave/nope",
        ],
    ),
];

/// Who asks, and how it says so: first the way, then the secret.
pub(super) const CALLERS: &[&str] = &[
    "header $S0",
    "header $S0",
    "header $S0",
    "header $S1",
    "header $S1",
    "header $S1",
    "header $S2",
    "header $S2",
    "header $S2",
    "query $S0",
    "bearer $S1",
    "header $S4",
    "header $G",
    "header $G",
    "header $G",
    "header $G",
    "header $G",
    "header $G",
    "header anonymous",
    "nothing ",
    "nothing ",
    "header $U",
    "header $E",
];
