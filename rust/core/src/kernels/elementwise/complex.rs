//! Functions of complex numbers.
//!
//! Where NumPy has a formula of its own (`log1p`, `expm1`, `power`), it is used in the type of the
//! parts, rounding errors included. Where it asks the C library, which is right to a few units in
//! the last place of each part, float64 computes for both types.

use num_complex::Complex;

use crate::kernels::cast::Source;
use crate::kernels::elementwise::binary::{divide_complex, multiply_complex};
use crate::kernels::elementwise::inverse::{arccos, arccosh, arcsin, arcsinh, arctan, arctanh};
use crate::kernels::elementwise::special::Special;

pub(super) type C = Complex<f64>;

/// The type of the parts of a complex number.
pub(crate) trait Part: Special {
    const LN_2: Self;
    const LOG2_E: Self;
    const LOG10_E: Self;
    const ZERO: Self;
    const ONE: Self;
    const TWO: Self;
    fn narrow(value: f64) -> Self;
}

macro_rules! part {
    ($($type:ident),*) => {$(
        impl Part for $type {
            const LN_2: Self = std::$type::consts::LN_2;
            const LOG2_E: Self = std::$type::consts::LOG2_E;
            const LOG10_E: Self = std::$type::consts::LOG10_E;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const TWO: Self = 2.0;
            fn narrow(value: f64) -> Self {
                value as Self
            }
        }
    )*};
}

part!(f32, f64);

/// Compares real parts, then imaginary ones, as NumPy does; a NaN is in no order.
pub(crate) fn less<P: Part>(a: Complex<P>, b: Complex<P>, or_equal: bool) -> bool {
    let last = if or_equal { a.im <= b.im } else { a.im < b.im };
    (a.re < b.re && !a.im.is_nan() && !b.im.is_nan()) || (a.re == b.re && last)
}

/// The larger or smaller one; `kept` if `b` comes out of no comparison (NaN).
pub(crate) fn extreme<P: Part>(
    a: Complex<P>,
    b: Complex<P>,
    judge: Complex<P>,
    largest: bool,
) -> Complex<P> {
    let first = if largest { less(b, a, true) } else { less(a, b, true) };
    // `judge` is the operand whose NaN gives the first one.
    if first || judge.re.is_nan() || judge.im.is_nan() { a } else { b }
}

/// NumPy's power: small whole exponents multiply.
pub(super) fn power<P: Part>(a: Complex<P>, b: Complex<P>) -> Complex<P>
where
    Complex<P>: Source,
{
    let whole = |x: P, y: P| Complex { re: x, im: y };
    if !b.re.truth() && !b.im.truth() {
        return whole(P::ONE, P::ZERO);
    }
    let exponent = b.re.to_f64();
    if !a.re.truth() && !a.im.truth() {
        if exponent > 0.0 {
            return whole(P::ZERO, P::ZERO);
        }
        return whole(P::narrow(f64::NAN), P::narrow(f64::NAN));
    }
    if !b.im.truth() && exponent.fract() == 0.0 && exponent.abs() < 100.0 {
        let result = whole_power(a, exponent.abs() as u32);
        return if exponent < 0.0 {
            divide_complex(whole(P::ONE, P::ZERO), result)
        } else {
            result
        };
    }
    let log = log(wide(a));
    let scaled = multiply_complex(wide(b), log);
    narrow(exp(scaled))
}

fn whole_power<P: Part>(a: Complex<P>, exponent: u32) -> Complex<P> {
    match exponent {
        1 => return a,
        2 => return multiply_complex(a, a),
        3 => return multiply_complex(a, multiply_complex(a, a)),
        _ => {}
    }
    let (mut mask, mut result, mut square) = (1, Complex { re: P::ONE, im: P::ZERO }, a);
    loop {
        if exponent & mask != 0 {
            result = multiply_complex(result, square);
        }
        mask <<= 1;
        if exponent < mask {
            return result;
        }
        square = multiply_complex(square, square);
    }
}

fn wide<P: Part>(z: Complex<P>) -> C {
    C { re: z.re.to_f64(), im: z.im.to_f64() }
}

fn narrow<P: Part>(z: C) -> Complex<P> {
    Complex { re: P::narrow(z.re), im: P::narrow(z.im) }
}

/// The function of this name.
pub(super) fn function<P: Part>(name: &str) -> Option<fn(Complex<P>) -> Complex<P>> {
    macro_rules! by_library {
        ($($function:ident),*) => {
            match name {
                $(stringify!($function) => return Some(|z| narrow($function(wide(z)))),)*
                _ => {}
            }
        };
    }
    by_library!(
        sqrt, exp, log, sin, cos, tan, sinh, cosh, tanh, arcsin, arccos, arctan, arcsinh, arccosh,
        arctanh
    );
    match name {
        "reciprocal" => Some(reciprocal),
        "rint" => Some(|z| Complex { re: z.re.rint(), im: z.im.rint() }),
        "sign" => Some(sign),
        "exp2" => Some(|z| {
            let scaled = Complex { re: z.re.multiply(P::LN_2), im: z.im.multiply(P::LN_2) };
            narrow(exp(wide(scaled)))
        }),
        "log2" => Some(|z| scaled_log(z, P::LOG2_E)),
        "log10" => Some(|z| scaled_log(z, P::LOG10_E)),
        "log1p" => Some(|z| {
            let re = z.re.add(P::ONE);
            Complex { re: re.hypot(z.im).log(), im: z.im.arctan2(re) }
        }),
        "expm1" => Some(|z| {
            let half = z.im.true_divide(P::TWO).sin();
            let drop = P::TWO.multiply(half).multiply(half);
            Complex {
                re: z.re.expm1().multiply(z.im.cos()).subtract(drop),
                im: z.re.exp().multiply(z.im.sin()),
            }
        }),
        _ => None,
    }
}

