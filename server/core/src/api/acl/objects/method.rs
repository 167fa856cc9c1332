//! `/v1/acl/auth-method` and `/v1/acl/binding-rule`: kept and shown (acl.md 8.4).

use http::Method;

use crate::api::acl::body;
use crate::api::acl::failure::refused;
use crate::api::acl::objects;
use crate::body::durations::AnyDuration;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::reply::table::table;
use crate::request::Request;
use proconsul_acl::login::{self, Settings};
use proconsul_gocompat::duration;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_gocompat::json::encode::Json;
use proconsul_gocompat::json::object::AnyObject;
use proconsul_store::{
    AclDelete, AclInfo, AclList, AclTarget, AuthMethodDelete, AuthMethodInfo, AuthMethodList,
    AuthMethodRow, AuthMethodWrite, BindingRuleRow, BindingRuleWrite, NewAuthMethod,
    NewBindingRule,
};
use proconsul_version::{Behaviour, Version};

/// The shortest and the longest lifetime of tokens, in nanoseconds.
const MINUTE: i64 = 60_000_000_000;
const DAY: i64 = 24 * 60 * MINUTE;

go_struct! {
    /// An auth method.
    struct MethodBody as "struct { MaxTokenTTL interface {}; *structs.Alias }",
    own decoder: Refused, then: check_ttl {
        "MaxTokenTTL": AnyDuration => max_token_ttl,
        *Alias {
            "Name": String => name,
            "Type": String => kind,
            "DisplayName": String => display_name,
            "Description": String => description,
            "TokenLocality": String => token_locality,
            "TokenNameFormat" since Behaviour::AclTokenName: String => token_name_format,
            "Config": AnyObject => config,
            "CreateIndex": u64,
            "ModifyIndex": u64,
        }
    }
}

fn check_ttl(body: &mut MethodBody) -> Result<(), String> {
    body.max_token_ttl.nanoseconds().map(|_| ())
}

go_struct! {
    /// A binding rule.
    struct RuleBody as "structs.ACLBindingRule" {
        "ID": String => id,
        "Description": String => description,
        "AuthMethod": String => auth_method,
        "Selector": String => selector,
        "BindType": String => bind_type,
        "BindName": String => bind_name,
        "CreateIndex": u64,
        "ModifyIndex": u64,
    }
}

table! {
    /// An auth method.
    AuthMethod of row: AuthMethodRow {
        "MaxTokenTTL" if row.method.max_token_ttl_ns != 0 => json(duration::format(row.method.max_token_ttl_ns)),
        "Name" => json(row.method.name),
        "Type" => json(row.method.kind),
        "DisplayName", omitempty => json(row.method.display_name),
        "Description", omitempty => json(row.method.description),
        "TokenLocality", omitempty => json(row.method.token_locality),
        "TokenNameFormat", omitempty => json(row.method.token_name_format),
        "Config" => json(row.method.config.as_deref().map(Json)),
        "CreateIndex" => json(row.create_index.0),
        "ModifyIndex" => json(row.modify_index.0),
    }
}

table! {
    /// An auth method in a list.
    AuthMethodStub of row: AuthMethodRow {
        "MaxTokenTTL" since Behaviour::AclMethodStubs if row.method.max_token_ttl_ns != 0 =>
            json(duration::format(row.method.max_token_ttl_ns)),
        "Name" => json(row.method.name),
        "Type" => json(row.method.kind),
        "DisplayName", omitempty => json(row.method.display_name),
        "Description", omitempty => json(row.method.description),
        "TokenLocality" since Behaviour::AclMethodStubs, omitempty => json(row.method.token_locality),
        "CreateIndex" => json(row.create_index.0),
        "ModifyIndex" => json(row.modify_index.0),
    }
}

table! {
    /// A binding rule.
    BindingRule of row: BindingRuleRow {
        "ID" => json(row.id),
        "Description" => json(row.rule.description),
        "AuthMethod" => json(row.rule.auth_method),
        "Selector" => json(row.rule.selector),
        "BindType" => json(row.rule.bind_type),
        "BindName" => json(row.rule.bind_name),
        "CreateIndex" => json(row.create_index.0),
        "ModifyIndex" => json(row.modify_index.0),
    }
}

/// Lists all auth methods.
pub(in crate::api::acl) async fn methods(request: &Request) -> Result<Reply, Failure> {
    request.acls()?;
    let options = objects::options(request)?;
    let answer = objects::read(request, &AuthMethodList, options).await?;
    let rows = answer.rows.iter();
    let stubs: Vec<_> = rows
        .map(|row| AuthMethodStub::new(row, request.version()))
        .collect();
    Ok(Reply::json(request, &stubs).with_index(request, answer.index))
}

