//! Operations that take a float apart, `modf` and `frexp`, and `ldexp`, which puts it together.

use crate::data::{Column, DType, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{dense, inputs, map_flat};
use crate::kernels::dispatch::with_type;
use crate::kernels::elementwise::loops::{broadcast_partial, zip_mixed};
use crate::kernels::elementwise::special::Special;
use crate::kernels::elementwise::unary::map;

/// One float to two numbers.
#[derive(Debug)]
pub(super) enum Parted {
    Modf,
    Frexp,
}

impl Parted {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "modf" => Some(Parted::Modf),
            "frexp" => Some(Parted::Frexp),
            _ => None,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Parted::Modf => "modf",
            Parted::Frexp => "frexp",
        }
    }

    fn first(&self, x: &Tensor) -> Result<Tensor> {
        let dtype = x.dtype();
        with_type!(dtype, T: [float] => match self {
            Parted::Modf => map::<T, T>(x, dtype, |x| x.modf().0),
            Parted::Frexp => map::<T, T>(x, dtype, |x| Special::frexp(x).0),
        }, else Err(Error::internal("parts of what is no float")))
    }

    fn second(&self, x: &Tensor) -> Result<Tensor> {
        let dtype = x.dtype();
        with_type!(dtype, T: [float] => match self {
            Parted::Modf => map::<T, T>(x, dtype, |x| x.modf().1),
            Parted::Frexp => map::<T, i32>(x, DType::Int32, |x| Special::frexp(x).1),
        }, else Err(Error::internal("parts of what is no float")))
    }
}

impl Kernel for Parted {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if !dtype.is_float() {
            return Err(Error::invalid_argument(format!("{} does not take {dtype}", self.name())));
        }
        let second = if matches!(self, Parted::Frexp) { DType::Int32 } else { dtype };
        let spec = |dtype| Spec::Tensor { dtype, shape: shape.clone() };
        Ok(vec![spec(dtype), spec(second)])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        Ok(vec![map_flat(arg, rows, |x| self.first(x))?, map_flat(arg, rows, |x| self.second(x))?])
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_))
    }
}

/// A float times a power of two.
#[derive(Debug)]
pub(super) struct Ldexp;

impl Kernel for Ldexp {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [x, exponent] = inputs(specs)?;
        let ((dtype, x), (integer, exponent)) = (dense(x)?, dense(exponent)?);
        if !dtype.is_float() || !matches!(integer, DType::Int32 | DType::Int64) {
            let text = format!("ldexp does not take {dtype} and {integer}");
            return Err(Error::invalid_argument(text));
        }
        Ok(vec![Spec::Tensor { dtype, shape: broadcast_partial(x, exponent)? }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let args = inputs(args)?;
        let (dtype, integer) = (args[0].tensor()?.dtype(), args[1].tensor()?.dtype());
        let result = with_type!(dtype, T: [float] => match integer {
            DType::Int32 => {
                zip_mixed::<T, i32, T>(args, rows, dtype, |x, e| Special::ldexp(x, e.into()))?
            }
            _ => zip_mixed::<T, i64, T>(args, rows, dtype, Special::ldexp)?,
        }, else return Err(Error::internal("ldexp of what is no float")));
        Ok(vec![Column::Stacked(result)])
    }
}
