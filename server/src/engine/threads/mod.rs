//! Whose thread it is: that of a caller who waits, and that which serves many.

pub(crate) mod aside;
pub(crate) mod parked;
