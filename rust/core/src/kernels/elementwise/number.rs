//! The arithmetic of each type, by NumPy's rules.

use half::{bf16, f16};

use crate::kernels::cast::Source;

/// A real number.
pub(crate) trait Number: Source + PartialOrd {
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    /// Towards minus infinity; integers: 0 for a divisor of 0.
    fn floor_divide(self, other: Self) -> Self;
    /// With the sign of the divisor; integers: 0 for a divisor of 0.
    fn remainder(self, other: Self) -> Self;
    /// With the sign of the dividend; integers: 0 for a divisor of 0.
    fn fmod(self, other: Self) -> Self;
    /// Integers wrap; their exponents must not be negative.
    fn power(self, other: Self) -> Self;
    fn negative(self) -> Self;
    fn absolute(self) -> Self;
    fn sign(self) -> Self;
    /// 0 or 1.
    fn from_bool(value: bool) -> Self;
    fn is_nan(self) -> bool {
        false
    }
    fn is_infinite(self) -> bool {
        false
    }
    fn maximum(self, other: Self) -> Self {
        if self >= other || self.is_nan() { self } else { other }
    }
    fn minimum(self, other: Self) -> Self {
        if self <= other || self.is_nan() { self } else { other }
    }
    fn fmax(self, other: Self) -> Self {
        if self >= other || other.is_nan() { self } else { other }
    }
    fn fmin(self, other: Self) -> Self {
        if self <= other || other.is_nan() { self } else { other }
    }
}

/// An integer.
pub(crate) trait Integer: Number {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn not(self) -> Self;
    /// 0 if all bits are shifted out; a negative count shifts all out.
    fn left_shift(self, count: Self) -> Self;
    /// As `left_shift`, but the sign stays.
    fn right_shift(self, count: Self) -> Self;
    /// The greatest common divisor of the magnitudes.
    fn gcd(self, other: Self) -> Self;
    /// The least common multiple of the magnitudes; wraps.
    fn lcm(self, other: Self) -> Self;
    fn bit_count(self) -> u8;
    fn zero() -> Self;
    fn one() -> Self;
    /// 1 / x towards zero; of 0, what x86-64 makes of infinity.
    fn int_reciprocal(self) -> Self;
}

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn from_bool(value: bool) -> Self {
                Self::from(value)
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn floor_divide(self, other: Self) -> Self {
                if other == 0 {
                    return 0;
                }
                let quotient = self.wrapping_div(other);
                let inexact = self.wrapping_rem(other) != 0;
                #[allow(unused_comparisons)]
                let opposite = (self < 0) != (other < 0);
                if inexact && opposite { quotient - 1 } else { quotient }
            }
            fn remainder(self, other: Self) -> Self {
                if other == 0 {
                    return 0;
                }
                let rest = self.wrapping_rem(other);
                #[allow(unused_comparisons)]
                let opposite = (self < 0) != (other < 0);
                if rest != 0 && opposite { rest + other } else { rest }
            }
            fn fmod(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }
            fn power(self, other: Self) -> Self {
                let (mut result, mut base, mut exponent): (Self, _, _) = (1, self, other);
                while exponent > 0 {
                    if exponent & 1 == 1 {
                        result = result.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    exponent >>= 1;
                }
                result
            }
            #[inline(always)]
            fn negative(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn absolute(self) -> Self {
                if self < 0 { self.wrapping_neg() } else { self }
            }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn sign(self) -> Self {
                if self < 0 { Self::wrapping_neg(1) } else { Self::from(self > 0) }
            }
        }

        impl Integer for $type {
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
            #[inline(always)]
            fn left_shift(self, count: Self) -> Self {
                if (count as usize) < Self::BITS as usize { self << count } else { 0 }
            }
            #[inline(always)]
            #[allow(unused_comparisons)]
            fn right_shift(self, count: Self) -> Self {
                if (count as usize) < Self::BITS as usize {
                    self >> count
                } else if self < 0 {
                    Self::wrapping_neg(1)
                } else {
                    0
                }
            }
            fn gcd(self, other: Self) -> Self {
                let (mut a, mut b) = (self, other);
                while b != 0 {
                    (a, b) = (b, a.wrapping_rem(b));
                }
                a.absolute()
            }
            fn lcm(self, other: Self) -> Self {
                let divisor = self.gcd(other);
                if divisor == 0 {
                    return 0;
                }
                self.absolute().wrapping_div(divisor).wrapping_mul(other.absolute())
            }
            fn int_reciprocal(self) -> Self {
                let of_zero = if Self::BITS >= 32 { Self::MIN } else { 0 };
                Self::checked_div(1, self).unwrap_or(of_zero)
            }
            fn zero() -> Self {
                0
            }
            fn one() -> Self {
                1
            }
            #[inline(always)]
            fn bit_count(self) -> u8 {
                self.absolute().count_ones() as u8
            }
        }
    )*};
}

integer!(i8, i16, i32, i64, u8, u16, u32, u64);

