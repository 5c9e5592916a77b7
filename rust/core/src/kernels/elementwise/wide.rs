//! Innermost loops that are compiled twice: for any processor, and for one with wide registers.
//!
//! Which of the two runs is asked at run time. Both compute the same, to the bit: nothing is fused
//! and no sum is reordered.

#![allow(unsafe_code)]

/// A loop, with `run` inlined where it is called.
pub(super) trait Body {
    fn run(self);
}

/// Runs the loop in the widest form that this processor knows.
#[inline(always)]
pub(super) fn widely(body: impl Body) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { on_avx2(body) };
    }
    body.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn on_avx2(body: impl Body) {
    body.run();
}
