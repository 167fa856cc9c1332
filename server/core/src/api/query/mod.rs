//! `/v1/query`: prepared queries (session.md 5).

#[cfg(feature = "queries")]
mod body;
#[cfg(feature = "dns")]
mod dns;
#[cfg(feature = "queries")]
mod endpoints;
#[cfg(feature = "queries")]
mod execution;
#[cfg(feature = "queries")]
mod failure;
#[cfg(feature = "queries")]
mod rights;
#[cfg(feature = "queries")]
mod template;
#[cfg(feature = "queries")]
mod wire;

#[cfg(feature = "dns")]
pub(crate) use dns::found_by_name;

use crate::route::routes;

routes! {
    feature "queries";
    "/v1/query" [GET POST] => waits(endpoints::queries);
    "/v1/query/" [] => waits(endpoints::query);
}