/// A real floating number.
pub(crate) trait Float: Number {
    fn true_divide(self, other: Self) -> Self;
    fn arctan2(self, other: Self) -> Self;
    fn hypot(self, other: Self) -> Self;
    fn copysign(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    fn exp(self) -> Self;
    fn log(self) -> Self;
    fn log2(self) -> Self;
    fn log10(self) -> Self;
    fn log1p(self) -> Self;
    fn expm1(self) -> Self;
    fn exp2(self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn arcsin(self) -> Self;
    fn arccos(self) -> Self;
    fn arctan(self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn rint(self) -> Self;
    fn reciprocal(self) -> Self;
}

/// NumPy's `divmod`: quotient and remainder that fit together as well as rounding allows.
macro_rules! divmod {
    ($name:ident, $type:ty) => {
        fn $name(a: $type, b: $type) -> ($type, $type) {
            let mut rest = a % b;
            if b == 0.0 {
                return (a / b, rest);
            }
            let mut quotient = (a - rest) / b;
            if rest != 0.0 {
                if (b < 0.0) != (rest < 0.0) {
                    rest += b;
                    quotient -= 1.0;
                }
            } else {
                rest = <$type>::copysign(0.0, b);
            }
            if quotient == 0.0 {
                return (<$type>::copysign(0.0, a / b), rest);
            }
            let floor = quotient.floor();
            (if quotient - floor > 0.5 { floor + 1.0 } else { floor }, rest)
        }
    };
}

divmod!(divmod_f32, f32);
divmod!(divmod_f64, f64);

/// `$get` and `$put` lead to the type that computes: the type itself, or float32 for the halves.
macro_rules! float {
    ($type:ty, $wide:ty, $get:expr, $put:expr, $divmod:ident) => {
        impl Number for $type {
            #[inline(always)]
            fn from_bool(value: bool) -> Self {
                $put(if value { 1.0 } else { 0.0 })
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                $put($get(self) + $get(other))
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                $put($get(self) - $get(other))
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                $put($get(self) * $get(other))
            }
            fn floor_divide(self, other: Self) -> Self {
                $put($divmod($get(self), $get(other)).0)
            }
            fn remainder(self, other: Self) -> Self {
                $put($divmod($get(self), $get(other)).1)
            }
            fn fmod(self, other: Self) -> Self {
                $put($get(self) % $get(other))
            }
            fn power(self, other: Self) -> Self {
                $put(<$wide>::powf($get(self), $get(other)))
            }
            #[inline(always)]
            fn negative(self) -> Self {
                -self
            }
            #[inline(always)]
            fn absolute(self) -> Self {
                $put(<$wide>::abs($get(self)))
            }
            #[inline(always)]
            fn sign(self) -> Self {
                let value = $get(self);
                if value > 0.0 {
                    $put(1.0)
                } else if value < 0.0 {
                    $put(-1.0)
                } else if value == 0.0 {
                    $put(0.0)
                } else {
                    self
                }
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                <$type>::is_nan(self)
            }
            #[inline(always)]
            fn is_infinite(self) -> bool {
                <$type>::is_infinite(self)
            }
        }

        impl Float for $type {
            #[inline(always)]
            fn true_divide(self, other: Self) -> Self {
                $put($get(self) / $get(other))
            }
            fn arctan2(self, other: Self) -> Self {
                $put(<$wide>::atan2($get(self), $get(other)))
            }
            fn hypot(self, other: Self) -> Self {
                $put(<$wide>::hypot($get(self), $get(other)))
            }
            #[inline(always)]
            fn copysign(self, other: Self) -> Self {
                $put(<$wide>::copysign($get(self), $get(other)))
            }
            #[inline(always)]
            fn reciprocal(self) -> Self {
                $put(1.0 / $get(self))
            }
            float!(@unary $wide, $get, $put,
                sqrt sqrt, exp exp, log ln, log2 log2, log10 log10, log1p ln_1p, expm1 exp_m1,
                exp2 exp2, sin sin, cos cos, tan tan, arcsin asin, arccos acos, arctan atan,
                sinh sinh, cosh cosh, tanh tanh, floor floor, ceil ceil, trunc trunc,
                rint round_ties_even);
        }
    };
    (@unary $wide:ty, $get:expr, $put:expr, $($name:ident $rust:ident),*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            $put(<$wide>::$rust($get(self)))
        }
    )*};
}

/// The value itself, where no other type computes.
#[inline(always)]
fn same<T>(value: T) -> T {
    value
}

float!(f32, f32, same::<f32>, same::<f32>, divmod_f32);
float!(f64, f64, same::<f64>, same::<f64>, divmod_f64);
float!(f16, f32, f16::to_f32, f16::from_f32, divmod_f32);
float!(bf16, f32, bf16::to_f32, bf16::from_f32, divmod_f32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_divide_by_zero_to_zero() {
        assert_eq!(Number::add(i8::MAX, 1), i8::MIN);
        assert_eq!(i64::MIN.floor_divide(-1), i64::MIN);
        assert_eq!(7_i32.floor_divide(0), 0);
        assert_eq!((-7_i32).floor_divide(2), -4);
        assert_eq!((-7_i32).remainder(2), 1);
        assert_eq!(3_i8.power(5), -13);
        assert_eq!((-8_i8).right_shift(100), -1);
        assert_eq!(1_u8.left_shift(8), 0);
    }

    #[test]
    fn float_division_keeps_signs() {
        assert_eq!((-7.0_f64).remainder(2.0), 1.0);
        assert!((-0.0_f64).floor_divide(3.0).is_sign_negative());
        assert!(1.0_f32.floor_divide(0.0).is_infinite());
        assert!(1.0_f32.remainder(0.0).is_nan());
    }
}
