//! Operations on one number.

use num_complex::Complex;

use crate::data::{Column, DType, Element, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{Bool, Source, dense, inputs, map_flat, scratch};
use crate::kernels::dispatch::with_type;
use crate::kernels::elementwise::binary::multiply_complex;
use crate::kernels::elementwise::complex::{self, Part};
use crate::kernels::elementwise::higher;
use crate::kernels::elementwise::number::{Float, Integer, Number};
use crate::kernels::elementwise::special::Special;

/// What an operation takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// Integers, floats and complex numbers.
    Arithmetic,
    /// Real numbers, and the magnitude of complex ones.
    Absolute,
    /// Floats and complex numbers, rounded exactly; integers are handed through.
    Rounding,
    /// Floats and complex numbers, rounded exactly.
    Exact,
    /// Floats and complex numbers, within a few units in the last place.
    Close,
    /// Floats, rounded exactly.
    ExactFloat,
    /// Floats, within a few units in the last place.
    CloseFloat,
    /// Floats, by a function of float64.
    Higher,
    /// Floats to a boolean.
    Sign,
    /// Integers and booleans.
    Invert,
    /// Integers to a small integer.
    Bits,
    /// All numbers to a boolean.
    Not,
    /// Numbers to a boolean.
    Test,
    /// Complex numbers and their parts; real ones are handed through by `conjugate`.
    Complex,
}

const OPS: &[(&str, Group)] = &[
    ("negative", Group::Arithmetic),
    ("square", Group::Arithmetic),
    ("absolute", Group::Absolute),
    ("sign", Group::Arithmetic),
    ("floor", Group::Rounding),
    ("ceil", Group::Rounding),
    ("trunc", Group::Rounding),
    ("rint", Group::Rounding),
    ("sqrt", Group::Exact),
    ("reciprocal", Group::Arithmetic),
    ("cbrt", Group::CloseFloat),
    ("erf", Group::CloseFloat),
    ("deg2rad", Group::ExactFloat),
    ("rad2deg", Group::ExactFloat),
    ("spacing", Group::ExactFloat),
    ("signbit", Group::Sign),
    ("arcsinh", Group::Close),
    ("arccosh", Group::Close),
    ("arctanh", Group::Close),
    ("exp", Group::Close),
    ("log", Group::Close),
    ("log2", Group::Close),
    ("log10", Group::Close),
    ("log1p", Group::Close),
    ("expm1", Group::Close),
    ("exp2", Group::Close),
    ("sin", Group::Close),
    ("cos", Group::Close),
    ("tan", Group::Close),
    ("arcsin", Group::Close),
    ("arccos", Group::Close),
    ("arctan", Group::Close),
    ("sinh", Group::Close),
    ("cosh", Group::Close),
    ("tanh", Group::Close),
    ("invert", Group::Invert),
    ("bitwise_count", Group::Bits),
    ("logical_not", Group::Not),
    ("isnan", Group::Test),
    ("isinf", Group::Test),
    ("isfinite", Group::Test),
    ("conjugate", Group::Complex),
    ("real", Group::Complex),
    ("imag", Group::Complex),
];

#[derive(Debug)]
pub(super) struct Unary {
    op: &'static str,
    group: Group,
}

fn is_complex(dtype: DType) -> bool {
    matches!(dtype, DType::Complex64 | DType::Complex128)
}

/// The type of the parts of a complex number.
fn part(dtype: DType) -> DType {
    match dtype {
        DType::Complex64 => DType::Float32,
        DType::Complex128 => DType::Float64,
        other => other,
    }
}

impl Unary {
    pub(super) fn named(name: &str) -> Option<Self> {
        let own = OPS.iter().find(|(op, _)| *op == name).copied();
        let (op, group) = own.or_else(|| higher::unary(name).map(|(op, _)| (op, Group::Higher)))?;
        Some(Unary { op, group })
    }

