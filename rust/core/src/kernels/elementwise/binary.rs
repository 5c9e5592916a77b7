//! Operations on two numbers of one type that give a number of that type.

use num_complex::Complex;

use crate::data::{Column, DType, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{Source, dense, inputs};
use crate::kernels::dispatch::with_type;
use crate::kernels::elementwise::complex::{Part, extreme, power};
use crate::kernels::elementwise::higher;
use crate::kernels::elementwise::loops::{broadcast_partial, zip, zip_wide};
use crate::kernels::elementwise::number::{Float, Integer, Number};
use crate::kernels::elementwise::special::Special;

/// The types that an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Types {
    /// Integers and floats; complex numbers too for basic operations.
    Arithmetic,
    Real,
    /// All but text.
    Any,
    Float,
    Division,
    Integer,
    IntegerOrBool,
}

impl Types {
    fn accepts(self, dtype: DType) -> bool {
        let real = dtype.is_integer() || dtype.is_float();
        let complex = matches!(dtype, DType::Complex64 | DType::Complex128);
        match self {
            Types::Arithmetic => real || complex,
            Types::Real => real,
            Types::Any => !dtype.is_text(),
            Types::Float => dtype.is_float(),
            Types::Division => dtype.is_float() || complex,
            Types::Integer => dtype.is_integer(),
            Types::IntegerOrBool => dtype.is_integer() || dtype == DType::Bool,
        }
    }
}

const OPS: &[(&str, Types)] = &[
    ("add", Types::Arithmetic),
    ("subtract", Types::Arithmetic),
    ("multiply", Types::Arithmetic),
    ("true_divide", Types::Division),
    ("floor_divide", Types::Real),
    ("remainder", Types::Real),
    ("fmod", Types::Real),
    ("power", Types::Arithmetic),
    ("maximum", Types::Any),
    ("minimum", Types::Any),
    ("fmax", Types::Any),
    ("fmin", Types::Any),
    ("arctan2", Types::Float),
    ("hypot", Types::Float),
    ("copysign", Types::Float),
    ("logaddexp", Types::Float),
    ("logaddexp2", Types::Float),
    ("heaviside", Types::Float),
    ("nextafter", Types::Float),
    ("igamma", Types::Float),
    ("igammac", Types::Float),
    ("zeta", Types::Float),
    ("polygamma", Types::Float),
    ("gcd", Types::Integer),
    ("lcm", Types::Integer),
    ("bitwise_and", Types::IntegerOrBool),
    ("bitwise_or", Types::IntegerOrBool),
    ("bitwise_xor", Types::IntegerOrBool),
    ("left_shift", Types::Integer),
    ("right_shift", Types::Integer),
];

#[derive(Debug)]
pub(super) struct Binary {
    op: &'static str,
    types: Types,
}

impl Binary {
    pub(super) fn named(name: &str) -> Option<Self> {
        let (op, types) = OPS.iter().find(|(op, _)| *op == name)?;
        Some(Binary { op, types: *types })
    }

    fn compute(&self, args: &[Arg; 2], rows: usize, dtype: DType) -> Result<Tensor> {
        let unknown = || Error::internal(format!("{} does not take {dtype}", self.op));
        // Booleans are 0 and 1, on which all operations that take them keep to 0 and 1.
        let stored = if dtype == DType::Bool { DType::UInt8 } else { dtype };
        match self.op {
            "bitwise_and" | "bitwise_or" | "bitwise_xor" | "left_shift" | "right_shift" | "gcd"
            | "lcm" => {
                with_type!(stored, T: [int] => {
                    bitwise::<T>(self.op, args, rows, dtype)
                }, else Err(unknown()))
            }
            "true_divide" | "arctan2" | "hypot" | "copysign" | "logaddexp" | "logaddexp2"
            | "heaviside" | "nextafter" | "igamma" | "igammac" | "zeta" | "polygamma"
                if dtype.is_float() =>
            {
                with_type!(dtype, T: [float] => {
                    float::<T>(self.op, args, rows, dtype)
                }, else Err(unknown()))
            }
            _ => match dtype {
                DType::Complex64 => complex::<f32>(self.op, args, rows, dtype),
                DType::Complex128 => complex::<f64>(self.op, args, rows, dtype),
                _ => with_type!(stored, T: [int, float] => {
                    real::<T>(self.op, args, rows, dtype)
                }, else Err(unknown())),
            },
        }
    }
}

