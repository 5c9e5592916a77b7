//! Bessel functions of orders 0 and 1. Those named `e` are scaled by the exponential, so that they
//! do not overflow.

use std::f64::consts::PI;

use super::series;

/// From here on the asymptotic series of I has terms below any that counts.
const FAR: f64 = 30.0;

pub(super) fn j0(x: f64) -> f64 {
    libm::j0(x)
}

pub(super) fn j1(x: f64) -> f64 {
    libm::j1(x)
}

pub(super) fn y0(x: f64) -> f64 {
    if x < 0.0 { f64::NAN } else { libm::y0(x) }
}

pub(super) fn y1(x: f64) -> f64 {
    if x < 0.0 { f64::NAN } else { libm::y1(x) }
}

/// I of order 0 or 1 of a number from 0 on, whose terms all have one sign.
fn near(order: f64, x: f64) -> f64 {
    let quarter = 0.25 * x * x;
    let first = if order == 0.0 { 1.0 } else { 0.5 * x };
    series(first, |k, term| term * quarter / (k * (k + order)))
}

/// I of order 0 or 1 of a large number, without the exponential.
fn far(order: f64, x: f64) -> f64 {
    if x.is_infinite() {
        return 0.0;
    }
    let square = 4.0 * order * order;
    let sum = series(1.0, |k, term| {
        let odd = 2.0 * k - 1.0;
        let next = term * (odd * odd - square) / (8.0 * x * k);
        // Beyond its least term the series grows.
        if next.abs() > term.abs() { 0.0 } else { next }
    });
    sum / (2.0 * PI * x).sqrt()
}

fn scaled(order: f64, x: f64) -> f64 {
    let size = x.abs();
    let value = if size < FAR { near(order, size) * (-size).exp() } else { far(order, size) };
    if order == 0.0 || x.is_nan() { value } else { value.copysign(x) }
}

fn plain(order: f64, x: f64) -> f64 {
    let size = x.abs();
    if size.is_infinite() {
        return f64::NAN; // as TensorFlow and NumPy have it
    }
    let value = if size < FAR {
        near(order, size)
    } else {
        // The exponential alone may overflow where the function does not.
        let half = (0.5 * size).exp();
        far(order, size) * half * half
    };
    if order == 0.0 || x.is_nan() { value } else { value.copysign(x) }
}

pub(super) fn i0(x: f64) -> f64 {
    plain(0.0, x)
}

pub(super) fn i0e(x: f64) -> f64 {
    scaled(0.0, x)
}

pub(super) fn i1(x: f64) -> f64 {
    plain(1.0, x)
}

pub(super) fn i1e(x: f64) -> f64 {
    scaled(1.0, x)
}

/// `e^x K(x)` of order 0 or 1: the integral of `e^(x - x cosh t) cosh(order t)`, for which the rule
/// of trapezoids is as good as the step is small.
fn integral(order: f64, x: f64) -> f64 {
    const STEP: f64 = 0.125;
    // 2 sinh²(t/2) is cosh t - 1 without the cancellation.
    let value = |t: f64| {
        let half = (0.5 * t).sinh();
        let rest = if order == 0.0 { 1.0 } else { t.cosh() };
        (-2.0 * x * half * half).exp() * rest
    };
    let mut sum = 0.5;
    let mut number = 1.0;
    loop {
        let term = value(number * STEP);
        sum += term;
        if term <= sum * 1e-18 {
            return sum * STEP;
        }
        number += 1.0;
    }
}

fn k(order: f64, x: f64, scaled: bool) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::INFINITY;
    }
    if x.is_infinite() {
        return 0.0;
    }
    if order == 1.0 && x < 1e-8 {
        return 1.0 / x; // what comes after it does not count
    }
    // The integrand narrows as x grows; substituting t / sqrt(x) keeps as many points in it.
    let value = if x > 4.0 { narrowed(order, x) } else { integral(order, x) };
    if scaled { value } else { value * (-x).exp() }
}

/// As [`integral`] for large numbers, with `t = u / sqrt(x)`.
fn narrowed(order: f64, x: f64) -> f64 {
    const STEP: f64 = 0.25;
    let root = x.sqrt();
    let mut sum = 0.5;
    for number in 1..200 {
        let t = f64::from(number) * STEP / root;
        let half = (0.5 * t).sinh();
        let rest = if order == 0.0 { 1.0 } else { t.cosh() };
        let term = (-2.0 * x * half * half).exp() * rest;
        sum += term;
        if term <= sum * 1e-18 {
            break;
        }
    }
    sum * STEP / root
}

pub(super) fn k0(x: f64) -> f64 {
    k(0.0, x, false)
}

pub(super) fn k0e(x: f64) -> f64 {
    k(0.0, x, true)
}

pub(super) fn k1(x: f64) -> f64 {
    k(1.0, x, false)
}

pub(super) fn k1e(x: f64) -> f64 {
    k(1.0, x, true)
}
