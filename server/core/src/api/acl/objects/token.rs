//! `/v1/acl/token`: tokens (acl.md 5).

use http::Method;

use crate::api::acl::body::{self, TokenBody};
use crate::api::acl::failure::{self, refused};
use crate::api::acl::objects;
use crate::api::acl::wire::{Expanded, ExpandedFields, Token, TokenAndMore, TokenView};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;
use proconsul_acl::identity::Template;
use proconsul_acl::{Question, Resource};
use proconsul_store::{
    AclId, AclIdentity, AclInfo, AclList, AclObject as _, AclRefusal, Answer, Command, Expiry,
    MadeIds, NewToken, RoleRow, Shown, TokenClone, TokenCreate, TokenDelete, TokenList,
    TokenOfSecret, TokenReplace, TokenRow,
};
use proconsul_version::Behaviour;

/// Lists all tokens, or those with a policy or a role, or of an auth method.
pub(in crate::api::acl) async fn list(request: &Request) -> Result<Reply, Failure> {
    let acls = request.acls()?;
    let options = objects::options(request)?;
    let mut answer = objects::read(request, &TokenList, options).await?;
    let kept = retain(request, &mut answer);
    kept.map_err(|failure| failure.of_read(&request.context))?;
    let caller = acls.caller(request)?;
    let may_see = caller.may(Question::write(Resource::Acl, ""));
    let rows = answer.rows.into_iter();
    let views: Vec<TokenView> = rows
        .map(|shown| {
            TokenView::new(request, shown)
                .seen_by(may_see)
                .in_list(request)
        })
        .collect();
    let tokens = views.iter().map(|view| Token::new(view, request.version()));
    let tokens: Vec<_> = tokens.collect();
    Ok(Reply::json(request, &tokens).with_index(request, answer.index))
}

/// Keeps the tokens that the query asks for (acl.md 5.29).
fn retain(request: &Request, answer: &mut Answer<Vec<Shown<TokenRow>>>) -> Result<(), Failure> {
    let late = request.has(Behaviour::AclLateTexts);
    let all = ["policy", "role", "authmethod", "servicename"];
    let all = &all[..if late { 4 } else { 3 }];
    let given = all.iter().map(|name| (*name, request.query.get(name)));
    let given: Vec<_> = given.filter(|(_, value)| !value.is_empty()).collect();
    let (name, value) = match given[..] {
        [] => return Ok(()),
        [(name, value)] => (name, String::from_utf8_lossy(value)),
        _ if late => {
            return Err(failure::several_filters(
                "policy, role, serviceName, or methodName",
            ));
        }
        _ => return Err(failure::several_filters("policy, role, or methodName")),
    };
    let rows = &mut answer.rows;
    match name {
        "authmethod" => rows.retain(|shown| shown.row.auth_method == value),
        "servicename" => rows.retain(|shown| {
            let grants = &shown.row.grants;
            let mut services = grants.service_identities.iter();
            let mut templates = grants.templated_policies.iter();
            services.any(|service| service.service_name == value)
                || templates.any(|policy| {
                    policy.template_name == Template::Service.name()
                        && policy.name.as_deref() == Some(&*value)
                })
        }),
        _ => {
            let id = match AclId::parse(&value) {
                Ok(id) => id,
                Err(error) if late => {
                    let refusal = AclRefusal::MalformedId(proconsul_store::AclKind::Token, error);
                    return Err(refused(&refusal, request.version()));
                }
                Err(_) => None,
            };
            rows.retain(|shown| {
                let grants = &shown.row.grants;
                let ids = if name == "policy" {
                    &grants.policies
                } else {
                    &grants.roles
                };
                id.is_some_and(|id| ids.contains(&id))
            });
        }
    }
    Ok(())
}

/// Creates a token.
pub(in crate::api::acl) async fn create(mut request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    request.check_tenancy()?;
    let token = new_token(&mut request).await?;
    request.authorize()?;
    let create = TokenCreate {
        token,
        made: made_ids(&request),
    };
    written(&request, create)
}

/// Reads, replaces, clones or deletes a token.
pub(in crate::api::acl) async fn one(request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    let path = request.rest_text();
    let late = request.has(Behaviour::AclLateTexts);
    let missing = if late { "token AccessorID" } else { "token ID" };
    match request.method {
        Method::PUT => match path.strip_suffix("/clone") {
            Some(accessor) => clone(request, accessor.to_owned()).await,
            None => replace(request, path).await,
        },
        Method::DELETE => {
            let accessor = objects::named(&request, missing)?;
            delete(&request, accessor)
        }
        _ => {
            let accessor = objects::named(&request, missing)?;
            show(&request, accessor).await
        }
    }
}

/// Reads the request's own token. It needs no right, and a namespace is ignored (acl.md 0.7).
pub(in crate::api::acl) async fn own(request: &Request) -> Result<Reply, Failure> {
    let acls = request.acls()?;
    let options = request.read_options()?;
    request.check_datacenter_of_read()?;
    let secret = acls.secret(request).unwrap_or_default().into_owned();
    let answer = objects::answer(request, &TokenOfSecret(secret), options).await?;
    found(request, answer, true)
}

