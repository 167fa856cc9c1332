//! What the cases about the rules of ACLs share: policies made of rules, and what a token of them may do.

use serde_json::{Value, json};

use crate::case::trial::Trial;
use crate::cases::support::acl::{put, with};
use crate::wire::Request;
use crate::wire::answer::Answer;

/// A question: the resource, the access, and the name.
pub(in crate::cases) type Question<'q> = (&'q str, &'q str, &'q str);

/// Makes a policy of these rules.
pub(in crate::cases) fn made_of(t: &Trial, name: &str, rules: &str) -> Answer {
    let body = json!({"Name": name, "Rules": rules});
    put(t, "policy", &body.to_string())
}

/// Says of each question whether this token may do that.
fn allowed(t: &Trial, token: &str, questions: &[Question<'_>]) -> Vec<bool> {
    let body: Vec<Value> = questions
        .iter()
        .map(|(resource, access, name)| json!({"Resource": resource, "Access": access, "Segment": name}))
        .collect();
    let request = Request::new("POST", "/v1/internal/acl/authorize").body(json!(body).to_string());
    let answers = with(t, token, &request).status_is(200).list();
    answers.iter().map(|one| one["Allow"] == true).collect()
}

/// Requires that this token may do exactly what is said of each question.
pub(in crate::cases) fn may(t: &Trial, token: &str, rows: &[(Question<'_>, bool)]) {
    let questions: Vec<Question<'_>> = rows.iter().map(|row| row.0).collect();
    for (row, came) in rows.iter().zip(allowed(t, token, &questions)) {
        let (resource, access, name) = row.0;
        t.same(&format!("{access} of {resource} {name:?}"), came, row.1);
    }
}
