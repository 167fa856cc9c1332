//! Templated policies, of later releases (acl.md 8.3). The texts of schemas, templates and descriptions are our own: the
//! contract knows only what they mean.

use crate::api::acl::body::{RoleBody, TemplatedPolicyBody, TokenBody, VariablesBody};
use crate::api::acl::wire::Policy;
use crate::failure::{Failure, failures, quoted};
use crate::reply::Reply;
use crate::reply::object::object;
use crate::request::Request;
use proconsul_acl::identity::Template;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::maps;
use proconsul_store::{
    Index, NewGrants, NewPolicy, PolicyRow, Shown, TemplatedPolicy, is_identity,
};
use proconsul_version::Version;

/// What Consul's hash of nothing adds to the id of a policy that is only shown.
const NO_HASH: &str = "6c62272e07bb014262b821756295c58d";

failures! {
    /// The template in the path is unknown.
    unknown_name(name: &str) => 400, format!("Invalid templated policy Name: {name}");
    /// The path names no template.
    missing_name() => 400, "Missing templated policy Name";
    /// The template to preview is unknown.
    unknown_template(name: &str, version: Version) => 400,
        format!("templated policy {} does not exist", quoted(name, version));
    /// The body of a preview is not the expected JSON; `words` is Go's text.
    undecodable(words: &str) => 400, format!("Failed to decode request body: {words}");
    /// A variable of a preview is refused; `flaw` says why.
    invalid_variables(name: &str, flaw: &str, version: Version) => 400,
        format!("validation error for templated policy: {}: {flaw}", quoted(name, version));
}

/// Lists all templates by their names.
pub(in crate::api::acl) fn list(request: &Request) -> Result<Reply, Failure> {
    request.acls()?;
    request.check_tenancy()?;
    request.authorize()?;
    let all = Template::ALL.into_iter();
    let all = maps::collect(all.map(|template| (template.name(), shown(template))));
    Ok(Reply::json(request, &all))
}

/// Reads the template with a name.
pub(in crate::api::acl) fn by_name(request: &Request) -> Result<Reply, Failure> {
    request.acls()?;
    request.check_tenancy()?;
    let name = request.rest_text();
    if name.is_empty() {
        return Err(missing_name());
    }
    request.authorize()?;
    let template = Template::named(&name).ok_or_else(|| unknown_name(&name))?;
    Ok(Reply::json(request, &shown(template)))
}

fn shown(template: Template) -> impl serde::Serialize {
    let schema = if template.has_name() {
        r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#
    } else {
        ""
    };
    object! {
        "TemplateName" => template.name(),
        "Schema" => schema,
        "Template" => template.rules("{{.Name}}"),
        "Description" => template.description(),
    }
}

/// Shows the policy that a template makes of variables, without keeping it.
pub(in crate::api::acl) async fn preview(mut request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    request.check_tenancy()?;
    let version = request.version();
    let name = request.rest_text();
    if name.is_empty() {
        return Err(missing_name());
    }
    request.authorize()?;
    let template = Template::named(&name).ok_or_else(|| unknown_template(&name, version))?;
    let body = request.read_whole().await;
    let mut variables = VariablesBody::default();
    let rules = request.decoding(UnknownFields::Refused);
    let decoded = request.decode::<VariablesBody>(body, &mut variables, rules);
    decoded.map_err(|words| undecodable(&words))?;
    if let Some(flaw) = flaw_of_name(template, &variables.name, version) {
        return Err(invalid_variables(&name, &flaw, version));
    }
    let rules = template.rules(&variables.name);
    let hex: String = rules.bytes().map(|byte| format!("{byte:02x}")).collect();
    let id = format!("{hex}{NO_HASH}");
    let row = PolicyRow {
        policy: NewPolicy {
            name: format!("synthetic-policy-{id}"),
            description: format!("synthetic policy generated from templated policy: {name}"),
            rules,
            datacenters: None,
        },
        id,
        create_index: Index::ZERO,
        modify_index: Index::ZERO,
    };
    let shown = Shown {
        row: row.into(),
        policies: Vec::new(),
        roles: Vec::new(),
    };
    Ok(Reply::json(&request, &Policy::new(&shown, version)))
}

