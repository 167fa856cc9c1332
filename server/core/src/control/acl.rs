//! ACLs: tokens for tests, other rules for them, their end; and whether a token may do something.

use std::fmt;
use std::sync::Arc;

use super::Controls;
use proconsul_acl::caller::{Caller, Place};
use proconsul_acl::{DefaultPolicy, Question, Rules};
use proconsul_config::AclConfig;
use proconsul_store::{
    AclIdentity, AclInfo, AclObject as _, Identity, MadeIds, RulesForTest, TokenDelete,
    TokenForTest, TokenRow,
};

/// The ACLs of a server; from [`Controls::acl`].
///
/// A token is named by its SecretID or its AccessorID.
#[derive(Clone, Copy, Debug)]
pub struct Acl<'a>(&'a Controls);

/// A token that a test has made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Token {
    /// The AccessorID, by which the history names it.
    pub accessor: String,
    /// The SecretID, which requests send.
    pub secret: String,
}

/// Whether a token may do something, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Permission {
    /// The AccessorID of the token.
    pub accessor: String,
    /// The description of the token.
    pub description: String,
    /// What it is about: the permission as Consul's refusals name it, such as `'key:write' on "app/a"`.
    pub permission: String,
    /// Whether the token may.
    pub is_allowed: bool,
    /// What decides: a rule and the policy that has it, or the default policy.
    pub because: String,
}

/// Why a control of ACLs did nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AclError {
    /// ACLs are off; `Builder::acl` enables them.
    Off,
    /// The rules are invalid; has the sentence of the emulated release.
    Rules(String),
    /// No token has this SecretID or AccessorID.
    UnknownToken(String),
    /// The permission is not one of the emulated release, as its sentence says, or has no colon.
    Permission(String),
    /// The token with this AccessorID has no policy of its own: it is the anonymous or a management token, or has
    /// roles and identities alone.
    NoPolicy(String),
    /// The anonymous token cannot be deleted.
    Anonymous,
}

impl fmt::Display for AclError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => formatter.write_str(
                "ACLs are off; `-acl TOKEN` starts an agent with them, `Builder::acl` a server in Rust",
            ),
            Self::Rules(sentence) => write!(formatter, "these are no rules: {sentence}"),
            Self::UnknownToken(token) => write!(
                formatter,
                "no token has the SecretID or AccessorID {token:?}"
            ),
            Self::Permission(sentence) => formatter.write_str(sentence),
            Self::NoPolicy(accessor) => write!(
                formatter,
                "the token {accessor} has no policy that could get other rules"
            ),
            Self::Anonymous => formatter.write_str("the anonymous token cannot be deleted"),
        }
    }
}

impl std::error::Error for AclError {}

impl fmt::Display for Permission {
    /// `token 6a0f... lacks 'key:write' on "app/a" by key_prefix "app/" { policy = "read" } of policy "reader"`
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            accessor,
            permission,
            because,
            ..
        } = self;
        let has = if self.is_allowed { "has" } else { "lacks" };
        write!(
            formatter,
            "token {accessor} {has} {permission} by {because}"
        )
    }
}

/// Returns what is allowed where no rule says anything; `None` if ACLs are off.
pub(super) fn default_policy(config: &AclConfig) -> Option<DefaultPolicy> {
    let named = || DefaultPolicy::named(&config.default_policy);
    config.enabled.then(named)
}

/// # ACLs
impl Controls {
    /// The ACLs.
    #[must_use]
    pub fn acl(&self) -> Acl<'_> {
        Acl(self)
    }
}