fn scaled_log<P: Part>(z: Complex<P>, by: P) -> Complex<P> {
    let natural: Complex<P> = narrow(log(wide(z)));
    Complex { re: natural.re.multiply(by), im: natural.im.multiply(by) }
}

fn reciprocal<P: Part>(z: Complex<P>) -> Complex<P> {
    if z.im.absolute() <= z.re.absolute() {
        let ratio = z.im.true_divide(z.re);
        let size = z.re.add(z.im.multiply(ratio));
        Complex { re: P::ONE.true_divide(size), im: ratio.negative().true_divide(size) }
    } else {
        let ratio = z.re.true_divide(z.im);
        let size = z.re.multiply(ratio).add(z.im);
        Complex { re: ratio.true_divide(size), im: P::ONE.negative().true_divide(size) }
    }
}

/// The number on the unit circle in this direction; 0 for 0.
fn sign<P: Part>(z: Complex<P>) -> Complex<P> {
    let size = z.re.hypot(z.im);
    if size.is_nan() {
        let nan = P::narrow(f64::NAN);
        return Complex { re: nan, im: nan };
    }
    if size.is_infinite() {
        let one = |part: P| match part.is_infinite() {
            true => P::ONE.copysign(part),
            false => P::ZERO.copysign(part),
        };
        return match (z.re.is_infinite(), z.im.is_infinite()) {
            (true, true) => Complex { re: P::narrow(f64::NAN), im: P::narrow(f64::NAN) },
            (true, false) => Complex { re: one(z.re), im: P::ZERO },
            _ => Complex { re: P::ZERO, im: one(z.im) },
        };
    }
    if !size.truth() {
        return Complex { re: P::ZERO, im: P::ZERO };
    }
    Complex { re: z.re.true_divide(size), im: z.im.true_divide(size) }
}

pub(super) fn turned(z: C) -> C {
    C { re: -z.im, im: z.re }
}

pub(super) fn turned_back(z: C) -> C {
    C { re: z.im, im: -z.re }
}

fn sqrt(z: C) -> C {
    if z.re == 0.0 && z.im == 0.0 {
        return C { re: 0.0, im: z.im };
    }
    if z.im.is_infinite() {
        return C { re: f64::INFINITY, im: z.im };
    }
    if z.re.is_nan() {
        return C { re: f64::NAN, im: f64::NAN };
    }
    if z.re.is_infinite() {
        let rest = if z.im.is_nan() { z.im } else { 0.0 };
        return match z.re > 0.0 {
            true => C { re: z.re, im: rest.copysign(z.im) },
            false => C { re: rest.abs(), im: z.re.copysign(z.im) },
        };
    }
    // Halves and quarters keep the sum of the magnitudes in range.
    let (scale, back) = if z.re.abs().max(z.im.abs()) > 1e300 { (0.25, 2.0) } else { (1.0, 1.0) };
    let (scale, back) = match z.re.abs().max(z.im.abs()) {
        size if size < 1e-290 => (2.0_f64.powi(108), 2.0_f64.powi(-54)),
        _ => (scale, back),
    };
    let (re, im) = (z.re * scale, z.im * scale);
    let root = ((re.abs() + re.hypot(im)) * 0.5).sqrt();
    let other = im.abs() / (2.0 * root);
    match re >= 0.0 {
        true => C { re: root * back, im: (other * back).copysign(z.im) },
        false => C { re: other * back, im: (root * back).copysign(z.im) },
    }
}

fn exp(z: C) -> C {
    if z.im == 0.0 {
        return C { re: z.re.exp(), im: z.im };
    }
    if z.re == f64::NEG_INFINITY && !z.im.is_finite() {
        return C { re: 0.0, im: 0.0_f64.copysign(z.im) };
    }
    if z.re == f64::INFINITY && !z.im.is_finite() {
        return C { re: f64::INFINITY, im: f64::NAN };
    }
    let (sin, cos) = z.im.sin_cos();
    if z.re > 709.0 && z.re.is_finite() {
        // e^re alone would overflow where its product with sine or cosine does not.
        let (size, rest) = (709.0_f64.exp(), (z.re - 709.0).exp());
        return C { re: size * cos * rest, im: size * sin * rest };
    }
    let size = z.re.exp();
    C { re: size * cos, im: size * sin }
}

