//! `Dataset.range`: integers (or floats) in equal steps.

use half::{bf16, f16};
use num_complex::Complex;

use crate::data::{Chunk, Column, DType, Element, ElementSpec, Spec, Tensor};
use crate::engine::node::Arg;
use crate::engine::{Cardinality, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// Numbers from `start` to `stop` in steps of `step`.
pub struct RangeNode {
    start: i64,
    stop: i64,
    step: i64,
    dtype: DType,
    spec: ElementSpec,
}

impl RangeNode {
    /// A plan of `start, start + step, …` up to but without `stop`, as scalars of `dtype`.
    ///
    /// # Errors
    /// `InvalidArgument` for a step of 0 or a dtype that is not a number: bool and text.
    pub fn plan(start: i64, stop: i64, step: i64, dtype: DType) -> Result<Plan> {
        if step == 0 {
            return Err(Error::invalid_argument("step must be a non-zero integer"));
        }
        if dtype == DType::Bool || dtype.is_text() {
            return Err(Error::invalid_argument(format!("a range cannot have dtype {dtype}"))
                .with_hint("use an integer or floating dtype"));
        }
        let spec = ElementSpec::leaf(Spec::scalar(dtype));
        Ok(std::sync::Arc::new(RangeNode { start, stop, step, dtype, spec }))
    }

    fn count(&self) -> u64 {
        let span = i128::from(self.stop) - i128::from(self.start);
        let step = i128::from(self.step);
        let count =
            if (span > 0) == (step > 0) { (span.abs() + step.abs() - 1) / step.abs() } else { 0 };
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

impl Node for RangeNode {
    fn name(&self) -> &'static str {
        "range"
    }

    fn args(&self) -> Vec<Arg> {
        vec![
            Arg::new("start", self.start),
            Arg::new("stop", self.stop),
            Arg::new("step", self.step),
            Arg::new("output_type", self.dtype),
        ]
    }

    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Known(self.count())
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn open(&self, _opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let (next, left) = (self.start, self.count());
        Ok(Box::new(RangeStage { next, left, step: self.step, dtype: self.dtype }))
    }
}

/// How many values are counted on side by side.
const LANES: usize = 8;

struct RangeStage {
    next: i64,
    left: u64,
    step: i64,
    dtype: DType,
}

impl RangeStage {
    fn advance(&mut self, rows: u64) {
        self.left -= rows;
        self.next = self.next.wrapping_add(self.step.wrapping_mul(rows as i64));
    }

    fn column<T: Element>(&self, rows: usize, from: impl Fn(i64) -> T) -> Result<Column> {
        let mut out = crate::data::BufferMut::scratch(rows * size_of::<T>())?;
        // Several values side by side, each so many steps from its last: the processor adds them at
        // once, where a product would cost more than all the rest.
        let mut values: [i64; LANES] =
            std::array::from_fn(|lane| self.next.wrapping_add(self.step.wrapping_mul(lane as i64)));
        let stride = self.step.wrapping_mul(LANES as i64);
        let (groups, rest) = out.typed_mut::<T>().as_chunks_mut::<LANES>();
        for group in groups {
            for (out, value) in group.iter_mut().zip(&mut values) {
                *out = from(*value);
                *value = value.wrapping_add(stride);
            }
        }
        for (out, value) in rest.iter_mut().zip(values) {
            *out = from(value);
        }
        let dims = [rows][..].into();
        Ok(Column::Stacked(Tensor::fixed(self.dtype, dims, out.freeze())?))
    }
}

impl Stage for RangeStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let rows = self.left.min(max as u64) as usize;
        if rows == 0 {
            return Ok(None);
        }
        let column = match self.dtype {
            DType::Int8 => self.column(rows, |x| x as i8),
            DType::Int16 => self.column(rows, |x| x as i16),
            DType::Int32 => self.column(rows, |x| x as i32),
            DType::UInt8 => self.column(rows, |x| x as u8),
            DType::UInt16 => self.column(rows, |x| x as u16),
            DType::UInt32 => self.column(rows, |x| x as u32),
            DType::UInt64 => self.column(rows, |x| x as u64),
            DType::Float16 => self.column(rows, |x| f16::from_f64(x as f64)),
            DType::BFloat16 => self.column(rows, |x| bf16::from_f32(x as f32)),
            DType::Complex64 => self.column(rows, |x| Complex::new(x as f32, 0.0)),
            DType::Complex128 => self.column(rows, |x| Complex::new(x as f64, 0.0)),
            DType::Float32 => self.column(rows, |x| x as f32),
            DType::Float64 => self.column(rows, |x| x as f64),
            _ => self.column(rows, |x| x),
        }?;
        self.advance(rows as u64);
        Chunk::of_column(column).map(Some)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let skipped = n.min(self.left);
        self.advance(skipped);
        Ok(skipped)
    }

    fn quiet(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(start: i64, stop: i64, step: i64) -> u64 {
        let plan = RangeNode::plan(start, stop, step, DType::Int64).unwrap();
        plan.cardinality().known().unwrap()
    }

    #[test]
    fn counts_are_pythons() {
        assert_eq!(count(0, 10, 3), 4);
        assert_eq!(count(10, 0, -3), 4);
        assert_eq!(count(0, 10, -1), 0);
        assert_eq!(count(5, 5, 1), 0);
        assert_eq!(count(i64::MIN, i64::MAX, 1), u64::MAX);
    }
}
