//! TensorFlow's random numbers, bit for bit.

pub mod distributions;
pub mod draw;
pub mod fingerprint;
pub mod philox;
pub mod rates;
pub mod site;

pub use philox::Philox;
pub use site::Site;
