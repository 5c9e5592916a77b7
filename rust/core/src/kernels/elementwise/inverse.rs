//! Inverse trigonometric and hyperbolic functions of complex numbers, right to a few units in the
//! last place of each part.

use crate::kernels::elementwise::complex::{C, log, turned, turned_back};

/// Arc sine and arc cosine for a point of the first quadrant, by the real numbers behind both:
/// the sum and difference of its distances to the points 1 and -1 (Hull, Fairgrieve and Tang).
struct Arcs {
    /// arcsin of the real part of the result, and its complement.
    sine: f64,
    cosine: f64,
    /// The imaginary part of both, positive.
    imaginary: f64,
}

fn arcs(x: f64, y: f64) -> Arcs {
    if x > 1e100 || y > 1e100 {
        // So far out, the logarithm of the size and the direction are all there is.
        let imaginary = log(C { re: x, im: y }).re + std::f64::consts::LN_2;
        return Arcs { sine: x.atan2(y), cosine: y.atan2(x), imaginary };
    }
    let (far, near) = ((x + 1.0).hypot(y), (x - 1.0).hypot(y));
    let a = 0.5 * (far + near);
    let b = x / a;
    // a - 1 and its parts, without cancellation.
    let (over_far, over_near) = (y * y / (far + (x + 1.0)), near + (1.0 - x));
    let above = if x < 1.0 {
        0.5 * (over_far + if y == 0.0 { 0.0 } else { y * y / over_near })
    } else {
        0.5 * (over_far + (near + (x - 1.0)))
    };
    let imaginary = (above + (above * (a + 1.0)).sqrt()).ln_1p();
    if b <= 0.6 {
        return Arcs { sine: b.asin(), cosine: b.acos(), imaginary };
    }
    // sqrt(a² - x²), without cancellation.
    let sum = a + x;
    let rest = if x <= 1.0 {
        (0.5 * sum * (over_far + over_near)).sqrt()
    } else {
        y * (0.5 * (sum / (far + (x + 1.0)) + sum / (near + (x - 1.0)))).sqrt()
    };
    Arcs { sine: x.atan2(rest), cosine: rest.atan2(x), imaginary }
}

pub(super) fn arcsin(z: C) -> C {
    turned_back(arcsinh(turned(z)))
}

pub(super) fn arcsinh(z: C) -> C {
    if z.re.is_nan() || z.im.is_nan() || z.re.is_infinite() || z.im.is_infinite() {
        return arcsinh_beyond(z);
    }
    // arcsinh(z) = -i arcsin(i z)
    let Arcs { sine, imaginary, .. } = arcs(z.im.abs(), z.re.abs());
    C { re: imaginary.copysign(z.re), im: sine.copysign(z.im) }
}

fn arcsinh_beyond(z: C) -> C {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
    if z.re.is_infinite() {
        let im = match (z.im.is_nan(), z.im.is_infinite()) {
            (true, _) => z.im,
            (_, true) => FRAC_PI_4.copysign(z.im),
            _ => 0.0_f64.copysign(z.im),
        };
        return C { re: z.re, im };
    }
    if z.im.is_infinite() {
        let im = if z.re.is_nan() { f64::NAN } else { FRAC_PI_2.copysign(z.im) };
        return C { re: f64::INFINITY.copysign(z.re), im };
    }
    let im = if z.im == 0.0 { z.im } else { f64::NAN };
    C { re: f64::NAN, im }
}

pub(super) fn arccos(z: C) -> C {
    if !z.re.is_finite() || !z.im.is_finite() {
        let sine = arcsin(z);
        return C { re: std::f64::consts::FRAC_PI_2 - sine.re, im: -sine.im };
    }
    let Arcs { cosine, imaginary, .. } = arcs(z.re.abs(), z.im.abs());
    let re = if z.re.is_sign_negative() { std::f64::consts::PI - cosine } else { cosine };
    C { re, im: (-imaginary).copysign(if z.im.is_sign_negative() { 1.0 } else { -1.0 }) }
}

pub(super) fn arccosh(z: C) -> C {
    let angle = arccos(z);
    // i arccos(z) or -i arccos(z), whichever has a real part that is not negative.
    let sign = if z.im.is_sign_negative() { -1.0 } else { 1.0 };
    C { re: angle.im.abs(), im: angle.re * sign }
}

pub(super) fn arctan(z: C) -> C {
    turned_back(arctanh(turned(z)))
}

pub(super) fn arctanh(z: C) -> C {
    use std::f64::consts::FRAC_PI_2;
    if z.re.is_nan() || z.im.is_nan() || z.re.is_infinite() || z.im.is_infinite() {
        let re = if z.im.is_infinite() || z.re.is_infinite() || z.re == 0.0 {
            0.0_f64.copysign(z.re)
        } else {
            f64::NAN
        };
        let im = match (z.im.is_infinite(), z.re.is_infinite()) {
            (true, _) => FRAC_PI_2.copysign(z.im),
            (_, true) if !z.im.is_nan() => FRAC_PI_2.copysign(z.im),
            _ => f64::NAN,
        };
        return C { re, im };
    }
    let (x, y) = (z.re.abs(), z.im.abs());
    if x > 1e100 || y > 1e100 {
        let size = x.hypot(y);
        return C { re: (x / size / size).copysign(z.re), im: FRAC_PI_2.copysign(z.im) };
    }
    let near = (1.0 - x) * (1.0 - x) + y * y;
    let re = match near == 0.0 {
        true if x == 1.0 && y != 0.0 => 0.5 * (2.0_f64.ln() - y.ln()),
        _ => 0.25 * (4.0 * x / near).ln_1p(),
    };
    let across = (1.0 - x) * (1.0 + x) - y * y;
    C { re: re.copysign(z.re), im: (0.5 * (2.0 * y).atan2(across)).copysign(z.im) }
}