async fn show(request: &Request, accessor: String) -> Result<Reply, Failure> {
    let options = objects::options(request)?;
    let answer = objects::read(request, &AclInfo::<TokenRow>::new(accessor), options).await?;
    let caller = request.acls()?.caller(request)?;
    let may_see = caller.may(Question::write(Resource::Acl, ""));
    found(request, answer, may_see)
}

/// Returns the answer to a read of one token.
fn found(
    request: &Request,
    answer: Answer<Option<Shown<TokenRow>>>,
    may_see: bool,
) -> Result<Reply, Failure> {
    let why = match &answer.rows {
        Some(shown) if shown.row.is_expired => "token has expired: ",
        Some(_) => "",
        None => "token does not exist: ",
    };
    let shown = answer.rows.filter(|shown| !shown.row.is_expired);
    let Some(shown) = shown else {
        let context = &request.context;
        return Err(if request.has(Behaviour::AclTokenMissingText) {
            failure::missing_token(why).of_read(context)
        } else {
            failure::nothing_found().of_answer(context, answer.index)
        });
    };
    let expanded = expanded(request, &shown);
    let view = TokenView::new(request, shown).seen_by(may_see);
    let more = expanded.as_ref();
    let token = TokenAndMore {
        token: Token::new(&view, request.version()),
        more: more.map(|expanded| ExpandedFields::new(expanded, request.version())),
    };
    Ok(Reply::json(request, &token).with_index(request, answer.index))
}

/// Returns what `?expanded` adds, if it is asked for.
fn expanded(request: &Request, shown: &Shown<TokenRow>) -> Option<Expanded> {
    if !request.query.has("expanded") || !request.has(Behaviour::AclExpanded) {
        return None;
    }
    let context = &request.context;
    let Ok(identity) = context.engine.read(&AclIdentity(&shown.row.secret));
    let identity = identity.rows?;
    let Ok(roles) = context.engine.read(&AclList::<RoleRow>::default());
    let is_linked = |role: &Shown<RoleRow>| shown.row.grants.roles.contains(&role.row.id());
    let policies = identity.policies.into_iter();
    let bare = |row| Shown {
        row,
        policies: Vec::new(),
        roles: Vec::new(),
    };
    let acl = &context.config.acl;
    Some(Expanded {
        policies: policies.map(bare).collect(),
        roles: roles.rows.into_iter().filter(is_linked).collect(),
        default_policy: acl.default_policy.clone(),
        down_policy: acl.down_policy.clone(),
        node: context.config.node_name.clone(),
    })
}

async fn replace(mut request: Request, accessor: String) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let token = new_token(&mut request).await?;
    if !token.accessor.is_empty() && token.accessor != accessor {
        let text = "Token Accessor ID in URL and payload do not match";
        return Err(Failure::bad_request(text, request.version()));
    }
    request.authorize()?;
    if accessor.is_empty() {
        let made = made_ids(&request);
        return written(&request, TokenCreate { token, made });
    }
    written(&request, TokenReplace { accessor, token })
}

async fn clone(mut request: Request, accessor: String) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    let token = new_token(&mut request).await?;
    request.authorize()?;
    let clone = TokenClone {
        accessor,
        description: token.description,
        made: made_ids(&request),
    };
    written(&request, clone)
}

fn delete(request: &Request, accessor: String) -> Result<Reply, Failure> {
    request.check_tenancy()?;
    objects::authorize_deletion(request, "token")?;
    let asked_by = request.acls()?.secret(request);
    let asked_by = asked_by.unwrap_or_default().into_owned();
    let delete = TokenDelete { accessor, asked_by };
    objects::deleted(request, "token", request.context.engine.apply(delete))
}

/// Applies a write, and shows the token.
pub(in crate::api::acl) fn written<C>(request: &Request, write: C) -> Result<Reply, Failure>
where
    C: Command<Reply = Shown<TokenRow>, Refused = AclRefusal>,
{
    let written = request.context.engine.apply(write);
    let shown = written.map_err(|refusal| refused(&refusal, request.version()))?;
    let view = TokenView::new(request, shown);
    Ok(Reply::json(request, &Token::new(&view, request.version())))
}

pub(in crate::api::acl) fn made_ids(request: &Request) -> MadeIds {
    let engine = &request.context.engine;
    MadeIds {
        accessor: engine.new_session_id(),
        secret: engine.new_session_id(),
    }
}

/// Reads the body of a token.
async fn new_token(request: &mut Request) -> Result<NewToken, Failure> {
    let mut body = body::read::<TokenBody>(request, "Token").await?;
    if body.rules.is_some() && request.has(Behaviour::AclLegacyRemoved) {
        let text = "Token decoding failed: json: unknown field \"Rules\"";
        return Err(Failure::bad_request(text, request.version()));
    }
    let epoch = request.context.engine.clock().unix_nanos_of_epoch();
    let ttl = body.ttl.nanoseconds();
    let ttl = ttl.expect("the decoder refuses invalid durations");
    Ok(NewToken {
        grants: body.take_grants(request.version()),
        accessor: body.accessor,
        secret: body.secret,
        description: body.description,
        local: body.local,
        auth_method: body.auth_method,
        name: body.name,
        ttl_ns: ttl.unwrap_or(0),
        expires: body.expires.map(|nanos| Expiry::from_offset(nanos - epoch)),
        has_rules: body.rules.is_some_and(|rules| !rules.is_empty()),
    })
}
