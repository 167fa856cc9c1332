//! The endpoints of the old system, before 1.11: tokens with rules of their own (acl.md 8.5.r3).

use super::failure::{nothing_found, refused};
use crate::api::acl::objects;
use crate::auth::ROOTS;
use crate::failure::{Failure, failures};
use crate::reply::header::guessed_type;
use crate::reply::object::object;
use crate::reply::table::table;
use crate::reply::{Reply, ReplyContent};
use crate::request::Request;
use proconsul_acl::Rules;
use proconsul_acl::translate;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_store::{
    ANONYMOUS, AclInfo, LegacyToken, OldTokenDestroy, OldTokenInfo, OldTokenList, OldTokenWrite,
    TokenRow,
};

failures! {
    /// An update names no token.
    no_id() => 400 Direct, "ACL ID must be set";
    /// The type is neither that of a client nor that of a manager.
    invalid_type() => 500, "Invalid ACL Type";
    /// The token to change is a word that stood for a root of rights.
    root_unchanged() => 403, "Permission denied: Cannot modify root ACL";
    /// The token to delete is the anonymous one.
    anonymous_undeleted() => 403, "Permission denied: Cannot delete anonymous token";
    /// The token to clone is unknown, or not one of the old system.
    nothing_to_clone() => 403 Local, "Permission denied";
    /// The token whose rules are to be translated has none of its own.
    no_rules() => 500 Local, "The specified token does not have any rules set";
}

go_struct! {
    /// A token.
    struct OldTokenBody as "structs.ACL" {
        "ID": String => id,
        "Name": String => name,
        "Type": String => kind,
        "Rules": String => rules,
        "CreateIndex": u64,
        "ModifyIndex": u64,
    }
}

table! {
    /// A token.
    OldToken of row: OldTokenView {
        "ID" => json(row.secret),
        "Name" => json(row.description),
        "Type" => json(row.legacy.as_ref().map(LegacyToken::kind)),
        "Rules" => json(row.old_rules().unwrap_or_default()),
        "CreateIndex" => json(row.create_index.0),
        "ModifyIndex" => json(row.modify_index.0),
    }
}

/// A token of the old system.
type OldTokenView = std::sync::Arc<TokenRow>;

/// Creates a token, or replaces the one with its id.
pub(super) async fn create(mut request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    let body = body(&mut request).await?;
    request.authorize()?;
    write(&request, body)
}

/// Replaces a token, or creates it.
pub(super) async fn update(mut request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    let body = body(&mut request).await?;
    if body.id.is_empty() {
        return Err(no_id());
    }
    request.authorize()?;
    write(&request, body)
}

async fn body(request: &mut Request) -> Result<OldTokenBody, Failure> {
    let sent = request.read_whole().await;
    let mut body = OldTokenBody::default();
    if !sent.bytes.is_empty() {
        let rules = request.decoding(UnknownFields::Refused);
        let decoded = request.decode::<OldTokenBody>(sent, &mut body, rules);
        decoded.map_err(|words| Failure::undecodable(&words))?;
    }
    Ok(body)
}

fn write(request: &Request, body: OldTokenBody) -> Result<Reply, Failure> {
    let is_management = match body.kind.as_str() {
        "" | "client" => false,
        "management" => true,
        _ => return Err(invalid_type()),
    };
    if ROOTS.contains(&body.id.as_str()) {
        return Err(root_unchanged());
    }
    let flaw = Rules::parse_old(&body.rules, request.version()).err();
    let legacy = LegacyToken {
        is_management,
        rules: body.rules,
    };
    let flaw = flaw.map(|error| format!("ACL rule compilation failed: {error}"));
    apply(request, body.id, body.name, legacy, flaw)
}

fn apply(
    request: &Request,
    secret: String,
    name: String,
    legacy: LegacyToken,
    flaw: Option<String>,
) -> Result<Reply, Failure> {
    let written = request.context.engine.apply(OldTokenWrite {
        secret,
        name,
        legacy,
        flaw,
        made: objects::token::made_ids(request),
    });
    let secret = written.map_err(|refusal| refused(&refusal, request.version()))?;
    Ok(Reply::json(request, &object! { "ID" => &secret, }))
}

