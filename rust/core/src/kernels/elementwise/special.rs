//! Functions of floats that are not arithmetic: inverse hyperbolic functions, sums of logarithms,
//! and the bits of a number.

use half::{bf16, f16};

use crate::kernels::elementwise::number::Float;

/// A float with the rarer functions of NumPy.
pub(crate) trait Special: Float {
    fn cbrt(self) -> Self;
    fn arcsinh(self) -> Self;
    fn arccosh(self) -> Self;
    fn arctanh(self) -> Self;
    /// The error function.
    fn erf(self) -> Self;
    fn deg2rad(self) -> Self;
    fn rad2deg(self) -> Self;
    fn logaddexp(self, other: Self) -> Self;
    fn logaddexp2(self, other: Self) -> Self;
    /// 0 below zero, 1 above, `other` at it.
    fn heaviside(self, other: Self) -> Self;
    /// The neighbour on the way to `other`.
    fn nextafter(self, other: Self) -> Self;
    /// The distance to the neighbour away from zero, with the sign. For float16, NumPy has its own
    /// rule: the distance to the next larger number.
    fn spacing(self) -> Self;
    fn signbit(self) -> bool;
    /// Fraction and whole part, both with the sign.
    fn modf(self) -> (Self, Self);
    /// A number in [0.5, 1) and the power of two to multiply it by.
    fn frexp(self) -> (Self, i32);
    fn ldexp(self, exponent: i64) -> Self;
    /// As a float64, in which the higher functions are computed.
    fn widened(self) -> f64;
    /// The nearest number of this type.
    fn narrowed(value: f64) -> Self;
}

fn arcsinh(x: f64) -> f64 {
    let size = x.abs();
    let result = if size > 1e150 {
        size.ln() + std::f64::consts::LN_2
    } else {
        let square = size * size;
        (size + square / (1.0 + (1.0 + square).sqrt())).ln_1p()
    };
    result.copysign(x)
}

fn arccosh(x: f64) -> f64 {
    if x > 1e150 {
        return x.ln() + std::f64::consts::LN_2;
    }
    if x < 1.0 {
        return f64::NAN;
    }
    let above = x - 1.0;
    (above + (above * (x + 1.0)).sqrt()).ln_1p()
}

fn arctanh(x: f64) -> f64 {
    let size = x.abs();
    (0.5 * (2.0 * size / (1.0 - size)).ln_1p()).copysign(x)
}

fn erf(x: f64) -> f64 {
    let size = x.abs();
    let square = size * size;
    if x.is_nan() || size >= 6.0 {
        return if x.is_nan() { x } else { 1.0_f64.copysign(x) };
    }
    let result = if size < 2.5 {
        // All terms of this series have one sign, so nothing cancels.
        let (mut term, mut sum, mut odd) = (size, size, 1.0);
        while term > sum * 1e-17 {
            odd += 2.0;
            term *= 2.0 * square / odd;
            sum += term;
        }
        std::f64::consts::FRAC_2_SQRT_PI * (-square).exp() * sum
    } else {
        // The continued fraction of what is missing to 1, from its far end.
        let fraction = (1..60).rev().fold(0.0, |rest, k| f64::from(k) * 0.5 / (size + rest));
        let half = 0.5 * std::f64::consts::FRAC_2_SQRT_PI;
        1.0 - half * (-square).exp() / (size + fraction)
    };
    result.copysign(x)
}

/// Fraction and exponent of a finite number other than zero.
fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    // Numbers below the normal ones are brought among them.
    let (scaled, moved) = if x.abs() < f64::MIN_POSITIVE { (x * TWO_54, 54) } else { (x, 0) };
    let bits = scaled.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1022;
    let fraction = f64::from_bits((bits & !(0x7ff << 52)) | (1022 << 52));
    (fraction, exponent - moved)
}

const TWO_54: f64 = 18_014_398_509_481_984.0;

