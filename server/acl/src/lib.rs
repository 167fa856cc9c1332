//! What ACLs allow: the rule language, and the answer to "may this token do that".
//!
//! Nothing here knows of requests, stores or clocks. [`Rules`] is the text of one policy, read; an [`Authorizer`] is made
//! of all rules of a token and answers [`Question`]s; [`identity`] has the rules that come without a policy.

pub mod authorizer;
pub mod caller;
pub mod decision;
pub mod identity;
mod kind;
pub mod level;
pub mod login;
pub mod question;
pub mod rules;
mod table;
pub mod translate;

pub use authorizer::{Authorizer, DefaultPolicy};
pub use decision::{Deciding, Decision};
pub use question::{Access, Question, Resource};
pub use rules::{Rules, RulesError};
