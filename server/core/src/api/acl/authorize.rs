//! `/v1/internal/acl/authorize`: what the caller may do (acl.md 8.5.r2).

use crate::failure::Failure;
use crate::reply::Reply;
use crate::reply::object::object;
use crate::request::Request;
use proconsul_acl::Question;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::decode::go_struct;

/// The most questions at once.
const MOST: usize = 64;

go_struct! {
    /// A question.
    struct QuestionBody as "structs.ACLAuthorizationRequest" {
        "Resource" is "acl.Resource": String => resource,
        "Segment": String => segment,
        "Access": String => access,
    }
}

/// Answers questions. Any valid token may ask, and any token may ask nothing.
pub(super) async fn authorize(mut request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    let version = request.version();
    let body = request.read_whole().await;
    let mut asked = Vec::new();
    let rules = request.decoding(UnknownFields::Refused);
    let decoded = request.decode::<Vec<QuestionBody>>(body, &mut asked, rules);
    let refused = |text: &str| Failure::bad_request(text, version);
    decoded.map_err(|words| refused(&format!("Failed to decode request body: {words}")))?;
    if asked.len() > MOST {
        let text = format!("Refusing to process more than {MOST} authorizations at once");
        return Err(refused(&text));
    }
    if asked.is_empty() {
        return Ok(Reply::json(&request, &[(); 0]));
    }
    request.check_datacenter()?;
    let caller = request.acls()?.caller(&request)?;
    let mut answers = Vec::new();
    for body in &asked {
        let question = Question::asked(&body.resource, &body.access, &body.segment, version);
        let question = question.map_err(|error| refused(&error.to_string()))?;
        answers.push(object! {
            "Resource" => &body.resource,
            "Segment" if !body.segment.is_empty() => &body.segment,
            "Access" => &body.access,
            "Allow" => caller.may(question),
        });
    }
    Ok(Reply::json(&request, &answers))
}
