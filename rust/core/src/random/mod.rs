//! TensorFlow's random numbers, bit for bit.

pub mod philox;

pub use philox::Philox;
