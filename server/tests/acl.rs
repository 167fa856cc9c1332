//! The rules of ACLs beside those of a real Consul 1.8.7: which texts it takes, and what they allow.
//!
//! `PROCONSUL_ACL_QUESTIONS` sets how many questions are asked (default 5,000), `PROCONSUL_ACL_TEXTS` how many texts are
//! tried (default 2,000), `PROCONSUL_ACL_SEED` draws others.

use std::io::{Write, stderr};
use std::sync::Arc;

use fastrand::Rng;
use proconsul::Version;
use proconsul_acl::{Authorizer, DefaultPolicy, Question, Rules, identity};
use proconsul_conformance::report::left_out;
use proconsul_conformance::target::Target;
use proconsul_conformance::target::consul::{self, Agent};
use proconsul_conformance::wire::{Outcome, Request, exchange};
use serde_json::{Value, json};

const QUESTIONS: u64 = 5_000;
const TEXTS: u64 = 2_000;
/// The same for all runs, so that none fails by chance.
const SEED: u64 = 1;
/// `internal/acl/authorize` takes no more at once (acl.md 8.5.r2).
const AT_ONCE: usize = 64;
/// The requests with questions that each token makes.
const REQUESTS: usize = 4;
/// A token that may do everything.
const MANAGEMENT: &str = "root";

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{variable} is a number")))
}

/// Starts a run of chance that says its seed past the capture of the test harness.
fn chance(test: &str) -> Rng {
    let seed = number("PROCONSUL_ACL_SEED").unwrap_or(SEED);
    writeln!(stderr(), "{test}: PROCONSUL_ACL_SEED={seed}").expect("standard error is open");
    Rng::with_seed(seed)
}

/// A real Consul with ACLs.
struct Real {
    target: Target,
    /// How many objects were made, for their names.
    made: usize,
}

impl Real {
    /// Starts one; `None` where there is no Consul.
    fn start(default_policy: &str) -> Option<Real> {
        let binary = left_out::consul()?;
        let tokens = json!({"master": MANAGEMENT, "default": MANAGEMENT});
        let acl = json!({"enabled": true, "default_policy": default_policy, "tokens": tokens});
        let agent = Agent {
            settings: json!({ "acl": acl }).to_string(),
            ..Agent::default()
        };
        let target = consul::start(&binary, &agent).unwrap_or_else(|error| panic!("{error}"));
        Some(Real { target, made: 0 })
    }

    /// Sends a body; `None` if the connection was closed without an answer, which is how 1.8.7 panics.
    fn send(&self, method: &str, path: &str, token: &str, body: &Value) -> Option<(u16, String)> {
        let address = self.target.shared_address().expect("there is one agent");
        let request = Request::new(method, path)
            .header("X-Consul-Token", token)
            .body(body.to_string());
        match exchange(address, &request) {
            Outcome::Reply(reply) => {
                let body = String::from_utf8_lossy(&reply.body).into_owned();
                Some((reply.status, body))
            }
            Outcome::Closed => None,
            other => panic!("{method} {path} {body}: {other:?}"),
        }
    }

    /// Makes a policy and returns its id, or why it was refused.
    fn policy(&mut self, rules: &str) -> Option<Result<String, String>> {
        self.made += 1;
        let body = json!({"Name": format!("p{}", self.made), "Rules": rules});
        let (status, text) = self.send("PUT", "/v1/acl/policy", MANAGEMENT, &body)?;
        Some(match status {
            200 => Ok(field(&text, "ID")),
            _ => Err(text),
        })
    }

    /// Makes a token of a body and returns its secret.
    fn token(&self, body: &Value) -> String {
        let answer = self.send("PUT", "/v1/acl/token", MANAGEMENT, body);
        let (status, text) = answer.expect("tokens are answered");
        assert_eq!(status, 200, "{text}");
        field(&text, "SecretID")
    }