/// `x * 2^exponent`, rounded once.
fn ldexp(x: f64, exponent: i64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let (fraction, own) = frexp(x);
    let exponent = exponent.clamp(-3000, 3000) as i32 + own;
    let power = |exponent: i32| f64::from_bits(((exponent + 1023) as u64) << 52);
    match exponent {
        ..-1022 if exponent < -1080 => 0.0_f64.copysign(x),
        // The last step alone leaves the normal numbers, so it alone rounds.
        ..-1021 => fraction * power(exponent + 1022) * power(-1022),
        1025.. => f64::INFINITY.copysign(x),
        _ => fraction * 2.0 * power(exponent - 1),
    }
}

/// `$get` and `$put` lead to the type that computes, `$to64` and `$from64` to float64; how the type's
/// `spacing` treats negative numbers and minus zero.
macro_rules! special {
    (
        $type:ty, $bits:ty, $wide:ident, $get:expr, $put:expr, $to64:expr, $from64:expr,
        $upwards:literal, $negative_zero:literal
    ) => {
        impl Special for $type {
            #[inline(always)]
            fn cbrt(self) -> Self {
                $put(<$wide>::cbrt($get(self)))
            }
            #[inline(always)]
            fn arcsinh(self) -> Self {
                $from64(arcsinh($to64(self)))
            }
            #[inline(always)]
            fn arccosh(self) -> Self {
                $from64(arccosh($to64(self)))
            }
            #[inline(always)]
            fn arctanh(self) -> Self {
                $from64(arctanh($to64(self)))
            }
            fn erf(self) -> Self {
                $from64(erf($to64(self)))
            }
            #[inline(always)]
            fn deg2rad(self) -> Self {
                $put($get(self) * (std::$wide::consts::PI / 180.0))
            }
            #[inline(always)]
            fn rad2deg(self) -> Self {
                $put($get(self) * (180.0 / std::$wide::consts::PI))
            }
            fn logaddexp(self, other: Self) -> Self {
                let (a, b) = ($get(self), $get(other));
                if a == b {
                    // Infinities of one sign too.
                    return $put(a + std::$wide::consts::LN_2);
                }
                let away = a - b;
                $put(if away > 0.0 {
                    a + (-away).exp().ln_1p()
                } else if away <= 0.0 {
                    b + away.exp().ln_1p()
                } else {
                    away
                })
            }
            fn logaddexp2(self, other: Self) -> Self {
                let (a, b) = ($get(self), $get(other));
                if a == b {
                    return $put(a + 1.0);
                }
                let away = a - b;
                let log2_1p = |x: $wide| std::$wide::consts::LOG2_E * x.ln_1p();
                $put(if away > 0.0 {
                    a + log2_1p((-away).exp2())
                } else if away <= 0.0 {
                    b + log2_1p(away.exp2())
                } else {
                    away
                })
            }
            #[inline(always)]
            fn heaviside(self, other: Self) -> Self {
                let x = $get(self);
                if x == 0.0 {
                    other
                } else if x < 0.0 {
                    $put(0.0)
                } else if x > 0.0 {
                    $put(1.0)
                } else {
                    self
                }
            }
            fn nextafter(self, other: Self) -> Self {
                let (a, b) = ($get(self), $get(other));
                if a.is_nan() || b.is_nan() {
                    return $put(a + b);
                }
                if a == b {
                    // Zeros of both signs are equal; NumPy's own float16 keeps the first.
                    return if $upwards { self } else { other };
                }
                if a == 0.0 {
                    return $put(<$wide>::copysign($get(<$type>::from_bits(1)), b));
                }
                // Away from zero the bits of the magnitude count up.
                let bits = self.to_bits();
                let away = (b > a) == (a > 0.0);
                <$type>::from_bits(if away { bits + 1 } else { bits - 1 })
            }
            fn spacing(self) -> Self {
                let x = $get(self);
                if !x.is_finite() {
                    return $put(<$wide>::NAN);
                }
                if x == 0.0 {
                    let least = $get(<$type>::from_bits(1));
                    return $put(if $negative_zero { least.copysign(x) } else { least });
                }
                if $upwards && x < 0.0 {
                    return $put($get(<$type>::from_bits(self.to_bits() - 1)) - x);
                }
                $put($get(<$type>::from_bits(self.to_bits() + 1)) - x)
            }
            #[inline(always)]
            fn signbit(self) -> bool {
                self.to_bits() >> (<$bits>::BITS - 1) != 0
            }
            #[inline(always)]
            fn modf(self) -> (Self, Self) {
                let x = $get(self);
                let whole = x.trunc();
                let rest = if x.is_infinite() { 0.0 } else { x - whole };
                ($put(<$wide>::copysign(rest, x)), $put(whole))
            }
            fn frexp(self) -> (Self, i32) {
                let (fraction, exponent) = frexp($to64(self));
                ($from64(fraction), exponent)
            }
            fn ldexp(self, exponent: i64) -> Self {
                $from64(ldexp($to64(self), exponent))
            }
            fn widened(self) -> f64 {
                $to64(self)
            }
            fn narrowed(value: f64) -> Self {
                $from64(value)
            }
        }
    };
}