/// Returns what is wrong with the value of the variable `Name`.
fn flaw_of_name(template: Template, name: &str, version: Version) -> Option<String> {
    if !template.has_name() || is_identity(name) {
        return None;
    }
    let kind = match template {
        Template::Node => "node",
        _ => "service",
    };
    let name = quoted(name, version);
    Some(format!(
        "{kind} identity {name} has an invalid name. Only lowercase alphanumeric characters, '-' and '_' are allowed"
    ))
}

/// Returns the templates that the body of a role or a token has filled in.
///
/// # Errors
/// The first mistake, in Consul's words.
fn filled_in(
    bodies: Vec<TemplatedPolicyBody>,
    is_role: bool,
    version: Version,
) -> Result<Vec<TemplatedPolicy>, String> {
    let owner = if is_role { "role" } else { "token" };
    let fill = |body: TemplatedPolicyBody| {
        let name = body.name;
        if name.is_empty() {
            return Err(format!(
                "templated policy is missing the template name field on this {owner}"
            ));
        }
        let unknown = || match is_role {
            true => {
                format!("templated policy with an invalid templated name: {name} for this role")
            }
            false => {
                let name = quoted(&name, version);
                format!("no such ACL templated policy with Name {name}")
            }
        };
        let template = Template::named(&name).ok_or_else(unknown)?;
        let invalid = |flaw: &str| {
            let name = quoted(template.name(), version);
            format!("validation error for templated policy {name}: {flaw}")
        };
        let value = body.variables.map(|variables| variables.name);
        if template.has_name() && value.is_none() {
            let flaw = "1 error occurred:\n\t* Invalid type. Expected: object, given: null\n\n";
            return Err(invalid(flaw));
        }
        let flaw = flaw_of_name(template, value.as_deref().unwrap_or_default(), version);
        if let Some(flaw) = flaw {
            return Err(invalid(&flaw));
        }
        Ok(TemplatedPolicy {
            template_id: template.id().to_owned(),
            template_name: name,
            name: value.filter(|_| template.has_name()),
            datacenters: body.datacenters,
        })
    };
    bodies.into_iter().map(fill).collect()
}

impl TokenBody {
    /// Returns what the token is to grant, and takes it out of the body.
    pub(crate) fn take_grants(&mut self, version: Version) -> NewGrants {
        let templates = std::mem::take(&mut self.templated_policies);
        NewGrants {
            policies: std::mem::take(&mut self.policies),
            roles: std::mem::take(&mut self.roles),
            service_identities: std::mem::take(&mut self.service_identities),
            node_identities: std::mem::take(&mut self.node_identities),
            ..with_templates(templates, false, version)
        }
    }
}

impl RoleBody {
    /// Returns what the role is to grant, and takes it out of the body.
    pub(crate) fn take_grants(&mut self, version: Version) -> NewGrants {
        let templates = std::mem::take(&mut self.templated_policies);
        NewGrants {
            policies: std::mem::take(&mut self.policies),
            service_identities: std::mem::take(&mut self.service_identities),
            node_identities: std::mem::take(&mut self.node_identities),
            ..with_templates(templates, true, version)
        }
    }
}

/// Returns grants with nothing but templates.
fn with_templates(bodies: Vec<TemplatedPolicyBody>, is_role: bool, version: Version) -> NewGrants {
    let (templated_policies, template_flaw) = match filled_in(bodies, is_role, version) {
        Ok(policies) => (policies, None),
        Err(flaw) => (Vec::new(), Some(flaw)),
    };
    NewGrants {
        templated_policies,
        template_flaw,
        ..NewGrants::default()
    }
}
