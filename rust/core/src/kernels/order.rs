//! The order in which NumPy sorts: NaN after all numbers, zeros of both signs equal, complex numbers
//! by their real part first.

use std::cmp::Ordering;

use half::{bf16, f16};
use num_complex::Complex;

use crate::kernels::cast::Bool;

/// A value that is sorted.
pub(crate) trait Ordered: Copy {
    /// Compares as the values do.
    type Key: Ord + Copy;

    fn key(self) -> Self::Key;

    /// Where it stands to another; all NaNs are alike.
    #[inline(always)]
    fn order(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }

    /// True if it is not even equal to itself.
    #[inline(always)]
    fn is_unordered(&self) -> bool {
        false
    }
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Ordered for $type {
            type Key = $type;
            #[inline(always)]
            fn key(self) -> $type {
                self
            }
        }
    )*};
}

whole!(i8, i16, i32, i64, u8, u16, u32, u64);

impl Ordered for Bool {
    type Key = u8;
    fn key(self) -> u8 {
        self.0
    }
}

impl<'a> Ordered for &'a [u8] {
    type Key = &'a [u8];
    fn key(self) -> &'a [u8] {
        self
    }
}

macro_rules! floats {
    ($($type:ty: $int:ty),*) => {$(
        impl Ordered for $type {
            type Key = $int;
            #[inline(always)]
            fn key(self) -> $int {
                if self.is_nan() {
                    return <$int>::MAX;
                }
                let bits = self.to_bits() as $int;
                // Magnitudes of negative numbers count down; both zeros become 0.
                if bits < 0 { (<$int>::MIN).wrapping_sub(bits) } else { bits }
            }
            #[inline(always)]
            fn is_unordered(&self) -> bool {
                self.is_nan()
            }
        }
    )*};
}

floats!(f16: i16, bf16: i16, f32: i32, f64: i64);

macro_rules! complex {
    ($($type:ty),*) => {$(
        impl Ordered for Complex<$type> {
            /// By parts; numbers with a NaN in one part or both come after the others.
            type Key = (u8, Option<<$type as Ordered>::Key>, Option<<$type as Ordered>::Key>);
            fn key(self) -> Self::Key {
                let part = |part: $type| (!part.is_nan()).then(|| part.key());
                let class = 2 * u8::from(self.re.is_nan()) + u8::from(self.im.is_nan());
                (class, part(self.re), part(self.im))
            }
            fn is_unordered(&self) -> bool {
                self.re.is_nan() || self.im.is_nan()
            }
        }
    )*};
}

complex!(f32, f64);
