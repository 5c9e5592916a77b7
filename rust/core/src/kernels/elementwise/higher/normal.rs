//! What belongs to the normal distribution: the error function's complement, and inverses.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use super::polynomial;

/// What the error function lacks to 1.
pub(super) fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

// Wichura's algorithm AS 241, in three parts.
const CENTRE: ([f64; 8], [f64; 8]) = (
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946_e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_6e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_66e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
);
const SLOPE: ([f64; 8], [f64; 8]) = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);
const TAIL: ([f64; 8], [f64; 8]) = (
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_879e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_7e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

/// The quantile `q` above the middle, where `tail` is the probability beyond it, on the other side
/// of the middle if `q` is negative.
fn quantile(q: f64, tail: f64) -> f64 {
    if q.abs() <= 0.425 {
        let rest = 0.180_625 - q * q;
        return q * polynomial(rest, &CENTRE.0) / polynomial(rest, &CENTRE.1);
    }
    let root = (-tail.ln()).sqrt();
    let size = if root <= 5.0 {
        polynomial(root - 1.6, &SLOPE.0) / polynomial(root - 1.6, &SLOPE.1)
    } else {
        polynomial(root - 5.0, &TAIL.0) / polynomial(root - 5.0, &TAIL.1)
    };
    size.copysign(q)
}

/// The quantile of a probability.
pub(super) fn ndtri(p: f64) -> f64 {
    match p {
        _ if p == 0.0 => f64::NEG_INFINITY,
        _ if p == 1.0 => f64::INFINITY,
        _ if p > 0.0 && p < 1.0 => quantile(p - 0.5, if p < 0.5 { p } else { 1.0 - p }),
        _ => f64::NAN,
    }
}

/// The number of which `x` is the error function.
pub(super) fn erfinv(x: f64) -> f64 {
    match x {
        _ if x.abs() == 1.0 => f64::INFINITY.copysign(x),
        _ if x.abs() < 1.0 => quantile(0.5 * x, 0.5 * (1.0 - x.abs())) * FRAC_1_SQRT_2,
        _ => f64::NAN,
    }
}

/// The number of which `x` is the complement of the error function.
pub(super) fn erfcinv(x: f64) -> f64 {
    // Half of a number below the normal ones is not exact, its double root is.
    if x > 0.0 && x < 1e-300 {
        let root = (-(x.ln() - std::f64::consts::LN_2)).sqrt();
        let size = polynomial(root - 5.0, &TAIL.0) / polynomial(root - 5.0, &TAIL.1);
        return size / SQRT_2;
    }
    -ndtri(0.5 * x) * FRAC_1_SQRT_2
}