impl Acl<'_> {
    /// Makes a token with these rules, in HCL or JSON, and returns it. It counts at once, and goes with a
    /// [`reset`](Controls::reset).
    ///
    /// # Errors
    /// ACLs are off, or the rules are invalid.
    pub fn token(self, rules: &str) -> Result<Token, AclError> {
        self.described_token("Made by a test", rules)
    }

    /// Does what [`Acl::token`] does. The history names the token by its description.
    ///
    /// # Errors
    /// As [`Acl::token`].
    pub fn described_token(self, description: &str, rules: &str) -> Result<Token, AclError> {
        self.check(rules)?;
        let engine = &self.0.engine;
        let made = MadeIds {
            accessor: engine.new_session_id(),
            secret: engine.new_session_id(),
        };
        self.0
            .note(&format!("token {} ({description:?}) made", made.accessor));
        let Ok(shown) = engine.apply(TokenForTest {
            made,
            policy: engine.new_session_id(),
            description: description.to_owned(),
            rules: rules.to_owned(),
        });
        Ok(Token {
            accessor: shown.row.accessor.clone(),
            secret: shown.row.secret.clone(),
        })
    }

    /// Deletes a token: from now on it is unknown. What blocked requests with it do then is up to the emulated release.
    ///
    /// # Errors
    /// ACLs are off, the token is unknown, or it is the anonymous one.
    pub fn revoke(self, token: &str) -> Result<(), AclError> {
        let row = self.find(token)?;
        let accessor = &row.accessor;
        let deleted = self.0.engine.apply(TokenDelete {
            accessor: accessor.clone(),
            asked_by: String::new(),
        });
        match deleted {
            Ok(true) => {
                self.0.note(&format!("token {accessor} revoked"));
                Ok(())
            }
            Ok(false) => Err(AclError::UnknownToken(token.to_owned())),
            Err(_) => Err(AclError::Anonymous),
        }
    }

    /// Gives the policies of a token other rules. They count for all tokens with these policies.
    ///
    /// # Errors
    /// ACLs are off, the token is unknown or has no policy of its own, or the rules are invalid.
    pub fn change_rules(self, token: &str, rules: &str) -> Result<(), AclError> {
        self.check(rules)?;
        let row = self.find(token)?;
        let accessor = &row.accessor;
        let Ok(changed) = self.0.engine.apply(RulesForTest {
            token: row.id(),
            rules: rules.to_owned(),
        });
        if changed == 0 {
            return Err(AclError::NoPolicy(accessor.clone()));
        }
        self.0.note(&format!("rules of token {accessor} changed"));
        Ok(())
    }

    /// Explains whether a token has a permission: `key:write`, `session:read` and so on, as Consul's refusals name
    /// them, and the name of what it is about, which is empty for a resource without names. For the keys below a prefix
    /// there are `key:list` and, to delete them, `key:write-prefix`.
    ///
    /// # Errors
    /// ACLs are off, the token is unknown, or the emulated release has no such permission.
    pub fn explain(
        self,
        token: &str,
        permission: &str,
        name: &str,
    ) -> Result<Permission, AclError> {
        let place = self.place()?;
        let (resource, access) = permission.split_once(':').ok_or_else(|| {
            let sentence = format!("a permission has the form key:write, not {permission:?}");
            AclError::Permission(sentence)
        })?;
        let question = Question::asked(resource, access, name, place.version);
        let question = question.map_err(|error| AclError::Permission(error.to_string()))?;
        let identity = self.identity(token)?;
        let caller = Caller::of(&identity, place);
        let (is_allowed, because) = caller.explain(question);
        Ok(Permission {
            accessor: caller.accessor,
            description: caller.description,
            permission: question.to_string(),
            is_allowed,
            because,
        })
    }

    /// Returns what decides on rights beside tokens.
    fn place(&self) -> Result<Place<'_>, AclError> {
        Ok(Place {
            version: self.0.version,
            datacenter: &self.0.datacenter,
            default: self.0.acl_default.ok_or(AclError::Off)?,
        })
    }

    /// Checks rules for a server that has ACLs.
    pub(super) fn check(self, rules: &str) -> Result<(), AclError> {
        let version = self.place()?.version;
        let checked = Rules::parse(rules, version);
        checked
            .map(|_| ())
            .map_err(|error| AclError::Rules(error.to_string()))
    }

    fn find(self, token: &str) -> Result<Arc<TokenRow>, AclError> {
        Ok(self.identity(token)?.token)
    }

    /// Returns a token with all that it grants.
    fn identity(self, token: &str) -> Result<Identity, AclError> {
        self.place()?;
        let engine = &self.0.engine;
        let of_secret = |secret: &str| {
            let Ok(found) = engine.read(&AclIdentity(secret));
            found.rows
        };
        let of_accessor = || {
            let found = engine.read(&AclInfo::<TokenRow>::new(token.to_owned()));
            of_secret(&found.ok()?.rows?.row.secret)
        };
        let found = of_secret(token).or_else(of_accessor);
        found.ok_or_else(|| AclError::UnknownToken(token.to_owned()))
    }
}
