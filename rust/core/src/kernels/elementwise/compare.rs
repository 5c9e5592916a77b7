//! Comparisons and logic: two values of one type give a boolean.

use std::cmp::Ordering;

use num_complex::Complex;

use crate::data::{BufferMut, Column, DType, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{Bool, Source, inputs};
use crate::kernels::dispatch::with_type;
use crate::kernels::elementwise::binary::same_types;
use crate::kernels::elementwise::complex::{Part, less};
use crate::kernels::elementwise::loops::{Loops, broadcast_partial, zip, zip_mixed};

const OPS: &[&str] = &[
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
];

#[derive(Debug)]
pub(super) struct Compare {
    op: &'static str,
}

impl Compare {
    pub(super) fn named(name: &str) -> Option<Self> {
        OPS.iter().find(|op| **op == name).map(|op| Compare { op })
    }

    fn is_logic(&self) -> bool {
        self.op.starts_with("logical")
    }

    fn is_equality(&self) -> bool {
        matches!(self.op, "equal" | "not_equal")
    }

    fn accepts(&self, dtype: DType) -> bool {
        match dtype {
            DType::Bytes | DType::Str => !self.is_logic(),
            _ => true,
        }
    }

    fn compute(&self, args: &[Arg; 2], rows: usize, dtype: DType) -> Result<Tensor> {
        if dtype.is_text() {
            return self.compare_text(args, rows);
        }
        // Booleans compare as the numbers 0 and 1.
        let stored = if dtype == DType::Bool { DType::UInt8 } else { dtype };
        if self.is_logic() || self.is_equality() {
            return with_type!(stored, T: [int, float, complex] => {
                logic::<T>(self.op, args, rows)
            }, else Err(Error::internal("comparison of text as numbers")));
        }
        match dtype {
            DType::Complex64 => order_complex::<f32>(self.op, args, rows),
            DType::Complex128 => order_complex::<f64>(self.op, args, rows),
            _ => with_type!(stored, T: [int, float] => {
                order::<T>(self.op, args, rows)
            }, else Err(Error::internal("order of text as numbers"))),
        }
    }

    fn compare_text(&self, args: &[Arg; 2], rows: usize) -> Result<Tensor> {
        let loops = Loops::new(args, rows)?;
        let (a, b) = (args[0].tensor()?.strings()?, args[1].tensor()?.strings()?);
        let mut out = BufferMut::scratch(loops.len)?;
        let steps = loops.steps;
        loops.run(&mut |start, count, [i, j]| {
            for k in 0..count {
                // UTF-8 sorts by code points, as Python does.
                let order = a.get(i + k * steps[0]).cmp(b.get(j + k * steps[1]));
                out[start + k] = u8::from(match self.op {
                    "equal" => order == Ordering::Equal,
                    "not_equal" => order != Ordering::Equal,
                    "less" => order == Ordering::Less,
                    "less_equal" => order != Ordering::Greater,
                    "greater" => order == Ordering::Greater,
                    _ => order != Ordering::Less,
                });
            }
        });
        Tensor::fixed(DType::Bool, loops.dims, out.freeze())
    }
}

fn logic<T: Source>(op: &str, args: &[Arg; 2], rows: usize) -> Result<Tensor> {
    let bool = |value: bool| Bool(u8::from(value));
    match op {
        "equal" => zip::<T, Bool>(args, rows, DType::Bool, |a, b| bool(a == b)),
        "not_equal" => zip::<T, Bool>(args, rows, DType::Bool, |a, b| bool(a != b)),
        "logical_and" => {
            zip::<T, Bool>(args, rows, DType::Bool, |a, b| bool(a.truth() & b.truth()))
        }
        "logical_or" => zip::<T, Bool>(args, rows, DType::Bool, |a, b| bool(a.truth() | b.truth())),
        _ => zip::<T, Bool>(args, rows, DType::Bool, |a, b| bool(a.truth() != b.truth())),
    }
}

fn order<T: Source + PartialOrd>(op: &str, args: &[Arg; 2], rows: usize) -> Result<Tensor> {
    let bool = |value: bool| Bool(u8::from(value));
    match op {
        "less" => zip::<T, Bool>(args, rows, DType::Bool, |a, b| bool(a < b)),
        "less_equal" => zip::<T, Bool>(args, rows, DType::Bool, |a, b| bool(a <= b)),
        "greater" => zip::<T, Bool>(args, rows, DType::Bool, |a, b| bool(a > b)),
        _ => zip::<T, Bool>(args, rows, DType::Bool, |a, b| bool(a >= b)),
    }
}

/// The largest integers with and without a sign, which NumPy compares exactly.
fn is_mixed(a: DType, b: DType) -> bool {
    matches!((a, b), (DType::Int64, DType::UInt64) | (DType::UInt64, DType::Int64))
}

fn mixed(op: &str, args: &[Arg; 2], rows: usize) -> Result<Tensor> {
    let holds = match op {
        "equal" => Ordering::is_eq,
        "not_equal" => Ordering::is_ne,
        "less" => Ordering::is_lt,
        "less_equal" => Ordering::is_le,
        "greater" => Ordering::is_gt,
        _ => Ordering::is_ge,
    };
    let wide = |order: Ordering| Bool(u8::from(holds(order)));
    match args[0].tensor()?.dtype() {
        DType::Int64 => zip_mixed::<i64, u64, Bool>(args, rows, DType::Bool, |a, b| {
            wide(i128::from(a).cmp(&i128::from(b)))
        }),
        _ => zip_mixed::<u64, i64, Bool>(args, rows, DType::Bool, |a, b| {
            wide(i128::from(a).cmp(&i128::from(b)))
        }),
    }
}

fn order_complex<P: Part>(op: &str, args: &[Arg; 2], rows: usize) -> Result<Tensor>
where
    Complex<P>: Source,
{
    type C<P> = Complex<P>;
    let bool = |value: bool| Bool(u8::from(value));
    match op {
        "less" => zip::<C<P>, Bool>(args, rows, DType::Bool, |a, b| bool(less(a, b, false))),
        "less_equal" => zip::<C<P>, Bool>(args, rows, DType::Bool, |a, b| bool(less(a, b, true))),
        "greater" => zip::<C<P>, Bool>(args, rows, DType::Bool, |a, b| bool(less(b, a, false))),
        _ => zip::<C<P>, Bool>(args, rows, DType::Bool, |a, b| bool(less(b, a, true))),
    }
}

impl Kernel for Compare {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        if let [
            Spec::Tensor { dtype: a, shape: a_shape },
            Spec::Tensor { dtype: b, shape: b_shape },
        ] = specs
            && is_mixed(*a, *b)
            && !self.is_logic()
        {
            let shape = broadcast_partial(a_shape, b_shape)?;
            return Ok(vec![Spec::Tensor { dtype: DType::Bool, shape }]);
        }
        let (dtype, shape) = same_types(self.op, specs)?;
        if !self.accepts(dtype) {
            return Err(Error::invalid_argument(format!("{} does not take {dtype}", self.op)));
        }
        Ok(vec![Spec::Tensor { dtype: DType::Bool, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let args = inputs(args)?;
        let (dtype, other) = (args[0].tensor()?.dtype(), args[1].tensor()?.dtype());
        if is_mixed(dtype, other) {
            return Ok(vec![Column::Stacked(mixed(self.op, args, rows)?)]);
        }
        Ok(vec![Column::Stacked(self.compute(args, rows, dtype)?)])
    }
}