#[inline(always)]
fn same<T>(value: T) -> T {
    value
}

fn wide(value: f32) -> f64 {
    f64::from(value)
}

fn narrow(value: f64) -> f32 {
    value as f32
}

special!(f32, u32, f32, same::<f32>, same::<f32>, wide, narrow, false, false);
special!(f64, u64, f64, same::<f64>, same::<f64>, same::<f64>, same::<f64>, false, false);
special!(f16, u16, f32, f16::to_f32, f16::from_f32, f16::to_f64, f16::from_f64, true, false);
special!(bf16, u16, f32, bf16::to_f32, bf16::from_f32, bf16::to_f64, bf16::from_f64, false, true);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_put_together_from_its_parts() {
        for x in [1.0, -0.75, 5e-324, 1.5e-310, f64::MAX, f64::MIN_POSITIVE, 3.0] {
            let (fraction, exponent) = Special::frexp(x);
            assert!((0.5..1.0).contains(&fraction.abs()), "{x}: {fraction}");
            assert_eq!(Special::ldexp(fraction, i64::from(exponent)), x);
        }
        assert_eq!(Special::ldexp(1.0_f64, 5000), f64::INFINITY);
        assert_eq!(Special::ldexp(-1.0_f64, i64::MIN).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Special::ldexp(1.0_f64, -1074), 5e-324);
        assert_eq!(Special::ldexp(0.75_f64, -1074), 5e-324);
    }

    #[test]
    fn functions_are_accurate_near_their_zeros() {
        assert!((arccosh(1.0 + 1e-12) - 1.414_275_e-6).abs() < 1e-9);
        assert_eq!(arcsinh(1e-20), 1e-20);
        assert_eq!(arctanh(-1e-20), -1e-20);
        assert_eq!(arctanh(-1.0), f64::NEG_INFINITY);
        assert!(arccosh(0.5).is_nan() && arccosh(-1e9).is_nan());
    }

    #[test]
    fn the_error_function_is_that_of_tables() {
        for (x, y) in [
            (1e-300, 1.128_379_167_095_512_6e-300),
            (0.5, 0.520_499_877_813_046_5),
            (-1.0, -0.842_700_792_949_714_9),
            (2.4, 0.999_311_486_103_354_9),
            (2.6, 0.999_763_965_583_470_6),
            (4.0, 0.999_999_984_582_742_1),
            (f64::INFINITY, 1.0),
        ] {
            assert!((erf(x) - y).abs() <= 4e-16 * y.abs(), "{x}: {}", erf(x));
        }
        assert!(erf(f64::NAN).is_nan());
    }

    #[test]
    fn neighbours_lie_next_to_each_other() {
        assert_eq!(Special::nextafter(0.0_f32, -1.0), -f32::from_bits(1));
        assert_eq!(Special::nextafter(f32::MAX, f32::INFINITY), f32::INFINITY);
        assert_eq!(Special::spacing(1.0_f64), f64::EPSILON);
        assert_eq!(Special::spacing(-1.0_f64), -f64::EPSILON);
    }
}
