//! Functions beyond the elementary ones, of float64; other floats are widened for them, so that
//! theirs are rounded once.

mod bessel;
mod gamma;
mod integrals;
mod normal;

/// A function of one number.
pub(super) type Unary = fn(f64) -> f64;
/// A function of two numbers.
pub(super) type Binary = fn(f64, f64) -> f64;

const UNARY: &[(&str, Unary)] = &[
    ("lgamma", gamma::lgamma),
    ("digamma", gamma::digamma),
    ("erfc", normal::erfc),
    ("erfinv", normal::erfinv),
    ("erfcinv", normal::erfcinv),
    ("ndtri", normal::ndtri),
    ("i0", bessel::i0),
    ("bessel_i0", bessel::i0),
    ("bessel_i0e", bessel::i0e),
    ("bessel_i1", bessel::i1),
    ("bessel_i1e", bessel::i1e),
    ("bessel_k0", bessel::k0),
    ("bessel_k0e", bessel::k0e),
    ("bessel_k1", bessel::k1),
    ("bessel_k1e", bessel::k1e),
    ("bessel_j0", bessel::j0),
    ("bessel_j1", bessel::j1),
    ("bessel_y0", bessel::y0),
    ("bessel_y1", bessel::y1),
    ("dawsn", integrals::dawsn),
    ("expint", integrals::expint),
    ("spence", integrals::spence),
];

/// The function of a name.
pub(super) fn unary(name: &str) -> Option<(&'static str, Unary)> {
    UNARY.iter().find(|(known, _)| *known == name).copied()
}

/// The function of a name, which is one of four.
pub(super) fn binary(name: &str) -> Binary {
    match name {
        "igamma" => gamma::igamma,
        "igammac" => gamma::igammac,
        "zeta" => gamma::zeta,
        _ => gamma::polygamma,
    }
}

/// `c[0] + c[1] x + c[2] x² + …`
fn polynomial(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Sums terms until they no longer count; `next` gives each from its number and the one before.
fn series(first: f64, mut next: impl FnMut(f64, f64) -> f64) -> f64 {
    let (mut term, mut sum, mut number) = (first, first, 1.0);
    while number < 20_000.0 {
        term = next(number, term);
        sum += term;
        if term.abs() <= sum.abs() * (f64::EPSILON / 4.0) {
            break;
        }
        number += 1.0;
    }
    sum
}

#[cfg(test)]
mod tests;
