//! Numbers of tasks and sizes of windows that move during a run.

pub mod knob;
pub mod meter;

pub use knob::{Knob, Window};
pub use meter::Meter;