/// Creates an auth method.
pub(in crate::api::acl) async fn create_method(request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    write_method(request).await
}

/// Reads, replaces or deletes an auth method.
pub(in crate::api::acl) async fn method(request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    if request.method == Method::PUT {
        return write_method(request).await;
    }
    let name = objects::named(&request, "auth method name")?;
    if request.method == Method::DELETE {
        request.check_tenancy()?;
        objects::authorize_deletion(&request, "auth method")?;
        let deleted = request.context.engine.apply(AuthMethodDelete(name));
        return objects::deleted(&request, "auth method", deleted);
    }
    let options = objects::options(&request)?;
    let answer = objects::read(&request, &AuthMethodInfo(name), options).await?;
    let Some(row) = answer.rows else {
        return objects::nothing(&request, "auth method", answer.index);
    };
    let method = AuthMethod::new(&row, request.version());
    Ok(Reply::json(&request, &method).with_index(&request, answer.index))
}

async fn write_method(mut request: Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let mut body = body::read::<MethodBody>(&mut request, "AuthMethod").await?;
    let in_path = request.rest_text();
    let version = request.version();
    if !in_path.is_empty() {
        if !body.name.is_empty() && body.name != in_path {
            let text = "AuthMethod Name in URL and payload do not match";
            return Err(Failure::bad_request(text, version));
        }
        body.name = in_path;
    }
    request.authorize()?;
    let ttl = body.max_token_ttl.nanoseconds();
    let ttl = ttl.expect("the decoder refuses invalid durations");
    let engine = &request.context.engine;
    if body.kind.is_empty() {
        // A method keeps its type.
        let Ok(current) = engine.read(&AuthMethodInfo(body.name.clone()));
        let kind = current.rows.map(|row| row.method.kind.clone());
        body.kind = kind.unwrap_or_default();
    }
    let method = NewAuthMethod {
        name: body.name,
        kind: body.kind,
        display_name: body.display_name,
        description: body.description,
        max_token_ttl_ns: ttl.unwrap_or(0),
        token_locality: body.token_locality,
        token_name_format: body.token_name_format,
        config: body.config,
    };
    let flaw = flaw_of_method(&method, version);
    let written = engine.apply(AuthMethodWrite { method, flaw });
    let row = written.map_err(|refusal| refused(&refusal, version))?;
    Ok(Reply::json(&request, &AuthMethod::new(&row, version)))
}

/// Returns what is wrong with an auth method, in Consul's words and order.
fn flaw_of_method(method: &NewAuthMethod, version: Version) -> Option<String> {
    let ttl = method.max_token_ttl_ns;
    let invalid = |words: &str| Some(format!("Invalid Auth Method: {words}"));
    let config = method.config.as_deref().unwrap_or("{}");
    let names = |name: &str| config.contains(&format!("\"{name}\""));
    match method.kind.as_str() {
        "jwt" | "kubernetes" => {}
        _ if version.has(Behaviour::AclLateTexts) => {
            return invalid("Type should be one of: [aws-iam jwt kubernetes]");
        }
        _ => return invalid("Type should be one of: [jwt kubernetes]"),
    }
    if ttl != 0 && ttl < MINUTE {
        let ttl = duration::format(ttl);
        return Some(format!("MaxTokenTTL {ttl} cannot be less than 1m0s"));
    }
    if ttl > DAY && !version.has(Behaviour::AclLongLives) {
        let ttl = duration::format(ttl);
        return Some(format!("MaxTokenTTL {ttl} cannot be more than 24h0m0s"));
    }
    if !matches!(method.token_locality.as_str(), "" | "local" | "global") {
        return invalid("TokenLocality should be one of 'local' or 'global'");
    }
    if method.kind == "kubernetes" {
        return (!names("Host")).then(|| "Invalid Auth Method: Config.Host is required".to_owned());
    }
    match Settings::read(config, version) {
        Err(words) => invalid(&words),
        Ok(settings) => invalid(&login::flaw_of_token_name(method, &settings)?),
    }
}

/// Lists all binding rules, or those of an auth method.
pub(in crate::api::acl) async fn rules(request: &Request) -> Result<Reply, Failure> {
    request.acls()?;
    let options = objects::options(request)?;
    let mut answer = objects::read(request, &AclList::<BindingRuleRow>::default(), options).await?;
    let method = String::from_utf8_lossy(request.query.get("authmethod")).to_lowercase();
    if !method.is_empty() {
        let is_of = |row: &BindingRuleRow| row.rule.auth_method.to_lowercase() == method;
        answer.rows.retain(|shown| is_of(&shown.row));
    }
    let rows = answer.rows.iter();
    let rules: Vec<_> = rows
        .map(|shown| BindingRule::new(&shown.row, request.version()))
        .collect();
    Ok(Reply::json(request, &rules).with_index(request, answer.index))
}

