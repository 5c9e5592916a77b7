//! Random numbers from seeds whose distribution has a parameter for each: `stateless_gamma`,
//! `stateless_poisson`.
//!
//! The inputs are a seed, as in `kernels/random.rs`, and the parameters. The shape of the result
//! ends with theirs.

use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, dense, inputs, scratch, to_f64};
use crate::kernels::random::{check_seed, sizes, streams};
use crate::kernels::shape::stacked;
use crate::random::rates::{gamma, poisson};

#[derive(Debug)]
struct Rated {
    poisson: bool,
    dtype: DType,
    shape: Dims,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let poisson = match op {
        "stateless_gamma" => false,
        "stateless_poisson" => true,
        _ => return Ok(None),
    };
    attrs.only(&["dtype", "shape"])?;
    let dtype = attrs.dtype("dtype")?;
    let whole = poisson && matches!(dtype, DType::Int32 | DType::Int64);
    if !whole && !matches!(dtype, DType::Float16 | DType::Float32 | DType::Float64) {
        return Err(Error::invalid_argument(format!("{op} does not give {dtype}")));
    }
    let shape = sizes(&attrs.ints("shape")?)?;
    Ok(Some(Arc::new(Rated { poisson, dtype, shape })))
}

impl Rated {
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
        let [seed, parameter] = inputs(specs)?;
        check_seed(seed)?;
        let (dtype, shape) = dense(parameter)?;
        if !dtype.is_float() && !dtype.is_integer() {
            return Err(Error::invalid_argument(format!("parameters are numbers, got {dtype}")));
        }
        if let Some(dims) = shape.known() {
            self.check(&dims)?;
        }
        let shape = PartialShape::from(self.shape.as_slice());
        Ok(vec![Spec::Tensor { dtype: self.dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [seed, parameter] = inputs(args)?;
        self.check(parameter.row_dims()?)?;
        let each = volume(parameter.row_dims()?)?;
        let parameters = to_f64(&stacked(parameter, rows)?)?;
        let count = volume(&self.shape)?;
        let total = count.checked_mul(rows);
        let total = total.ok_or_else(|| Error::resource_exhausted("the numbers are too many"))?;
        let samples = count.checked_div(each).unwrap_or(0);
        let mut out = scratch::<f64>(total)?;
        let values = out.typed_mut::<f64>();
        for (row, stream) in streams(seed, rows)?.into_iter().enumerate() {
            let own = &mut values[row * count..(row + 1) * count];
            for at in 0..each {
                let parameter = parameters[row * each + at];
                for sample in 0..samples {
                    // All numbers of one parameter are numbered before those of the next.
                    let index = (at * samples + sample) as u64;
                    own[sample * each + at] = match self.poisson {
                        true => poisson(&stream, index, parameter, self.highest()),
                        false => gamma(&stream, index, parameter),
                    };
                }
            }
        }
        let dims = std::iter::once(rows).chain(self.shape.iter().copied()).collect();
        let made = Tensor::fixed(DType::Float64, dims, out.freeze())?;
        if self.poisson && self.dtype.is_integer() {
            let bad = made.values::<f64>()?.iter().any(|value| !value.is_finite());
            if bad {
                let text = format!("a rate is negative, or too large for {}", self.dtype);
                return Err(Error::invalid_argument(text));
            }
        }
        Ok(vec![Column::Stacked(cast_tensor(&made, self.dtype)?)])
    }
}
