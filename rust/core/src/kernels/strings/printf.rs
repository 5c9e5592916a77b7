//! Numbers as C's `printf` writes them: `%f`, `%e`, `%g` and `%d` with flags, width and precision.

use crate::kernels::strings::length::begins;

/// How a float is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// `%f`
    Fixed,
    /// `%e`
    Scientific,
    /// `%g`
    Shortest,
}

/// Flag, width and precision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub(super) flag: Option<u8>,
    pub(super) width: Option<usize>,
    pub(super) precision: Option<usize>,
    pub(super) notation: Notation,
}

/// `%e` of a number that is finite and not negative.
fn scientific(value: f64, precision: usize, keep_point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let point = if keep_point && precision == 0 { "." } else { "" };
    format!("{digits}{point}e{sign}{:02}", exponent.unsigned_abs())
}

fn fixed(value: f64, precision: usize, keep_point: bool) -> String {
    let point = if keep_point && precision == 0 { "." } else { "" };
    format!("{value:.precision$}{point}")
}

/// `%g`: the exponent after rounding decides the form, and zeros at the end go.
fn shortest(value: f64, precision: usize, keep_zeros: bool) -> String {
    let precision = precision.max(1);
    let rounded = format!("{value:.*e}", precision - 1);
    let exponent = rounded.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0_i64);
    if exponent < -4 || exponent >= precision as i64 {
        let text = scientific(value, precision - 1, keep_zeros);
        return match text.split_once('e') {
            Some((digits, rest)) if !keep_zeros => format!("{}e{rest}", without_zeros(digits)),
            _ => text,
        };
    }
    let places = (precision as i64 - 1 - exponent).max(0) as usize;
    let text = fixed(value, places, keep_zeros);
    if keep_zeros { text } else { without_zeros(&text).to_owned() }
}

fn without_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

/// A float in `%g` of this precision, without flags.
pub(super) fn general(value: f64, precision: usize) -> String {
    let format = Format { flag: None, width: None, precision: None, notation: Notation::Shortest };
    let mut out = Vec::new();
    Format { precision: Some(precision), ..format }.float(value, &mut out);
    String::from_utf8(out).unwrap_or_default()
}

impl Format {
    /// Appends a float.
    pub(super) fn float(&self, value: f64, out: &mut Vec<u8>) {
        let keep = self.flag == Some(b'#');
        let precision = self.precision.unwrap_or(6);
        let size = value.abs();
        let body = if value.is_nan() {
            "nan".to_owned()
        } else if value.is_infinite() {
            "inf".to_owned()
        } else {
            match self.notation {
                Notation::Fixed => fixed(size, precision, keep),
                Notation::Scientific => scientific(size, precision, keep),
                Notation::Shortest => shortest(size, precision, keep),
            }
        };
        let negative = value.is_sign_negative() && !value.is_nan();
        self.number(negative, &body, value.is_finite(), true, out);
    }

    /// Appends an integer; unsigned ones never get a sign.
    pub(super) fn integer(&self, value: i128, signed: bool, out: &mut Vec<u8>) {
        self.number(value < 0, &value.unsigned_abs().to_string(), true, signed, out);
    }

    fn number(&self, negative: bool, body: &str, zeros: bool, signed: bool, out: &mut Vec<u8>) {
        let sign: &[u8] = match self.flag {
            _ if negative => b"-",
            Some(b'+') if signed => b"+",
            Some(b' ') if signed => b" ",
            _ => b"",
        };
        let missing = self.width.unwrap_or(0).saturating_sub(sign.len() + body.len());
        let pad = |out: &mut Vec<u8>, byte| out.resize(out.len() + missing, byte);
        match self.flag {
            Some(b'-') => {
                out.extend_from_slice(sign);
                out.extend_from_slice(body.as_bytes());
                pad(out, b' ');
            }
            Some(b'0') if zeros => {
                out.extend_from_slice(sign);
                pad(out, b'0');
                out.extend_from_slice(body.as_bytes());
            }
            _ => {
                pad(out, b' ');
                out.extend_from_slice(sign);
                out.extend_from_slice(body.as_bytes());
            }
        }
    }

    /// Appends a text. With a width, the precision is the most bytes of it, whole characters if it
    /// is UTF-8.
    pub(super) fn text(&self, value: &[u8], utf8: bool, out: &mut Vec<u8>) {
        let Some(width) = self.width else {
            out.extend_from_slice(value);
            return;
        };
        let mut most = self.precision.unwrap_or(value.len()).min(value.len());
        while utf8 && value.get(most).is_some_and(|byte| !begins(*byte)) {
            most -= 1;
        }
        let value = &value[..most];
        let missing = width.saturating_sub(value.len());
        if self.flag == Some(b'-') {
            out.extend_from_slice(value);
            out.resize(out.len() + missing, b' ');
        } else {
            out.resize(out.len() + missing, b' ');
            out.extend_from_slice(value);
        }
    }
}