    /// Asks what a token may do.
    fn authorize(&self, token: &str, questions: &[Question<'_>]) -> Vec<bool> {
        let body = questions.iter().map(|question| {
            json!({
                "Resource": question.resource.name(),
                "Access": question.access.name(),
                "Segment": question.name,
            })
        });
        let path = "/v1/internal/acl/authorize";
        let answer = self.send("POST", path, token, &body.collect());
        let (status, text) = answer.expect("questions are answered");
        assert_eq!(status, 200, "{text}");
        let answers: Vec<Value> = serde_json::from_str(&text).expect("the answer is JSON");
        let allowed = answers.iter().map(|answer| answer["Allow"] == true);
        allowed.collect()
    }
}

/// One of some texts.
fn one_of<'a>(rng: &mut Rng, texts: &[&'a str]) -> &'a str {
    texts[rng.usize(..texts.len())]
}

fn field(json: &str, name: &str) -> String {
    let json: Value = serde_json::from_str(json).expect("the answer is JSON");
    json[name].as_str().expect("a text").to_owned()
}

const RULES: [&str; 7] = [
    "agent", "event", "key", "node", "query", "service", "session",
];

/// A short name out of few, so that many rules are about it or about its beginning.
fn name(rng: &mut Rng) -> String {
    if rng.u8(..20) == 0 {
        return "*".to_owned();
    }
    let letters = ["a", "b", "A", "/", "é", "a/", "ab"];
    (0..rng.usize(..5)).map(|_| one_of(rng, &letters)).collect()
}

/// A level, nearly always as it should be written.
fn level(rng: &mut Rng, has_list: bool) -> String {
    let levels: &[&str] = if has_list {
        &["deny", "read", "write", "list"]
    } else {
        &["deny", "read", "write"]
    };
    let level = one_of(rng, levels);
    match rng.u8(..12) {
        0 => level.to_uppercase(),
        _ => level.to_owned(),
    }
}

/// A rule about a name, or one without.
fn rule(rng: &mut Rng) -> String {
    if rng.u8(..6) == 0 {
        let scalar = one_of(rng, &["acl", "keyring", "operator"]);
        return format!("{scalar} = \"{}\"\n", level(rng, false));
    }
    let kind = one_of(rng, &RULES);
    let prefix = if rng.bool() { "_prefix" } else { "" };
    let policy = level(rng, kind == "key");
    let intentions = if kind == "service" && rng.bool() {
        format!(" intentions = \"{}\"", level(rng, false))
    } else {
        String::new()
    };
    format!(
        "{kind}{prefix} \"{}\" {{ policy = \"{policy}\"{intentions} }}\n",
        name(rng)
    )
}

/// The resource and the access of a question, as 1.8.7 names them.
fn about(rng: &mut Rng) -> (&'static str, &'static str) {
    let resources = [
        "acl",
        "agent",
        "event",
        "intention",
        "key",
        "key",
        "key",
        "keyring",
        "node",
        "operator",
        "query",
        "service",
        "session",
    ];
    let resource = one_of(rng, &resources);
    let accesses: &[&str] = if resource == "key" {
        &["read", "list", "write", "write-prefix"]
    } else {
        &["read", "write"]
    };
    (resource, one_of(rng, accesses))
}

/// Policies and identities of a token: those of the real one's body, and the rules that stand for them here.
fn rights(real: &mut Real, rng: &mut Rng) -> (Value, Vec<String>) {
    let mut policies = Vec::new();
    for _ in 0..rng.usize(..4) {
        let text: String = (0..rng.usize(..8)).map(|_| rule(rng)).collect();
        let id = real.policy(&text).expect("rules are answered");
        let id = id.unwrap_or_else(|error| panic!("{text}: {error}"));
        policies.push((id, text));
    }
    let links: Vec<Value> = policies.iter().map(|(id, _)| json!({ "ID": id })).collect();
    let mut body = json!({ "Policies": links });
    policies.sort();
    let mut texts: Vec<String> = policies.into_iter().map(|(_, text)| text).collect();
    if rng.u8(..4) == 0 {
        body["ServiceIdentities"] = json!([{"ServiceName": "ab"}]);
        texts.push(identity::service("ab"));
    }
    if rng.u8(..4) == 0 {
        body["NodeIdentities"] = json!([{"NodeName": "ab", "Datacenter": "dc1"}]);
        texts.push(identity::node("ab"));
    }
    (body, texts)
}

