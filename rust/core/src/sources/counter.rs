//! `Dataset.counter`: numbers in equal steps, without end.
//!
//! Floats are summed up one by one in their own dtype, as in tf.data, so that they round alike.

use std::sync::Arc;

use half::{bf16, f16};

use crate::data::{BufferMut, Chunk, Column, DType, Element, ElementSpec, Spec, Tensor};
use crate::engine::node::Arg;
use crate::engine::wait::poll_if_due;
use crate::engine::{Cardinality, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// Start and step of a counter.
#[derive(Clone, Copy, Debug)]
pub enum Steps {
    /// Integers; they wrap around where the dtype ends.
    Int(i64, i64),
    /// Floats.
    Float(f64, f64),
}

/// Numbers without end.
pub struct CounterNode {
    steps: Steps,
    dtype: DType,
    spec: ElementSpec,
}

impl CounterNode {
    /// A plan of `start`, `start + step`, … as scalars of `dtype`.
    ///
    /// # Errors
    /// `InvalidArgument` for a dtype that is no number, or integers that are counted in fractions.
    pub fn plan(steps: Steps, dtype: DType) -> Result<Plan> {
        let fits = match steps {
            Steps::Int(..) => dtype.is_integer(),
            Steps::Float(..) => dtype.is_float(),
        };
        if !fits {
            return Err(Error::invalid_argument(format!("a counter of {steps:?} as {dtype}")));
        }
        let spec = ElementSpec::leaf(Spec::scalar(dtype));
        Ok(Arc::new(CounterNode { steps, dtype, spec }))
    }
}

impl Node for CounterNode {
    fn name(&self) -> &'static str {
        "counter"
    }

    fn args(&self) -> Vec<Arg> {
        let (start, step) = match self.steps {
            Steps::Int(start, step) => (start.to_string(), step.to_string()),
            Steps::Float(start, step) => (start.to_string(), step.to_string()),
        };
        vec![Arg::new("start", start), Arg::new("step", step), Arg::new("dtype", self.dtype)]
    }

    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Infinite
    }

    fn open(&self, _opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        Ok(Box::new(CounterStage { next: self.steps, dtype: self.dtype }))
    }
}

struct CounterStage {
    next: Steps,
    dtype: DType,
}

impl CounterStage {
    fn ints<T: Element>(&mut self, rows: usize, from: impl Fn(i64) -> T) -> Result<Column> {
        let Steps::Int(next, step) = &mut self.next else {
            return Err(Error::internal("a counter of floats as integers"));
        };
        column(self.dtype, rows, || {
            let value = *next;
            *next = next.wrapping_add(*step);
            from(value)
        })
    }

    /// Sums in `T`: `round` gives the nearest number that it can hold.
    fn floats<T: Element>(
        &mut self,
        rows: usize,
        round: impl Fn(f64) -> (T, f64),
    ) -> Result<Column> {
        let Steps::Float(next, step) = &mut self.next else {
            return Err(Error::internal("a counter of integers as floats"));
        };
        let step = round(*step).1;
        column(self.dtype, rows, || {
            let (value, rounded) = round(*next);
            *next = round(rounded + step).1;
            value
        })
    }

    fn rows(&mut self, rows: usize) -> Result<Column> {
        match self.dtype {
            DType::Int8 => self.ints(rows, |x| x as i8),
            DType::Int16 => self.ints(rows, |x| x as i16),
            DType::Int32 => self.ints(rows, |x| x as i32),
            DType::Int64 => self.ints(rows, |x| x),
            DType::UInt8 => self.ints(rows, |x| x as u8),
            DType::UInt16 => self.ints(rows, |x| x as u16),
            DType::UInt32 => self.ints(rows, |x| x as u32),
            DType::UInt64 => self.ints(rows, |x| x as u64),
            DType::Float16 => self.floats(rows, |x| (f16::from_f64(x), f16::from_f64(x).to_f64())),
            DType::BFloat16 => {
                self.floats(rows, |x| (bf16::from_f64(x), bf16::from_f64(x).to_f64()))
            }
            DType::Float32 => self.floats(rows, |x| (x as f32, f64::from(x as f32))),
            DType::Float64 => self.floats(rows, |x| (x, x)),
            other => Err(Error::internal(format!("a counter of {other}"))),
        }
    }
}

fn column<T: Element>(dtype: DType, rows: usize, mut next: impl FnMut() -> T) -> Result<Column> {
    let mut out = BufferMut::scratch(rows * size_of::<T>())?;
    out.typed_mut::<T>().iter_mut().for_each(|out| *out = next());
    Ok(Column::Stacked(Tensor::fixed(dtype, [rows][..].into(), out.freeze())?))
}

/// Numbers made at a time to be skipped.
const PIECE: u64 = 1 << 12;

impl Stage for CounterStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.rows(max).and_then(Chunk::of_column).map(Some)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        if let Steps::Int(next, step) = &mut self.next {
            *next = next.wrapping_add(step.wrapping_mul(n as i64));
            return Ok(n);
        }
        let mut left = n;
        while left > 0 {
            poll_if_due()?;
            let piece = left.min(PIECE);
            self.rows(piece as usize)?;
            left -= piece;
        }
        Ok(n)
    }

    fn quiet(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_round_as_sums_do() {
        let mut stage = CounterStage { next: Steps::Float(0.0, 0.1), dtype: DType::Float32 };
        let chunk = stage.next(11).unwrap().unwrap();
        let Column::Stacked(tensor) = &chunk.columns()[0] else { panic!("not stacked") };
        let mut sum = 0.0_f32;
        for value in tensor.values::<f32>().unwrap() {
            assert_eq!(*value, sum);
            sum += 0.1;
        }
    }

    #[test]
    fn integers_wrap_around() {
        let mut stage = CounterStage { next: Steps::Int(254, 1), dtype: DType::UInt8 };
        let chunk = stage.next(3).unwrap().unwrap();
        let Column::Stacked(tensor) = &chunk.columns()[0] else { panic!("not stacked") };
        assert_eq!(tensor.values::<u8>().unwrap(), [254, 255, 0]);
        assert_eq!(stage.skip(253).unwrap(), 253);
    }
}
