//! The rules of identities and templated policies, which have no policy of their own (acl.md 8.2, 8.3).
//!
//! The texts say what the contract knows of them, which is their meaning. How Consul lays them out is not known.

use std::fmt::Write;

/// One line of a template: a rule, what it is about, and its policy.
type Line<'a> = (&'a str, &'a str, &'a str);

/// Returns the rules of a service identity (acl.md 8.2.r1).
pub fn service(name: &str) -> String {
    let proxy = format!("{name}-sidecar-proxy");
    text(&[
        ("service", name, "write"),
        ("service", &proxy, "write"),
        ("service_prefix", "", "read"),
        ("node_prefix", "", "read"),
    ])
}

/// Returns the rules of a node identity (acl.md 8.2.r2).
pub fn node(name: &str) -> String {
    text(&[("node", name, "write"), ("service_prefix", "", "read")])
}

/// Writes rules as Consul's users do. A rule with nothing that it is about has an empty name.
fn text(lines: &[Line<'_>]) -> String {
    let mut text = String::new();
    for (rule, name, policy) in lines {
        let written = match *rule {
            "acl" | "mesh" => writeln!(text, "{rule} = \"{policy}\""),
            _ => writeln!(text, "{rule} \"{name}\" {{\n\tpolicy = \"{policy}\"\n}}"),
        };
        written.expect("a String takes everything");
    }
    text
}

/// A templated policy that every release since 1.17.0 has (acl.md 8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Template {
    /// `builtin/service`: a service identity.
    Service,
    /// `builtin/node`: a node identity.
    Node,
    /// `builtin/dns`
    Dns,
    /// `builtin/nomad-server`
    NomadServer,
    /// `builtin/api-gateway`
    ApiGateway,
    /// `builtin/nomad-client`
    NomadClient,
}

impl Template {
    /// All of them, in the order of their ids.
    pub const ALL: [Template; 6] = [
        Template::Service,
        Template::Node,
        Template::Dns,
        Template::NomadServer,
        Template::ApiGateway,
        Template::NomadClient,
    ];

