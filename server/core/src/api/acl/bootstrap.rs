//! `/v1/acl/bootstrap` and `/v1/acl/replication` (acl.md 3.1, 8.5).

use std::path::Path;

use super::failure::{self, refused};
use super::wire::{NEVER, Token, TokenView};
use crate::failure::{Failure, failures};
use crate::reply::Reply;
use crate::reply::object::object;
use crate::request::Request;
use proconsul_engine::host::Host;
use proconsul_gocompat::json::context::UnknownFields;
use proconsul_gocompat::json::decode::go_struct;
use proconsul_store::{AclBootstrap, AclId};
use proconsul_version::Behaviour;

failures! {
    /// The body is not the expected JSON; `words` is Go's text.
    undecodable(words: &str) => 400, format!("Request decoding failed: {words}");
}

go_struct! {
    /// The body of a bootstrap, of later releases.
    struct BootstrapBody as "structs.BootstrapTokenRequest" {
        "BootstrapSecret": String => secret,
    }
}

/// Makes the first token that allows everything. It needs no token.
pub(super) async fn bootstrap(mut request: Request) -> Result<Reply, Failure> {
    request.acls()?;
    let version = request.version();
    let mut body = BootstrapBody::default();
    if request.has(Behaviour::AclBootstrapSecret) {
        let sent = request.read_whole().await;
        if !sent.bytes.is_empty() {
            let rules = request.decoding(UnknownFields::Refused);
            let decoded = request.decode::<BootstrapBody>(sent, &mut body, rules);
            decoded.map_err(|words| undecodable(&words))?;
        }
    }
    let engine = &request.context.engine;
    let over = engine.snapshot().acl_bootstrapped();
    let secret = match body.secret {
        secret if secret.is_empty() => engine.new_session_id().to_string(),
        secret if over.is_none() && AclId::parse_printed(&secret).is_none() => {
            return Err(failure::bootstrap_secret());
        }
        secret => secret,
    };
    let file = request.context.config.acl.data_dir.as_ref();
    let file = file.map(|folder| folder.join("acl-bootstrap-reset"));
    let reset = over.and_then(|_| reset_index(engine.host().as_ref(), file.as_deref()?));
    let made = AclBootstrap {
        reset,
        accessor: engine.new_session_id(),
        secret,
        description: "Bootstrap Token (Global Management)".to_owned(),
        is_legacy: !version.has(Behaviour::AclLegacyRemoved),
    };
    let made = engine.apply(made);
    let shown = made.map_err(|refusal| refused(&refusal, version))?;
    if let Some(file) = file.filter(|_| reset.is_some()) {
        // Its index counts no longer, so one that stays does no harm.
        engine.host().remove_file(&file);
    }
    let view = TokenView::new(&request, shown).with_id();
    Ok(Reply::json(&request, &Token::new(&view, version)))
}

/// Reads the index that allows one more bootstrap. A file without one is ignored (acl.md 3.1.r4).
fn reset_index(host: &dyn Host, file: &Path) -> Option<u64> {
    let text = host.read_file(file)?;
    text.trim().parse().ok()
}

/// Shows that nothing is replicated. It needs no token.
pub(super) fn replication(request: &Request) -> Result<Reply, Failure> {
    request.acls()?;
    request.check_read()?;
    let late = request.has(Behaviour::AclLateTexts);
    let status = object! {
        "Enabled" => false,
        "Running" => false,
        "SourceDatacenter" => "",
        "ReplicationType" => "",
        "ReplicatedIndex" => 0,
        "ReplicatedRoleIndex" => 0,
        "ReplicatedTokenIndex" => 0,
        "LastSuccess" => NEVER,
        "LastError" => NEVER,
        "LastErrorMessage" if late => "",
    };
    Ok(Reply::json(request, &status))
}
