//! Tests that wait for those who wait.

mod async_twins;
mod barriers;
mod service_wakes;