    /// The type of the result.
    fn output(&self, dtype: DType) -> Option<DType> {
        let (complex, float) = (is_complex(dtype), dtype.is_float());
        let (integer, bool) = (dtype.is_integer(), dtype == DType::Bool);
        match self.group {
            Group::Arithmetic => (integer || float || complex).then_some(dtype),
            Group::Absolute => (!dtype.is_text()).then_some(part(dtype)),
            Group::Rounding if self.op == "rint" => {
                (integer || float || bool || complex).then_some(dtype)
            }
            Group::Rounding => (integer || float || bool).then_some(dtype),
            Group::Exact | Group::Close => (float || complex).then_some(dtype),
            Group::ExactFloat | Group::CloseFloat | Group::Higher => float.then_some(dtype),
            Group::Sign => float.then_some(DType::Bool),
            Group::Bits => integer.then_some(DType::UInt8),
            Group::Invert => (integer || bool).then_some(dtype),
            Group::Not => (!dtype.is_text()).then_some(DType::Bool),
            Group::Test => (!dtype.is_text()).then_some(DType::Bool),
            Group::Complex if self.op == "conjugate" => (!dtype.is_text()).then_some(dtype),
            Group::Complex => complex.then_some(part(dtype)),
        }
    }

    fn compute(&self, x: &Tensor) -> Result<Tensor> {
        let dtype = x.dtype();
        let unknown = || Error::internal(format!("{} does not take {dtype}", self.op));
        match dtype {
            DType::Complex64 if self.group != Group::Not => return of_complex::<f32>(self.op, x),
            DType::Complex128 if self.group != Group::Not => return of_complex::<f64>(self.op, x),
            _ => {}
        }
        match self.group {
            Group::Arithmetic if self.op == "reciprocal" => match dtype.is_float() {
                true => {
                    with_type!(dtype, T: [float] => {
                        map::<T, T>(x, dtype, T::reciprocal)
                    }, else Err(unknown()))
                }
                // Integers divide 1, towards zero; the reciprocal of 0 is what x86 gives.
                false => with_type!(dtype, T: [int] => {
                    map::<T, T>(x, dtype, T::int_reciprocal)
                }, else Err(unknown())),
            },
            Group::Arithmetic | Group::Absolute => match dtype {
                DType::Bool => Ok(x.clone()),
                _ => with_type!(dtype, T: [int, float] => match self.op {
                    "negative" => map::<T, T>(x, dtype, T::negative),
                    "square" => map::<T, T>(x, dtype, |x| x.multiply(x)),
                    "absolute" => map::<T, T>(x, dtype, T::absolute),
                    _ => map::<T, T>(x, dtype, T::sign),
                }, else Err(unknown())),
            },
            Group::Higher => {
                let (_, function) = higher::unary(self.op).ok_or_else(unknown)?;
                with_type!(dtype, T: [float] => {
                    map::<T, T>(x, dtype, |x| T::narrowed(function(x.widened())))
                }, else Err(unknown()))
            }
            Group::Sign => with_type!(dtype, T: [float] => {
                map::<T, Bool>(x, DType::Bool, |x| Bool(u8::from(x.signbit())))
            }, else Err(unknown())),
            Group::Bits => with_type!(dtype, T: [int] => {
                map::<T, u8>(x, DType::UInt8, <T as Integer>::bit_count)
            }, else Err(unknown())),
            Group::Rounding
            | Group::Exact
            | Group::Close
            | Group::ExactFloat
            | Group::CloseFloat => match dtype.is_float() {
                true => {
                    with_type!(dtype, T: [float] => float::<T>(self.op, x), else Err(unknown()))
                }
                false => Ok(x.clone()),
            },
            Group::Invert => match dtype {
                DType::Bool => map::<Bool, Bool>(x, dtype, |x| Bool(x.0 ^ 1)),
                _ => with_type!(dtype, T: [int] => {
                    map::<T, T>(x, dtype, <T as Integer>::not)
                }, else Err(unknown())),
            },
            Group::Not => with_type!(dtype, T: [bool, int, float, complex] => {
                map::<T, Bool>(x, DType::Bool, |x| Bool(u8::from(!x.truth())))
            }, else Err(unknown())),
            Group::Test if dtype == DType::Bool => {
                let finite = u8::from(self.op == "isfinite");
                map::<Bool, Bool>(x, dtype, |_| Bool(finite))
            }
            Group::Test => with_type!(dtype, T: [int, float] => {
                test::<T>(self.op, x)
            }, else Err(unknown())),
            Group::Complex => Ok(x.clone()),
        }
    }
}

