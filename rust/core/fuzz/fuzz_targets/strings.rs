//! Feeds bytes that the fuzzer makes up to the target `strings`.
#![no_main]

#[allow(dead_code)]
#[path = "../../tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::strings(bytes));
