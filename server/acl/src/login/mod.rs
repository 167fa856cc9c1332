//! Logins with JSON Web Tokens: what an auth method of type `jwt` asks of one, and what its binding rules grant for it
//! (acl.md 8.4). Nothing here knows HTTP or the store's state; the time is given.

mod base64url;
mod bearer;
mod binding;
mod claims;
#[cfg(feature = "jwt")]
mod key;
mod settings;
#[cfg(feature = "jwt")]
mod signature;
/// Logins of a server that was built without a library of signatures.
#[cfg(not(feature = "jwt"))]
mod signature {
    use super::LoginFlaw;
    use super::bearer::Bearer;

    /// Takes every key as it is.
    pub(super) fn is_key(_: &str) -> bool {
        true
    }

    /// Refuses every token.
    pub(super) fn check(_: &Bearer, _: &[String]) -> Result<(), LoginFlaw> {
        let words = "logins need proconsul's feature `jwt`, which this server was built without";
        Err(LoginFlaw::NotEmulated(words.to_owned()))
    }
}

pub use binding::{
    bound_name, flaw_of_bind_name, flaw_of_selector, flaw_of_token_name, is_chosen, token_name,
};
pub use claims::Claims;
pub use settings::Settings;

/// Why a login fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginFlaw {
    /// Consul's refusal, in its words.
    Refused(String),
    /// What this server does not emulate, in ours.
    NotEmulated(String),
}

impl From<String> for LoginFlaw {
    fn from(words: String) -> Self {
        Self::Refused(words)
    }
}

/// Returns the claims of a bearer token that a method takes at `now`, in nanoseconds since 1970.
///
/// # Errors
/// What is wrong with the token.
pub fn claims(settings: &Settings, token: &str, now: i128) -> Result<Claims, LoginFlaw> {
    if settings.keys.is_empty() {
        let words = "keys of auth methods are only taken from JWTValidationPubKeys by proconsul, and are not fetched";
        return Err(LoginFlaw::NotEmulated(words.to_owned()));
    }
    let bearer = bearer::Bearer::parse(token, settings.library)?;
    signature::check(&bearer, &settings.keys)?;
    let claims = claims::read(&bearer.payload).ok_or_else(unverified)?;
    claims::check(&claims, settings, now)?;
    Ok(claims::mapped(&claims, settings)?)
}

/// Returns the refusal of a token that no key verifies.
fn unverified() -> LoginFlaw {
    LoginFlaw::Refused("no known key successfully validated the token signature".to_owned())
}