pub(super) fn log(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    let (large, small) = if x > y { (x, y) } else { (y, x) };
    let size = x.hypot(y);
    let re = if size > 0.5 && size < 2.0 {
        // Near the unit circle the logarithm of the rounded size has lost its digits.
        0.5 * unit_excess(large, small).ln_1p()
    } else if size.is_finite() && size < 1e-300 && size > 0.0 {
        (x * 2.0_f64.powi(200)).hypot(y * 2.0_f64.powi(200)).ln() - 200.0 * std::f64::consts::LN_2
    } else if size.is_infinite() && x.is_finite() && y.is_finite() {
        (x * 0.5).hypot(y * 0.5).ln() + std::f64::consts::LN_2
    } else {
        size.ln()
    };
    C { re, im: z.im.atan2(z.re) }
}

/// `large² + small² - 1` without the cancellation.
fn unit_excess(large: f64, small: f64) -> f64 {
    // Both squares as sums of two floats that are exact.
    let square = |x: f64| {
        let high = x * x;
        (high, x.mul_add(x, -high))
    };
    let ((a, a_low), (b, b_low)) = (square(large), square(small));
    let first = a - 1.0;
    let sum = first + b;
    // What the sum lost.
    let part = sum - first;
    let lost = (first - (sum - part)) + (b - part);
    sum + (lost + a_low + b_low)
}

fn sinh(z: C) -> C {
    if z.im == 0.0 {
        return C { re: z.re.sinh(), im: z.im };
    }
    if z.re == 0.0 && !z.im.is_finite() {
        return C { re: z.re, im: f64::NAN };
    }
    if z.re.is_infinite() && !z.im.is_finite() {
        return C { re: z.re, im: f64::NAN };
    }
    let (sin, cos) = z.im.sin_cos();
    if z.re.abs() > 709.0 && z.re.is_finite() {
        let half = exp(C { re: z.re.abs() - std::f64::consts::LN_2, im: z.im });
        return C { re: half.re.abs().copysign(cos * z.re), im: half.im };
    }
    C { re: z.re.sinh() * cos, im: z.re.cosh() * sin }
}

fn cosh(z: C) -> C {
    if z.im == 0.0 {
        return C { re: z.re.cosh(), im: z.im * 0.0_f64.copysign(z.re) };
    }
    if z.re == 0.0 && !z.im.is_finite() {
        return C { re: f64::NAN, im: z.re };
    }
    if z.re.is_infinite() && !z.im.is_finite() {
        return C { re: f64::INFINITY, im: f64::NAN };
    }
    let (sin, cos) = z.im.sin_cos();
    if z.re.abs() > 709.0 && z.re.is_finite() {
        let half = exp(C { re: z.re.abs() - std::f64::consts::LN_2, im: z.im });
        return C { re: half.re, im: half.im.abs().copysign(sin * z.re) };
    }
    C { re: z.re.cosh() * cos, im: z.re.sinh() * sin }
}

fn tanh(z: C) -> C {
    if z.re.is_infinite() {
        let sign = if z.im.is_finite() && z.im.abs() > 1.0 {
            let (sin, cos) = z.im.sin_cos();
            sin * cos
        } else {
            z.im
        };
        return C { re: 1.0_f64.copysign(z.re), im: 0.0_f64.copysign(sign) };
    }
    if !z.im.is_finite() {
        return C { re: if z.re == 0.0 { z.re } else { f64::NAN }, im: f64::NAN };
    }
    if z.im == 0.0 {
        return C { re: z.re.tanh(), im: z.im };
    }
    let (sin, cos) = z.im.sin_cos();
    if z.re.abs() > 350.0 {
        let decay = (-2.0 * z.re.abs()).exp();
        return C { re: 1.0_f64.copysign(z.re), im: 4.0 * sin * cos * decay };
    }
    let sinh = z.re.sinh();
    let size = sinh * sinh + cos * cos;
    C { re: sinh * z.re.cosh() / size, im: sin * cos / size }
}

fn sin(z: C) -> C {
    turned_back(sinh(turned(z)))
}

fn cos(z: C) -> C {
    cosh(turned(z))
}

fn tan(z: C) -> C {
    turned_back(tanh(turned(z)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: C, b: C) {
        assert!((a.re - b.re).abs() <= 4e-15 * b.re.abs(), "{a} {b}");
        assert!((a.im - b.im).abs() <= 4e-15 * b.im.abs(), "{a} {b}");
    }

    #[test]
    fn inverse_functions_undo_each_other() {
        for z in [C::new(0.3, 0.4), C::new(2.0, -1.5), C::new(1e-8, 3e-9), C::new(0.7, 1e-7)] {
            near(sin(arcsin(z)), z);
            near(tan(arctan(z)), z);
            near(sinh(arcsinh(z)), z);
            near(exp(log(z)), z);
            let root = sqrt(z);
            near(multiply_complex(root, root), z);
        }
    }

    #[test]
    fn the_logarithm_keeps_its_digits_at_the_unit_circle() {
        let z = C::new(0.6, 0.8 + 1e-12);
        assert!((log(z).re - 8e-13).abs() < 1e-16);
    }
}