/// Creates a binding rule.
pub(in crate::api::acl) async fn create_rule(request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    write_rule(request).await
}

/// Reads, replaces or deletes a binding rule.
pub(in crate::api::acl) async fn rule(request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    if request.method == Method::PUT {
        return write_rule(request).await;
    }
    let id = objects::named(&request, "binding rule ID")?;
    if request.method == Method::DELETE {
        request.check_tenancy()?;
        objects::authorize_deletion(&request, "binding rule")?;
        let deleted = request
            .context
            .engine
            .apply(AclDelete::<BindingRuleRow>::new(id));
        return objects::deleted(&request, "binding rule", deleted);
    }
    let options = objects::options(&request)?;
    let answer = objects::read(&request, &AclInfo::<BindingRuleRow>::new(id), options).await?;
    let Some(shown) = answer.rows else {
        return objects::nothing(&request, "binding rule", answer.index);
    };
    let rule = BindingRule::new(&shown.row, request.version());
    Ok(Reply::json(&request, &rule).with_index(&request, answer.index))
}

async fn write_rule(mut request: Request) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let body = body::read::<RuleBody>(&mut request, "BindingRule").await?;
    let target = objects::target(&request, &body.id, "BindingRule ID")?;
    request.authorize()?;
    let version = request.version();
    let rule = NewBindingRule {
        description: body.description,
        auth_method: body.auth_method,
        selector: body.selector,
        bind_type: body.bind_type,
        bind_name: body.bind_name,
    };
    let engine = &request.context.engine;
    let mut named = rule.auth_method.clone();
    if let (AclTarget::Existing(id), true) = (&target, named.is_empty()) {
        // A rule keeps its method.
        let current = engine.read(&AclInfo::<BindingRuleRow>::new(id.clone()));
        let current = current.ok().and_then(|answer| answer.rows);
        named = current.map_or(named, |shown| shown.row.rule.auth_method.clone());
    }
    let Ok(method) = engine.read(&AuthMethodInfo(named));
    let method = method.rows.as_ref().map(|row| &row.method);
    let flaw = flaw_of_rule(&rule, method, version);
    let write = BindingRuleWrite { target, rule, flaw };
    let written = request.context.engine.apply(write);
    let shown = written.map_err(|refusal| refused(&refusal, version))?;
    Ok(Reply::json(
        &request,
        &BindingRule::new(&shown.row, version),
    ))
}

/// Returns what is wrong with a binding rule, in Consul's words and order. What kubernetes lets selectors and names have
/// belongs to its logins, and is taken as it is.
fn flaw_of_rule(
    rule: &NewBindingRule,
    method: Option<&NewAuthMethod>,
    version: Version,
) -> Option<String> {
    let jwt = method.filter(|method| method.kind == "jwt");
    if let Some(words) = jwt.and_then(|_| login::flaw_of_selector(&rule.selector, version)) {
        return Some(format!(
            "invalid Binding Rule: Selector is invalid: {words}"
        ));
    }
    let flaw_of_name = || {
        let config = jwt?.config.as_deref().unwrap_or("{}");
        let settings = Settings::read(config, version).unwrap_or_default();
        login::flaw_of_bind_name(rule, &settings)
    };
    let late = ["policy", "templated-policy"];
    let known = matches!(rule.bind_type.as_str(), "service" | "role" | "node")
        || version.has(Behaviour::AclLateTexts) && late.contains(&rule.bind_type.as_str());
    let late = version.has(Behaviour::AclLateTexts);
    let what = if late {
        "invalid BindName or BindVars"
    } else {
        "invalid BindName"
    };
    let words = if rule.bind_type.is_empty() {
        "no BindType is set".to_owned()
    } else if rule.bind_name.is_empty() {
        "no BindName is set".to_owned()
    } else if !known {
        let words = format!("unknown BindType \"{}\"", rule.bind_type);
        match late {
            true => format!("{what}: invalid Binding Rule: {words}"),
            false => words,
        }
    } else {
        match flaw_of_name() {
            Some(words) if words.is_empty() => what.to_owned(),
            Some(words) => format!("{what}: {words}"),
            None if jwt.is_none() && rule.bind_name.contains(char::is_whitespace) => {
                what.to_owned()
            }
            None => return None,
        }
    };
    Some(format!("Invalid Binding Rule: {words}"))
}
