//! The order in which NumPy sorts: NaN after all numbers, complex numbers by their real part first.

use std::cmp::Ordering;

use half::{bf16, f16};
use num_complex::Complex;

use crate::kernels::cast::Bool;

/// A value that is sorted.
pub(crate) trait Ordered: Copy {
    /// Where it stands to another; all NaNs are alike.
    fn order(&self, other: &Self) -> Ordering;

    /// True if it is not even equal to itself.
    fn is_unordered(&self) -> bool {
        false
    }
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Ordered for $type {
            fn order(&self, other: &Self) -> Ordering {
                self.cmp(other)
            }
        }
    )*};
}

whole!(i8, i16, i32, i64, u8, u16, u32, u64);

impl Ordered for Bool {
    fn order(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

fn partial<T: PartialOrd>(a: &T, b: &T, a_nan: bool, b_nan: bool) -> Ordering {
    a.partial_cmp(b).unwrap_or_else(|| a_nan.cmp(&b_nan))
}

macro_rules! float {
    ($($type:ty),*) => {$(
        impl Ordered for $type {
            fn order(&self, other: &Self) -> Ordering {
                partial(self, other, self.is_nan(), other.is_nan())
            }
            fn is_unordered(&self) -> bool {
                self.is_nan()
            }
        }
    )*};
}

float!(f16, bf16, f32, f64);

macro_rules! complex {
    ($($type:ty),*) => {$(
        impl Ordered for Complex<$type> {
            fn order(&self, other: &Self) -> Ordering {
                let nan = |value: &Self| (value.re.is_nan(), value.im.is_nan());
                match (nan(self), nan(other)) {
                    ((false, false), (false, false)) => {
                        self.re.order(&other.re).then(self.im.order(&other.im))
                    }
                    // Those with a NaN come after those without, a NaN real part last.
                    (a, b) => a
                        .cmp(&b)
                        .then_with(|| self.re.order(&other.re))
                        .then_with(|| self.im.order(&other.im)),
                }
            }
            fn is_unordered(&self) -> bool {
                self.re.is_nan() || self.im.is_nan()
            }
        }
    )*};
}

complex!(f32, f64);

impl Ordered for &[u8] {
    fn order(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }
}
