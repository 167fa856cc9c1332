//! `/v1/query`: prepared queries (session.md 5).

#[cfg(feature = "queries")]
mod body;
#[cfg(feature = "queries")]
mod endpoints;
#[cfg(feature = "queries")]
mod failure;
#[cfg(feature = "queries")]
mod rights;
#[cfg(feature = "queries")]
mod template;
#[cfg(feature = "queries")]
mod wire;

use crate::route::routes;

routes! {
    feature "queries";
    "/v1/query" [GET POST] => waits(endpoints::queries);
    "/v1/query/" [] => waits(endpoints::query);
}
