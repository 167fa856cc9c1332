//! What prepared queries ask for if ACLs are on (acl.md 7.r28 to 7.r32). Queries without a name need nothing but to be
//! known, and only who may change ACLs, and so sees all queries, sees them in lists.

use std::sync::Arc;

use super::failure::refused;
use crate::auth::permission_denied;
use crate::auth::rights::Rights;
use crate::failure::Failure;
use crate::request::Request;
use proconsul_acl::{Access, Question, Resource};
use proconsul_store::{Answer, NewPreparedQuery, PreparedQueryRow, PreparedQueryTarget};

type Queries = Answer<Vec<Arc<PreparedQueryRow>>>;

/// Queries that the caller may see, and its rights.
pub(super) type Visible = (Rights, Queries);

const CHANGE_ACLS: Question<'static> = Question {
    resource: Resource::Acl,
    access: Access::Write,
    name: "",
};

/// Returns the name that rights go by; `None` for a query without one.
fn name(query: &NewPreparedQuery) -> Option<&str> {
    let has_name = !query.name.is_empty() || query.template.is_some();
    has_name.then_some(&query.name)
}

/// Checks that the caller may write a query, and the one in whose place it comes, which Consul looks up in between.
pub(super) fn check_write(
    request: &Request,
    target: &PreparedQueryTarget,
    query: &NewPreparedQuery,
) -> Result<(), Failure> {
    let rights = request.rights()?;
    may_write(&rights, query)?;
    match target {
        PreparedQueryTarget::New(_) => Ok(()),
        PreparedQueryTarget::Existing(id) => check_stored(request, &rights, id),
    }
}

/// Checks that the caller may delete the query with this id.
pub(super) fn check_deletion(request: &Request, id: &str) -> Result<(), Failure> {
    check_stored(request, &request.rights()?, id)
}

fn check_stored(request: &Request, rights: &Rights, id: &str) -> Result<(), Failure> {
    let store = request.context.engine.snapshot();
    let found = store.prepared_query_target(id);
    let found = found.map_err(|refusal| refused(request, &refusal))?;
    may_write(rights, &found.query)
}

fn may_write(rights: &Rights, query: &NewPreparedQuery) -> Result<(), Failure> {
    name(query).map_or(Ok(()), |name| {
        rights.check(Question::write(Resource::Query, name))
    })
}

/// Returns the queries of a list that the caller sees.
pub(super) fn visible(request: &Request, mut answer: Queries) -> Result<Visible, Failure> {
    let mut rights = request.rights_of_read()?;
    if rights.may(CHANGE_ACLS) {
        return Ok((rights, answer));
    }
    // Nobody is told that there are queries without a name (acl.md 2.12).
    answer.rows.retain(|row| name(&row.query).is_some());
    rights.retain(&mut answer.rows, |caller, row| {
        seen(&row.query).is_some_and(|question| caller.may(question))
    });
    Ok((rights, answer))
}

/// Returns one query, if the caller sees it.
pub(super) fn of_info(request: &Request, answer: Queries) -> Result<Visible, Failure> {
    let rights = request.rights_of_read()?;
    let mut asked = answer.rows.iter().filter_map(|row| seen(&row.query));
    if rights.may(CHANGE_ACLS) || asked.all(|question| rights.grant(question)) {
        return Ok((rights, answer));
    }
    Err(permission_denied("").of_read(&request.context))
}

/// Returns the rights of who asks to explain a query.
pub(super) fn of_explained(request: &Request, row: &PreparedQueryRow) -> Result<Rights, Failure> {
    let rights = request.rights_of_read()?;
    if rights.may(CHANGE_ACLS) || rights.grant(seen(&row.query).unwrap_or(CHANGE_ACLS)) {
        return Ok(rights);
    }
    Err(permission_denied("").of_read(&request.context))
}

/// Returns the rights that decide what an execution finds: those of the query's own token, else of the caller's.
pub(super) fn of_execution(request: &Request, query: &NewPreparedQuery) -> Result<Rights, Failure> {
    let own = Some(query.token.as_str()).filter(|token| !token.is_empty());
    let rights = request.rights_with(own);
    rights.map_err(|failure| failure.of_read(&request.context))
}

fn seen(query: &NewPreparedQuery) -> Option<Question<'_>> {
    name(query).map(|name| Question::read(Resource::Query, name))
}
