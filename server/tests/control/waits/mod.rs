//! Waiting for what happens on a server, from threads and from async code, and whom a change wakes.

mod async_twins;
mod barriers;
mod bystanders;
mod service_wakes;
