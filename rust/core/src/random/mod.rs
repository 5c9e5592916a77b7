//! TensorFlow's random numbers, bit for bit.
