//! Random numbers from seeds whose distribution has parameters for each: `stateless_gamma`,
//! `stateless_poisson`, `stateless_binomial`.
//!
//! The inputs are a seed, as in `kernels/random.rs`, and the parameters, of one shape. The shape of
//! the result ends with theirs.

use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, dense, inputs, scratch, to_f64};
use crate::kernels::random::{check_seed, sizes, streams};
use crate::kernels::shape::stacked;
use crate::random::Philox;
use crate::random::rates::{binomial, gamma, poisson};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Gamma,
    Poisson,
    /// Of two parameters: how many events, and how likely each is.
    Binomial,
}

#[derive(Debug)]
struct Rated {
    law: Law,
    dtype: DType,
    shape: Dims,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let law = match op {
        "stateless_gamma" => Law::Gamma,
        "stateless_poisson" => Law::Poisson,
        "stateless_binomial" => Law::Binomial,
        _ => return Ok(None),
    };
    attrs.only(&["dtype", "shape"])?;
    let dtype = attrs.dtype("dtype")?;
    let whole = law != Law::Gamma && matches!(dtype, DType::Int32 | DType::Int64);
    if !whole && !matches!(dtype, DType::Float16 | DType::Float32 | DType::Float64) {
        return Err(Error::invalid_argument(format!("{op} does not give {dtype}")));
    }
    let shape = sizes(&attrs.ints("shape")?)?;
    Ok(Some(Arc::new(Rated { law, dtype, shape })))
}

/// How numbers of this type are rounded.
fn narrowing(dtype: Option<DType>) -> fn(f64) -> f64 {
    match dtype {
        Some(DType::Float16) => |x| f64::from(half::f16::from_f64(x)),
        Some(DType::Float32) => |x| f64::from(x as f32),
        _ => |x| x,
    }
}

impl Rated {
    /// The seed and the parameters.
    fn parts<'a, T>(&self, given: &'a [T]) -> Result<(&'a T, &'a [T])> {
        if self.law == Law::Binomial {
            let [seed, ..] = inputs::<3, T>(given)?;
            return Ok((seed, &given[1..]));
        }
        let [seed, _] = inputs::<2, T>(given)?;
        Ok((seed, &given[1..]))
    }

    fn draw(
        &self,
        stream: &Philox,
        index: u64,
        parameter: &impl Fn(usize) -> f64,
        narrow: fn(f64) -> f64,
    ) -> f64 {
        match self.law {
            Law::Gamma => gamma(stream, index, parameter(0)),
            Law::Poisson => poisson(stream, index, parameter(0), self.highest()),
            Law::Binomial => binomial(stream, index, parameter(0), parameter(1), narrow),
        }
    }

    /// The largest number that the dtype holds.
    fn highest(&self) -> f64 {
        match self.dtype {
            DType::Int32 => f64::from(i32::MAX),
            DType::Int64 => i64::MAX as f64,
            DType::Float16 => f64::from(half::f16::MAX),
            DType::Float32 => f64::from(f32::MAX),
            _ => f64::MAX,
        }
    }

    /// Fails unless the shape of the result ends with that of the parameters.
    fn check(&self, dims: &[usize]) -> Result<()> {
        if self.shape.ends_with(dims) {
            return Ok(());
        }
        let (shape, dims) = (PartialShape::from(&self.shape[..]), PartialShape::from(dims));
        Err(Error::invalid_argument(format!(
            "the shape of the result must end with that of the parameters, {dims}, got {shape}"
        )))
    }
}

impl Kernel for Rated {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let (seed, parameters) = self.parts(specs)?;
        check_seed(seed)?;
        for parameter in parameters {
            let (dtype, shape) = dense(parameter)?;
            if !dtype.is_float() && !dtype.is_integer() {
                let text = format!("parameters are numbers, got {dtype}");
                return Err(Error::invalid_argument(text));
            }
            if let Some(dims) = shape.known() {
                self.check(&dims)?;
            }
        }
        let shape = PartialShape::from(self.shape.as_slice());
        Ok(vec![Spec::Tensor { dtype: self.dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let (seed, given) = self.parts(args)?;
        let dims = given[0].row_dims()?;
        self.check(dims)?;
        if given.iter().any(|other| other.row_dims().is_ok_and(|own| own != dims)) {
            return Err(Error::invalid_argument("the parameters have different shapes"));
        }
        let each = volume(dims)?;
        let columns = given.iter().map(|parameter| to_f64(&stacked(parameter, rows)?));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let narrow = narrowing(given[0].dtype());
        let count = volume(&self.shape)?;
        let total = count.checked_mul(rows);
        let total = total.ok_or_else(|| Error::resource_exhausted("the numbers are too many"))?;
        let samples = count.checked_div(each).unwrap_or(0);
        let mut out = scratch::<f64>(total)?;
        let values = out.typed_mut::<f64>();
        for (row, stream) in streams(seed, rows)?.into_iter().enumerate() {
            let own = &mut values[row * count..(row + 1) * count];
            for at in 0..each {
                let parameter = |k: usize| columns[k][row * each + at];
                for sample in 0..samples {
                    // All numbers of one parameter are numbered before those of the next.
                    let index = (at * samples + sample) as u64;
                    own[sample * each + at] = self.draw(&stream, index, &parameter, narrow);
                }
            }
        }
        let dims = std::iter::once(rows).chain(self.shape.iter().copied()).collect();
        let made = Tensor::fixed(DType::Float64, dims, out.freeze())?;
        if self.dtype.is_integer() {
            let bad = made.values::<f64>()?.iter().any(|value| !value.is_finite());
            if bad {
                let text = format!("a rate is negative, or too large for {}", self.dtype);
                return Err(Error::invalid_argument(text));
            }
        }
        Ok(vec![Column::Stacked(cast_tensor(&made, self.dtype)?)])
    }
}