fn compare(default_policy: &str, default: DefaultPolicy, questions: u64) {
    let Some(mut real) = Real::start(default_policy) else {
        return;
    };
    let rng = &mut chance(&format!("acl questions, default {default_policy}"));
    let mut asked = 0;
    while asked < questions {
        let (body, texts) = rights(&mut real, rng);
        let token = real.token(&body);
        let rules = texts.iter().map(|text| Rules::parse(text, Version::V1_8_7));
        let rules: Vec<Arc<Rules>> = rules.map(|rules| Arc::new(rules.expect("rules"))).collect();
        let authorizer = Authorizer::new(&rules, default);
        for _ in 0..REQUESTS {
            let names: Vec<String> = (0..AT_ONCE).map(|_| name(rng)).collect();
            let questions: Vec<Question<'_>> = names
                .iter()
                .map(|name| {
                    let (resource, access) = about(rng);
                    Question::asked(resource, access, name, Version::V1_8_7).expect("a question")
                })
                .collect();
            let theirs = real.authorize(&token, &questions);
            for (question, theirs) in questions.iter().zip(theirs) {
                let ours = authorizer.allows(*question);
                let texts = texts.join("---\n");
                assert_eq!(
                    ours, theirs,
                    "{question:?} by default {default_policy}\n{texts}"
                );
                asked += 1;
            }
        }
    }
}

#[test]
fn rules_allow_what_a_real_consul_allows() {
    let questions = number("PROCONSUL_ACL_QUESTIONS").unwrap_or(QUESTIONS);
    compare("deny", DefaultPolicy::Deny, questions / 2);
    compare("allow", DefaultPolicy::Allow, questions / 2);
}

/// What rules are made of, and what they are not.
const WORDS: [&str; 34] = [
    "acl",
    "key",
    "key",
    "key_prefix",
    "service",
    "session",
    "operator",
    "policy",
    "policy",
    "intentions",
    "\"a\"",
    "\"policy\"",
    "\"key\"",
    "\"acl\"",
    "\"read\"",
    "\"write\"",
    "\"x\"",
    "{",
    "{",
    "{",
    "}",
    "}",
    "[",
    "]",
    "=",
    "=",
    ",",
    ":",
    ":",
    "5",
    "1.5",
    "true",
    "null",
    "\n",
];

/// Rules of which little is right: in HCL, or in what begins like JSON.
fn nonsense(rng: &mut Rng) -> String {
    let mut text = String::from(if rng.bool() { "{" } else { "" });
    for _ in 0..rng.usize(..20) {
        match rng.u8(..40) {
            0 => text.push_str(&rule(rng)),
            1 => text.push_str(one_of(
                rng,
                &["'", "\"", "#", "-", "+", "<<", "\\", "0", "é", "."],
            )),
            _ => text.push_str(one_of(rng, &WORDS)),
        }
        if rng.bool() {
            text.push(' ');
        }
    }
    text
}

#[test]
fn rules_are_refused_as_by_a_real_consul() {
    let texts = number("PROCONSUL_ACL_TEXTS").unwrap_or(TEXTS);
    let Some(mut real) = Real::start("deny") else {
        return;
    };
    let rng = &mut chance("acl texts");
    let mut wrong = Vec::new();
    for _ in 0..texts {
        let text = nonsense(rng);
        let ours = Rules::parse(&text, Version::V1_8_7);
        // Where 1.8.7 panics we give some error.
        let Some(theirs) = real.policy(&text) else {
            if ours.is_ok() {
                wrong.push(format!("{text:?}\n  ours   ok\n  theirs a panic"));
            }
            continue;
        };
        let (ours, theirs) = (ours.err().map(|error| error.to_string()), theirs.err());
        if ours != theirs {
            wrong.push(format!("{text:?}\n  ours   {ours:?}\n  theirs {theirs:?}"));
        }
    }
    let shown = wrong
        .iter()
        .take(10)
        .map(String::as_str)
        .collect::<Vec<_>>();
    assert!(
        wrong.is_empty(),
        "{} of {texts} differ:\n{}",
        wrong.len(),
        shown.join("\n")
    );
}
