//! Whose thread it is: that of a caller who waits, and that which serves many.

pub mod aside;
pub mod parked;