/// Returns the id in the path.
fn named(request: &Request) -> Result<String, Failure> {
    request.acls()?;
    let id = request.rest_text();
    if id.is_empty() {
        return Err(Failure::missing("ACL"));
    }
    Ok(id)
}

/// Deletes a token of either system.
pub(super) fn destroy(request: &Request) -> Result<Reply, Failure> {
    let id = named(request)?;
    request.authorize()?;
    if id == ANONYMOUS {
        return Err(anonymous_undeleted());
    }
    let Ok(()) = request.context.engine.apply(OldTokenDestroy(id));
    Ok(Reply::boolean(request, true))
}

/// Reads a token. Who knows its id needs no right.
pub(super) async fn info(request: &Request) -> Result<Reply, Failure> {
    let id = named(request)?;
    let options = request.read_options()?;
    let answer = objects::answer(request, &OldTokenInfo(id), options).await?;
    let rows = answer.rows.iter();
    let tokens: Vec<_> = rows
        .map(|row| OldToken::new(row, request.version()))
        .collect();
    Ok(Reply::json(request, &tokens).with_index(request, answer.index))
}

/// Lists all tokens of the old system.
pub(super) async fn list(request: &Request) -> Result<Reply, Failure> {
    request.acls()?;
    let options = request.read_options()?;
    let answer = objects::read(request, &OldTokenList, options).await?;
    let rows = answer.rows.iter();
    let tokens: Vec<_> = rows
        .map(|row| OldToken::new(row, request.version()))
        .collect();
    Ok(Reply::json(request, &tokens).with_index(request, answer.index))
}

/// Makes a token with the rights of another one of the old system. The answer has the headers of the read before it.
pub(super) async fn clone(request: Request) -> Result<Reply, Failure> {
    let id = named(&request)?;
    let options = request.read_options()?;
    let answer = objects::answer(&request, &OldTokenInfo(id), options).await?;
    let cloned = clone_of(&request, answer.rows.as_deref());
    let index = answer.index;
    match cloned {
        Ok(reply) => Ok(reply.with_index(&request, index)),
        Err(failure) => Err(failure.of_answer(&request.context, index)),
    }
}

fn clone_of(request: &Request, row: Option<&TokenRow>) -> Result<Reply, Failure> {
    let row = row.ok_or_else(nothing_to_clone)?;
    request.authorize()?;
    let legacy = row.legacy.clone().unwrap_or_default();
    apply(
        request,
        String::new(),
        row.description.clone(),
        legacy,
        None,
    )
}

/// Translates rules of the old system into those of policies (acl.md 8.5.r4).
pub(super) async fn translate(mut request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    request.authorize()?;
    let body = request.read_whole().await;
    if let Some(failure) = &body.failure {
        return Err(Failure::unreadable_body(failure));
    }
    translated(&request, &String::from_utf8_lossy(&body.bytes))
}

/// Translates the rules of a token.
pub(super) async fn translate_token(request: &Request) -> Result<Reply, Failure> {
    request.acls()?;
    let accessor = objects::named(request, "token ID")?;
    let options = request.read_options()?;
    request.check_datacenter_of_read()?;
    let answer = objects::read(request, &AclInfo::<TokenRow>::new(accessor), options).await?;
    let shown = answer.rows.filter(|shown| !shown.row.is_expired);
    let shown = shown.ok_or_else(nothing_found);
    let rules = shown.and_then(|shown| {
        let rules = shown.row.old_rules().map(str::to_owned);
        rules.ok_or_else(no_rules)
    });
    let rules = rules.map_err(|failure| failure.of_answer(&request.context, answer.index))?;
    translated(request, &rules)
}

fn translated(request: &Request, rules: &str) -> Result<Reply, Failure> {
    let rules = translate::translate(rules);
    let rules = rules.map_err(|words| Failure::bad_request(&words, request.version()))?;
    let reply = Reply::empty(http::StatusCode::OK);
    if rules.is_empty() {
        return Ok(reply);
    }
    Ok(Reply {
        content_type: Some(guessed_type(rules.as_bytes())),
        type_was_guessed: true,
        content: ReplyContent::Whole(rules.into()),
        ..reply
    })
}