fn real<T: Number>(op: &str, args: &[Arg; 2], rows: usize, dtype: DType) -> Result<Tensor> {
    match op {
        "add" => zip_wide::<T, T>(args, rows, dtype, T::add),
        "subtract" => zip_wide::<T, T>(args, rows, dtype, T::subtract),
        "multiply" => zip_wide::<T, T>(args, rows, dtype, T::multiply),
        "fmod" => zip::<T, T>(args, rows, dtype, T::fmod),
        "floor_divide" => zip::<T, T>(args, rows, dtype, T::floor_divide),
        "remainder" => zip::<T, T>(args, rows, dtype, T::remainder),
        "power" => {
            if dtype.is_integer() {
                let exponents = args[1].tensor()?.values::<T>()?;
                let negative = exponents.iter().any(|value| value.to_f64() < 0.0);
                if negative && !args[0].tensor()?.is_empty() {
                    let text = "Integers to negative integer powers are not allowed.";
                    return Err(Error::invalid_argument(text));
                }
            }
            zip::<T, T>(args, rows, dtype, T::power)
        }
        "maximum" => zip_wide::<T, T>(args, rows, dtype, T::maximum),
        "minimum" => zip_wide::<T, T>(args, rows, dtype, T::minimum),
        "fmax" => zip::<T, T>(args, rows, dtype, T::fmax),
        "fmin" => zip::<T, T>(args, rows, dtype, T::fmin),
        _ => Err(Error::internal(format!("{op} on real numbers"))),
    }
}

fn float<T: Special>(op: &str, args: &[Arg; 2], rows: usize, dtype: DType) -> Result<Tensor> {
    match op {
        "true_divide" => zip_wide::<T, T>(args, rows, dtype, T::true_divide),
        "arctan2" => zip::<T, T>(args, rows, dtype, T::arctan2),
        "hypot" => zip::<T, T>(args, rows, dtype, T::hypot),
        "copysign" => zip::<T, T>(args, rows, dtype, T::copysign),
        "logaddexp" => zip::<T, T>(args, rows, dtype, T::logaddexp),
        "logaddexp2" => zip::<T, T>(args, rows, dtype, T::logaddexp2),
        "heaviside" => zip::<T, T>(args, rows, dtype, T::heaviside),
        "igamma" | "igammac" | "zeta" | "polygamma" => {
            let function = higher::binary(op);
            zip::<T, T>(args, rows, dtype, |a, b| T::narrowed(function(a.widened(), b.widened())))
        }
        _ => zip::<T, T>(args, rows, dtype, T::nextafter),
    }
}

fn bitwise<T: Integer>(op: &str, args: &[Arg; 2], rows: usize, dtype: DType) -> Result<Tensor> {
    match op {
        "bitwise_and" => zip_wide::<T, T>(args, rows, dtype, T::and),
        "bitwise_or" => zip_wide::<T, T>(args, rows, dtype, T::or),
        "bitwise_xor" => zip_wide::<T, T>(args, rows, dtype, T::xor),
        "left_shift" => zip::<T, T>(args, rows, dtype, T::left_shift),
        "gcd" => zip::<T, T>(args, rows, dtype, T::gcd),
        "lcm" => zip::<T, T>(args, rows, dtype, T::lcm),
        _ => zip::<T, T>(args, rows, dtype, T::right_shift),
    }
}