#[inline(always)]
pub(crate) fn map<A: Element, R: Element>(
    x: &Tensor,
    dtype: DType,
    f: impl Fn(A) -> R,
) -> Result<Tensor> {
    let values = x.values::<A>()?;
    let mut out = scratch::<R>(values.len())?;
    out.typed_mut::<R>().iter_mut().zip(values).for_each(|(out, x)| *out = f(*x));
    Tensor::fixed(dtype, x.dims().into(), out.freeze())
}

fn float<T: Special>(op: &str, x: &Tensor) -> Result<Tensor> {
    macro_rules! by_name {
        ($($name:ident),*) => {
            match op {
                $(stringify!($name) => map::<T, T>(x, x.dtype(), T::$name),)*
                _ => Err(Error::internal(format!("{op} on floats"))),
            }
        };
    }
    by_name!(
        sqrt, cbrt, erf, deg2rad, rad2deg, spacing, arcsinh, arccosh, arctanh, floor, ceil, trunc,
        rint, exp, log, log2, log10, log1p, expm1, exp2, sin, cos, tan, arcsin, arccos, arctan,
        sinh, cosh, tanh
    )
}

fn test<T: Number>(op: &str, x: &Tensor) -> Result<Tensor> {
    let bool = |value: bool| Bool(u8::from(value));
    match op {
        "isnan" => map::<T, Bool>(x, DType::Bool, |x| bool(x.is_nan())),
        "isinf" => map::<T, Bool>(x, DType::Bool, |x| bool(x.is_infinite())),
        _ => map::<T, Bool>(x, DType::Bool, |x| bool(!x.is_nan() && !x.is_infinite())),
    }
}

fn of_complex<P: Part>(op: &str, x: &Tensor) -> Result<Tensor>
where
    Complex<P>: Source,
{
    type C<P> = Complex<P>;
    let (dtype, real) = (x.dtype(), P::DTYPE);
    match op {
        "negative" => {
            map::<C<P>, C<P>>(x, dtype, |x| C { re: x.re.negative(), im: x.im.negative() })
        }
        "square" => map::<C<P>, C<P>>(x, dtype, |x| multiply_complex(x, x)),
        "conjugate" => map::<C<P>, C<P>>(x, dtype, |x| C { re: x.re, im: x.im.negative() }),
        "absolute" => map::<C<P>, P>(x, real, |x| x.re.hypot(x.im)),
        "real" => map::<C<P>, P>(x, real, |x| x.re),
        "imag" => map::<C<P>, P>(x, real, |x| x.im),
        "isnan" => {
            map::<C<P>, Bool>(x, DType::Bool, |x| Bool(u8::from(x.re.is_nan() || x.im.is_nan())))
        }
        "isinf" => map::<C<P>, Bool>(x, DType::Bool, |x| {
            Bool(u8::from(x.re.is_infinite() || x.im.is_infinite()))
        }),
        "isfinite" => map::<C<P>, Bool>(x, DType::Bool, |x| {
            let open = |part: P| part.is_nan() || part.is_infinite();
            Bool(u8::from(!open(x.re) && !open(x.im)))
        }),
        _ => match complex::function::<P>(op) {
            Some(function) => map::<C<P>, C<P>>(x, dtype, function),
            None => Err(Error::internal(format!("{op} on complex numbers"))),
        },
    }
}

impl Kernel for Unary {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        let Some(output) = self.output(dtype) else {
            return Err(Error::invalid_argument(format!("{} does not take {dtype}", self.op)));
        };
        Ok(vec![Spec::Tensor { dtype: output, shape: shape.clone() }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        Ok(vec![map_flat(arg, rows, |tensor| self.compute(tensor))?])
    }

    fn tolerance(&self) -> Tolerance {
        match (self.group, self.op) {
            (Group::Close | Group::CloseFloat | Group::Higher, _) | (_, "absolute" | "sqrt") => {
                Tolerance::Ulp(4)
            }
            (_, "negative" | "conjugate" | "real" | "imag") => Tolerance::Moved,
            _ => Tolerance::Exact,
        }
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_))
    }
}
