//! The gamma function's logarithm, its derivatives, the parts of it, and the zeta function.

use std::f64::consts::PI;

/// The logarithm of the magnitude of Γ(x).
pub(super) fn lgamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// The derivative of [`lgamma`]; NaN at its poles, which are 0 and the negative integers.
pub(super) fn digamma(x: f64) -> f64 {
    if x <= 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        // Only the distance to the nearest pole counts, so that is what the tangent is taken of.
        let away = x - x.round();
        return digamma(1.0 - x) - PI / (PI * away).tan();
    }
    // Up to where the asymptotic series serves.
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    // B(2k) / 2k, with their signs.
    const TERMS: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
        -691.0 / 32760.0,
        1.0 / 12.0,
    ];
    let square = 1.0 / (x * x);
    let rest = square * super::polynomial(square, &TERMS);
    x.ln() - 0.5 / x - rest - below
}

/// Hurwitz' zeta function, the sum of `(q + k)^-x` for all k from 0 on.
pub(super) fn zeta(x: f64, q: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    if x.is_nan() || q.is_nan() || x < 1.0 {
        return f64::NAN;
    }
    if q <= 0.0 {
        if q == q.floor() {
            let even = x == x.floor() && x % 2.0 == 0.0;
            return if even { f64::INFINITY } else { f64::NAN };
        }
        if x != x.floor() {
            return f64::NAN; // a power of a negative number
        }
    }
    let (mut sum, mut base) = (q.powf(-x), q);
    let mut last = sum;
    for _ in 0..100_000 {
        if base > 9.0 {
            break;
        }
        base += 1.0;
        last = base.powf(-x);
        sum += last;
        if (last / sum).abs() < f64::EPSILON / 4.0 {
            return sum;
        }
    }
    // Euler and Maclaurin: what is left, as an integral and its corrections.
    // (2k)! / B(2k), for k from 1 on.
    const TERMS: [f64; 12] = [
        12.0,
        -720.0,
        30_240.0,
        -1_209_600.0,
        47_900_160.0,
        -1.892_437_580_318_379_2e9,
        7.472_424_96e10,
        -2.950_130_727_918_164e12,
        1.164_678_281_435_006_7e14,
        -4.597_978_722_407_473e15,
        1.815_210_540_194_354_7e17,
        -7.166_165_256_175_667e18,
    ];
    sum += last * base / (x - 1.0) - 0.5 * last;
    let (mut factor, mut power, mut k) = (1.0, last, 0.0);
    for term in TERMS {
        factor *= x + k;
        power /= base;
        let part = factor * power / term;
        sum += part;
        if (part / sum).abs() < f64::EPSILON / 4.0 {
            break;
        }
        factor *= x + k + 1.0;
        power /= base;
        k += 2.0;
    }
    sum
}

/// Derivative number `n` of [`digamma`]; NaN unless `n` is an integer from 0 on.
pub(super) fn polygamma(n: f64, x: f64) -> f64 {
    if n != n.floor() || n < 0.0 || n.is_infinite() {
        return f64::NAN;
    }
    if n == 0.0 {
        return digamma(x);
    }
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    sign * libm::tgamma(n + 1.0) * zeta(n + 1.0, x)
}

/// `x^a e^-x / Γ(a)`
fn front(a: f64, x: f64) -> f64 {
    if a < 20.0 {
        return (a * x.ln() - x - lgamma(a)).exp();
    }
    // Stirling's formula, in which what is large is taken away before the exponential: with
    // x = a (1 + u) the exponent is a (ln(1 + u) - u), and Γ's correction is small.
    let away = (x - a) / a;
    let bend = if away.abs() < 0.4 { log1p_less(away) } else { away.ln_1p() - away };
    const TERMS: [f64; 5] = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0];
    let correction = super::polynomial(1.0 / (a * a), &TERMS) / a;
    (a * bend - correction).exp() * (a / (2.0 * PI)).sqrt()
}

/// `ln(1 + u) - u` without the cancellation.
fn log1p_less(u: f64) -> f64 {
    // With s = u / (2 + u) the logarithm is 2 artanh(s), and u is 2s / (1 - s).
    let s = u / (2.0 + u);
    let square = s * s;
    let mut power = s * square;
    let mut sum = 0.0;
    let mut odd = 3.0;
    while power.abs() > 1e-19 * s.abs() * square && odd < 200.0 {
        sum += power / odd;
        power *= square;
        odd += 2.0;
    }
    2.0 * sum - s * u
}

/// The lower part of the gamma function, of 1.
pub(super) fn igamma(a: f64, x: f64) -> f64 {
    if x == 0.0 && a > 0.0 {
        return 0.0;
    }
    if !(a > 0.0 && x >= 0.0) {
        return f64::NAN;
    }
    if a.is_infinite() {
        return if x.is_infinite() { f64::NAN } else { 0.0 };
    }
    if x.is_infinite() {
        return 1.0;
    }
    if x > 1.0 && x > a { 1.0 - upper(a, x) } else { lower(a, x) }
}

/// The upper part of the gamma function, of 1.
pub(super) fn igammac(a: f64, x: f64) -> f64 {
    if !(a > 0.0 && x >= 0.0) {
        return f64::NAN;
    }
    if a.is_infinite() {
        return if x.is_infinite() { f64::NAN } else { 1.0 };
    }
    if x.is_infinite() {
        return 0.0;
    }
    if x < 1.0 || x < a { 1.0 - lower(a, x) } else { upper(a, x) }
}

fn lower(a: f64, x: f64) -> f64 {
    front(a, x) / a * super::series(1.0, |k, term| term * x / (a + k))
}

/// The continued fraction, from its far end: as many terms as count.
fn upper(a: f64, x: f64) -> f64 {
    let tiny = 1e-300;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / tiny, 1.0 / if b == 0.0 { tiny } else { b });
    let mut fraction = d;
    for k in 1..20_000 {
        let k = f64::from(k);
        let numerator = -k * (k - a);
        b += 2.0;
        let step = |value: f64| if value.abs() < tiny { tiny } else { value };
        d = 1.0 / step(numerator * d + b);
        c = step(b + numerator / c);
        let factor = d * c;
        fraction *= factor;
        if (factor - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    front(a, x) * fraction
}
