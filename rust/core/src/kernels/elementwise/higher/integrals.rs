//! Integrals without a closed form: Dawson's, the exponential one, the dilogarithm.

use std::f64::consts::PI;

use super::series;

const EULER: f64 = 0.577_215_664_901_532_9;

/// Dawson's integral, `e^(-x²)` times the integral of `e^(t²)` from 0 to x.
pub(super) fn dawsn(x: f64) -> f64 {
    let size = x.abs();
    if size.is_nan() {
        return x;
    }
    let value = if size < 0.5 {
        let square = size * size;
        // All terms of e^(x²) times it have one sign.
        let sum = series(1.0, |k, term| term * square / k * (2.0 * k - 1.0) / (2.0 * k + 1.0));
        size * (-square).exp() * sum
    } else if size > 30.0 {
        let square = 2.0 * size * size;
        let sum = series(1.0, |k, term| term * (2.0 * k - 1.0) / square);
        if size.is_infinite() { 0.0 } else { 0.5 / size * sum }
    } else {
        rybicki(size)
    };
    value.copysign(x)
}

/// A sum over odd multiples of a step, exact but for `e^-(π / 2 step)²`.
fn rybicki(x: f64) -> f64 {
    const STEP: f64 = 0.2;
    // The terms around x are the large ones.
    let middle = 2.0 * (0.5 * x / STEP).round();
    let mut sum = 0.0;
    for pair in 0..40 {
        let away = f64::from(2 * pair + 1);
        for number in [middle + away, middle - away] {
            let rest = x - number * STEP;
            sum += (-rest * rest).exp() / number;
        }
    }
    sum / PI.sqrt()
}

/// The exponential integral Ei, the principal value of the integral of `e^t / t` up to x.
pub(super) fn expint(x: f64) -> f64 {
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x.is_infinite() {
        return x;
    }
    // Near its zero the sum cancels to the distance from it.
    if x < 40.0 {
        let mut power = 1.0;
        let sum = series(0.0, |k, _| {
            power *= x / k;
            power / k
        });
        return EULER + x.ln() + sum;
    }
    let sum = series(1.0, |k, term| {
        let next = term * k / x;
        if next > term { 0.0 } else { next }
    });
    let half = (0.5 * x).exp();
    half / x * sum * half
}

/// Spence's function, the dilogarithm of `1 - x`.
pub(super) fn spence(x: f64) -> f64 {
    const FULL: f64 = PI * PI / 6.0;
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return FULL;
    }
    if x == 1.0 {
        return 0.0;
    }
    if x.is_infinite() {
        return f64::NEG_INFINITY;
    }
    if x > 2.0 {
        let log = x.ln();
        return -0.5 * log * log - spence(1.0 / x);
    }
    if x < 0.5 {
        return FULL - x.ln() * (-x).ln_1p() - spence(1.0 - x);
    }
    // With u = -ln(x) the series has Bernoulli's numbers, and few terms.
    const TERMS: [f64; 10] = [
        1.0 / 36.0,
        -1.0 / 3_600.0,
        1.0 / 211_680.0,
        -1.0 / 10_886_400.0,
        1.0 / 526_901_760.0,
        -4.064_761_645_144_226e-11,
        8.921_691_020_456_453e-13,
        -1.993_929_586_072_107_6e-14,
        4.518_980_029_619_918e-16,
        -1.035_651_761_218_124_7e-17,
    ];
    let u = -x.ln();
    let square = u * u;
    u - 0.25 * square + u * square * super::polynomial(square, &TERMS)
}