    /// Returns the template with this name; `None` if no template has it.
    pub fn named(name: &str) -> Option<Template> {
        Template::ALL
            .into_iter()
            .find(|template| template.name() == name)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Template::Service => "builtin/service",
            Template::Node => "builtin/node",
            Template::Dns => "builtin/dns",
            Template::NomadServer => "builtin/nomad-server",
            Template::ApiGateway => "builtin/api-gateway",
            Template::NomadClient => "builtin/nomad-client",
        }
    }

    /// Returns the id that tokens and roles show.
    pub fn id(self) -> &'static str {
        match self {
            Template::Service => "00000000-0000-0000-0000-000000000003",
            Template::Node => "00000000-0000-0000-0000-000000000004",
            Template::Dns => "00000000-0000-0000-0000-000000000005",
            Template::NomadServer => "00000000-0000-0000-0000-000000000006",
            Template::ApiGateway => "00000000-0000-0000-0000-000000000008",
            Template::NomadClient => "00000000-0000-0000-0000-000000000009",
        }
    }

    /// Whether it has the variable `Name`.
    pub fn has_name(self) -> bool {
        matches!(
            self,
            Template::Service | Template::Node | Template::ApiGateway
        )
    }

    /// Returns what it is for, in a sentence of our own.
    pub fn description(self) -> &'static str {
        match self {
            Template::Service => "The rights of a service and its sidecar proxy",
            Template::Node => "The rights of the agent of a node",
            Template::Dns => "What answers over DNS read",
            Template::NomadServer => "What a Nomad server needs",
            Template::ApiGateway => "The rights of an API gateway",
            Template::NomadClient => "What a Nomad client needs",
        }
    }

    /// Returns the rules for a value of the variable `Name`, which templates without one ignore (acl.md 8.3.r3). They
    /// begin with a line feed (acl.md 8.3.r6).
    pub fn rules(self, name: &str) -> String {
        let rules = match self {
            Template::Service => service(name),
            Template::Node => node(name),
            Template::Dns => text(&[
                ("node_prefix", "", "read"),
                ("service_prefix", "", "read"),
                ("query_prefix", "", "read"),
            ]),
            Template::NomadServer => text(&[
                ("acl", "", "write"),
                ("agent_prefix", "", "read"),
                ("node_prefix", "", "read"),
                ("service_prefix", "", "write"),
            ]),
            Template::ApiGateway => text(&[
                ("mesh", "", "read"),
                ("node_prefix", "", "read"),
                ("service_prefix", "", "read"),
                ("service", name, "write"),
            ]),
            Template::NomadClient => text(&[
                ("agent_prefix", "", "read"),
                ("node_prefix", "", "read"),
                ("key_prefix", "", "read"),
                ("service_prefix", "", "write"),
            ]),
        };
        format!("\n{rules}")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Authorizer, DefaultPolicy, Question, Resource, Rules};
    use proconsul_version::Version;

    /// Whether rules alone allow each of some questions.
    fn allowed(text: &str, questions: &[Question<'_>]) -> Vec<bool> {
        let rules = Rules::parse(text, Version::V1_22_0).expect("the rules are valid");
        let authorizer = Authorizer::new(&[Arc::new(rules)], DefaultPolicy::Deny);
        let questions = questions.iter();
        questions
            .map(|question| authorizer.allows(*question))
            .collect()
    }

    /// acl.md 8.2, and 8.3.r3 for the templates that are the same.
    #[test]
    fn identities_may_be_what_they_are() {
        let service = [
            Question::write(Resource::Service, "web"),
            Question::write(Resource::Service, "web-sidecar-proxy"),
            Question::read(Resource::Service, "db"),
            Question::read(Resource::Node, "n1"),
            Question::write(Resource::Service, "web-1"),
            Question::write(Resource::Node, "web"),
        ];
        let node = [
            Question::write(Resource::Node, "n1"),
            Question::read(Resource::Service, "web"),
            Question::read(Resource::Node, "n2"),
            Question::read(Resource::Agent, "n1"),
            Question::read(Resource::Session, "n1"),
            Question::read(Resource::Key, "n1"),
        ];
        for text in [super::service("web"), Template::Service.rules("web")] {
            assert_eq!(
                allowed(&text, &service),
                [true, true, true, true, false, false]
            );
        }
        for text in [super::node("n1"), Template::Node.rules("n1")] {
            assert_eq!(
                allowed(&text, &node),
                [true, true, false, false, false, false]
            );
        }
    }

    /// acl.md 8.3.r3.
    #[test]
    fn templates_allow_what_their_products_need() {
        let questions = [
            Question::write(Resource::Acl, ""),
            Question::read(Resource::Agent, "n"),
            Question::read(Resource::Key, "k"),
            Question::read(Resource::Mesh, ""),
            Question::read(Resource::Node, "n"),
            Question::read(Resource::Query, "q"),
            Question::read(Resource::Service, "s"),
            Question::write(Resource::Service, "s"),
            Question::write(Resource::Service, "gateway"),
        ];
        let rows = [
            (Template::Dns, "node query service"),
            (
                Template::NomadServer,
                "acl agent node service service service",
            ),
            (Template::ApiGateway, "mesh node service service"),
            (
                Template::NomadClient,
                "agent key node service service service",
            ),
        ];
        for (template, expected) in rows {
            let allowed = allowed(&template.rules("gateway"), &questions);
            let names = questions
                .iter()
                .zip(allowed)
                .filter(|(_, allowed)| *allowed);
            let names: Vec<&str> = names
                .map(|(question, _)| question.resource.name())
                .collect();
            assert_eq!(names.join(" "), expected, "{template:?}");
            assert_eq!(Template::named(template.name()), Some(template));
        }
    }
}
