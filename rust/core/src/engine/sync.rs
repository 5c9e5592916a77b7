//! The locks, channels and threads of the engine.
//!
//! As built they are those of std and crossbeam. In the models of `engine::models`, which the
//! feature `shuttle` builds, they are played on one thread by a scheduler that tries out orders of
//! events. So whatever the models go through (driver, pool, permits, a run's life) takes them from
//! here and never from std.

#[cfg(all(test, feature = "shuttle"))]
mod modelled;
#[cfg(not(all(test, feature = "shuttle")))]
mod real;

#[cfg(all(test, feature = "shuttle"))]
pub(crate) use modelled::*;
#[cfg(not(all(test, feature = "shuttle")))]
pub(crate) use real::*;
