//! TensorFlow's random numbers, bit for bit.

pub mod distributions;
pub mod draw;
pub mod philox;

pub use philox::Philox;