fn complex<P>(op: &str, args: &[Arg; 2], rows: usize, dtype: DType) -> Result<Tensor>
where
    P: Part,
    Complex<P>: Source,
{
    type C<P> = Complex<P>;
    match op {
        "add" => {
            zip::<C<P>, C<P>>(args, rows, dtype, |a, b| C::new(a.re.add(b.re), a.im.add(b.im)))
        }
        "subtract" => zip::<C<P>, C<P>>(args, rows, dtype, |a, b| {
            C::new(a.re.subtract(b.re), a.im.subtract(b.im))
        }),
        "multiply" => zip::<C<P>, C<P>>(args, rows, dtype, multiply_complex),
        "true_divide" => zip::<C<P>, C<P>>(args, rows, dtype, divide_complex),
        "power" => zip::<C<P>, C<P>>(args, rows, dtype, power),
        "maximum" => zip::<C<P>, C<P>>(args, rows, dtype, |a, b| extreme(a, b, a, true)),
        "minimum" => zip::<C<P>, C<P>>(args, rows, dtype, |a, b| extreme(a, b, a, false)),
        "fmax" => zip::<C<P>, C<P>>(args, rows, dtype, |a, b| extreme(a, b, b, true)),
        "fmin" => zip::<C<P>, C<P>>(args, rows, dtype, |a, b| extreme(a, b, b, false)),
        _ => Err(Error::internal(format!("{op} on complex numbers"))),
    }
}

pub(crate) fn multiply_complex<P: Float>(a: Complex<P>, b: Complex<P>) -> Complex<P> {
    let re = a.re.multiply(b.re).subtract(a.im.multiply(b.im));
    let im = a.re.multiply(b.im).add(a.im.multiply(b.re));
    Complex { re, im }
}

/// Smith's algorithm, as NumPy does it.
pub(super) fn divide_complex<P: Float>(a: Complex<P>, b: Complex<P>) -> Complex<P> {
    let (re_abs, im_abs) = (b.re.absolute(), b.im.absolute());
    if re_abs >= im_abs {
        if !re_abs.truth() && !im_abs.truth() {
            return Complex { re: a.re.true_divide(re_abs), im: a.im.true_divide(re_abs) };
        }
        let ratio = b.im.true_divide(b.re);
        let scale = b.re.add(b.im.multiply(ratio)).reciprocal();
        let re = a.re.add(a.im.multiply(ratio)).multiply(scale);
        Complex { re, im: a.im.subtract(a.re.multiply(ratio)).multiply(scale) }
    } else {
        let ratio = b.re.true_divide(b.im);
        let scale = b.im.add(b.re.multiply(ratio)).reciprocal();
        let re = a.re.multiply(ratio).add(a.im).multiply(scale);
        Complex { re, im: a.im.multiply(ratio).subtract(a.re).multiply(scale) }
    }
}

/// The dtype that both inputs have, and the shape of their broadcast.
pub(super) fn same_types(op: &str, specs: &[Spec]) -> Result<(DType, PartialShape)> {
    let [a, b] = inputs(specs)?;
    let ((a, a_shape), (b, b_shape)) = (dense(a)?, dense(b)?);
    if a != b {
        return Err(Error::invalid_argument(format!("{op} of {a} and {b}: cast one of them")));
    }
    Ok((a, broadcast_partial(a_shape, b_shape)?))
}

impl Kernel for Binary {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let (dtype, shape) = same_types(self.op, specs)?;
        if !self.types.accepts(dtype) {
            return Err(Error::invalid_argument(format!("{} does not take {dtype}", self.op)));
        }
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let args = inputs(args)?;
        let dtype = args[0].tensor()?.dtype();
        Ok(vec![Column::Stacked(self.compute(args, rows, dtype)?)])
    }

    fn tolerance(&self) -> Tolerance {
        match self.op {
            "power" | "arctan2" | "hypot" | "logaddexp" | "logaddexp2" | "igamma" | "igammac"
            | "zeta" | "polygamma" => Tolerance::Ulp(4),
            _ => Tolerance::Exact,
        }
    }
}
