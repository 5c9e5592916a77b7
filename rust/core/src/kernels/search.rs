//! Counting and finding: `argwhere`, `bincount`, `searchsorted`.

use std::sync::Arc;

use crate::data::{Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{Bool, cast_tensor, dense, inputs, scratch};
use crate::kernels::dispatch::with_type;
use crate::kernels::fancy::places_of_true;
use crate::kernels::order::Ordered;
use crate::kernels::places::{bounded, by_row, room};

/// The indices of all values that are not zero or empty, int64 `[n, rank]`.
#[derive(Debug)]
struct ArgWhere;

/// How often each number from 0 on is there; with a second input, the sums of its values.
#[derive(Debug)]
struct BinCount {
    least: usize,
    /// Numbers from here on are not counted.
    most: Option<usize>,
    dtype: DType,
}

/// Where values belong in sorted ones.
#[derive(Debug)]
struct SearchSorted {
    right: bool,
    /// For each row of the sorted values those of the same row, along the last axis.
    rows: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    match op {
        "argwhere" => {
            attrs.only(&[])?;
            Ok(Some(Arc::new(ArgWhere)))
        }
        "bincount" => {
            attrs.only(&["minlength", "maxlength", "dtype"])?;
            let length = |name: &str| match attrs.opt_int(name)? {
                None => Ok(None),
                Some(length) => usize::try_from(length).map(Some).map_err(|_| {
                    Error::invalid_argument(format!("'{name}' must not be negative, got {length}"))
                }),
            };
            let least = length("minlength")?.unwrap_or(0);
            let dtype = attrs.opt_dtype("dtype")?.unwrap_or(DType::Int64);
            if dtype.is_text() || dtype == DType::Bool {
                return Err(Error::invalid_argument(format!("cannot count in {dtype}")));
            }
            Ok(Some(Arc::new(BinCount { least, most: length("maxlength")?, dtype })))
        }
        "searchsorted" => {
            attrs.only(&["right", "rows"])?;
            let (right, rows) = (attrs.bool_or("right", false)?, attrs.bool_or("rows", false)?);
            Ok(Some(Arc::new(SearchSorted { right, rows })))
        }
        _ => Ok(None),
    }
}

/// The truth of each value.
fn truth(x: &Tensor) -> Result<Tensor> {
    if x.dtype().is_text() {
        let values: Vec<Bool> =
            x.strings()?.iter().map(|value| Bool(u8::from(!value.is_empty()))).collect();
        return Tensor::from_values(x.dims(), &values);
    }
    cast_tensor(x, DType::Bool)
}

impl Kernel for ArgWhere {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (_, shape) = dense(spec)?;
        Ok(vec![Spec::tensor(DType::Int64, [None, shape.rank()])])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        by_row(args, rows, |row| {
            let mask = truth(&row[0])?;
            let rank = mask.dims().len();
            if rank == 0 {
                let count = mask.values::<u8>()?.iter().filter(|value| **value != 0).count();
                return Ok([Tensor::zeros(DType::Int64, [count, 0][..].into())?]);
            }
            let axes = places_of_true(&mask)?;
            let axes: Vec<&[i64]> = axes.iter().map(Tensor::values).collect::<Result<_>>()?;
            let count = axes[0].len();
            let mut indices = room(count.saturating_mul(rank))?;
            for at in 0..count {
                indices.extend(axes.iter().map(|axis| axis[at]));
            }
            Ok([Tensor::from_values(&[count, rank], &indices)?])
        })
    }
}

impl BinCount {
    fn one(&self, x: &Tensor, weights: Option<&Tensor>) -> Result<Tensor> {
        let values = cast_tensor(x, DType::Int64)?;
        let values = values.values::<i64>()?;
        let least = values.iter().min().copied().unwrap_or(0);
        if least < 0 {
            let text = format!("values to count must be non-negative, got {least}");
            return Err(Error::invalid_argument(text));
        }
        let largest =
            values.iter().max().map_or(0, |largest| (*largest as usize).saturating_add(1));
        let count =
            self.most.map_or(largest.max(self.least), |most| largest.max(self.least).min(most));
        bounded(&[count], Some(8))?;
        let Some(weights) = weights else {
            let mut counts: Vec<i64> = room(count)?;
            counts.resize(count, 0);
            for value in values {
                if let Some(count) = counts.get_mut(*value as usize) {
                    *count += 1;
                }
            }
            return cast_tensor(&Tensor::from_values(&[count], &counts)?, self.dtype);
        };
        if weights.dims() != x.dims() {
            return Err(Error::invalid_argument(
                "The weights and list don't have the same length.",
            ));
        }
        let weights = cast_tensor(weights, DType::Float64)?;
        let mut sums: Vec<f64> = room(count)?;
        sums.resize(count, 0.0);
        for (value, weight) in values.iter().zip(weights.values::<f64>()?) {
            if let Some(sum) = sums.get_mut(*value as usize) {
                *sum += weight;
            }
        }
        cast_tensor(&Tensor::from_values(&[count], &sums)?, self.dtype)
    }
}

impl Kernel for BinCount {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let (x, weights) = match specs {
            [x] => (x, None),
            [x, weights] => (x, Some(weights)),
            _ => return Err(Error::invalid_argument("expected one or two inputs")),
        };
        if !dense(x)?.0.is_integer() {
            return Err(Error::invalid_argument(format!(
                "values to count must be integers, got {x}"
            )));
        }
        if let Some(weights) = weights
            && dense(weights)?.0.is_text()
        {
            return Err(Error::invalid_argument(format!("weights must be numbers, got {weights}")));
        }
        Ok(vec![Spec::tensor(self.dtype, [None])])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        by_row(args, rows, |row| Ok([self.one(&row[0], row.get(1))?]))
    }
}

impl SearchSorted {
    /// Fills `out` with the places of `values` in `sorted`.
    fn search<T: Ordered>(&self, sorted: &[T], values: &[T], out: &mut [i64]) {
        for (out, value) in out.iter_mut().zip(values) {
            *out = sorted.partition_point(|other| match self.right {
                true => other.order(value).is_le(),
                false => other.order(value).is_lt(),
            }) as i64;
        }
    }

    fn tables<T: Ordered>(&self, sorted: &[T], values: &[T], tables: usize, out: &mut [i64]) {
        if tables == 0 || values.is_empty() {
            return;
        }
        let (size, count) = (sorted.len() / tables, values.len() / tables);
        for table in 0..tables {
            let sorted = &sorted[table * size..(table + 1) * size];
            let range = table * count..(table + 1) * count;
            self.search(sorted, &values[range.clone()], &mut out[range]);
        }
    }
}

impl Kernel for SearchSorted {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [sorted, values] = inputs(specs)?;
        let ((dtype, sorted), (other, values)) = (dense(sorted)?, dense(values)?);
        if dtype != other {
            let text = format!("cannot search {dtype} for {other}: cast one of them");
            return Err(Error::invalid_argument(text));
        }
        match (sorted.dims(), values.dims()) {
            (Some(sorted), _) if !self.rows && sorted.len() != 1 => {
                Err(Error::invalid_argument("the sorted values must be one-dimensional"))
            }
            (Some(sorted), Some(values))
                if self.rows && (sorted.is_empty() || sorted.len() != values.len()) =>
            {
                Err(Error::invalid_argument("the sorted values and values must have one rank"))
            }
            _ => Ok(vec![Spec::Tensor { dtype: DType::Int64, shape: values.clone() }]),
        }
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [sorted, values] = inputs(args)?;
        let (own, wanted) = (sorted.row_dims()?, values.row_dims()?);
        let (own, wanted): (Dims, Dims) = (own.into(), wanted.into());
        if self.rows && own[..own.len() - 1] != wanted[..wanted.len() - 1] {
            return Err(Error::invalid_argument(format!(
                "leading dim_size of both tensors must match: {} and {}",
                PartialShape::from(&own[..]),
                PartialShape::from(&wanted[..])
            )));
        }
        let batches: usize = if self.rows { own[..own.len() - 1].iter().product() } else { 1 };
        let (table, row) = (own.iter().product::<usize>(), wanted.iter().product::<usize>());
        let dims: Dims = std::iter::once(rows).chain(wanted).collect();
        let mut out = scratch::<i64>(rows * row)?;
        let (x, v) = (sorted.tensor()?, values.tensor()?);
        let places = out.typed_mut::<i64>();
        let part = |arg: &Arg, at: usize, size: usize| {
            let start = if arg.is_const() { 0 } else { at * size };
            start..start + size
        };
        if x.dtype().is_text() {
            let all: (Vec<&[u8]>, Vec<&[u8]>) =
                (x.strings()?.iter().collect(), v.strings()?.iter().collect());
            for at in 0..rows {
                let out = &mut places[at * row..(at + 1) * row];
                let (x, v) = (&all.0[part(sorted, at, table)], &all.1[part(values, at, row)]);
                self.tables(x, v, batches, out);
            }
        } else {
            let unknown = || Error::internal(format!("searchsorted does not take {}", x.dtype()));
            with_type!(x.dtype(), T: [bool, int, float, complex] => {
                let all = (x.values::<T>()?, v.values::<T>()?);
                for at in 0..rows {
                    let out = &mut places[at * row..(at + 1) * row];
                    let (x, v) = (&all.0[part(sorted, at, table)], &all.1[part(values, at, row)]);
                    self.tables(x, v, batches, out);
                }
            }, else return Err(unknown()));
        }
        Ok(vec![Column::Stacked(Tensor::fixed(DType::Int64, dims, out.freeze())?)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(values: &[i64], bins: &BinCount) -> Result<Vec<i64>> {
        let x = Tensor::from_values(&[values.len()], values)?;
        Ok(bins.one(&x, None)?.values::<i64>()?.to_vec())
    }

    #[test]
    fn numbers_are_counted_within_bounds() {
        let bins = |least, most| BinCount { least, most, dtype: DType::Int64 };
        assert_eq!(count(&[1, 3, 1], &bins(0, None)).unwrap(), [0, 2, 0, 1]);
        assert_eq!(count(&[1, 3, 1], &bins(6, None)).unwrap(), [0, 2, 0, 1, 0, 0]);
        assert_eq!(count(&[1, 3, 1], &bins(0, Some(2))).unwrap(), [0, 2]);
        assert!(count(&[-1], &bins(0, None)).is_err());
        assert!(count(&[i64::MAX - 1], &bins(0, None)).is_err());
    }

    #[test]
    fn nan_belongs_at_the_end() {
        let search = SearchSorted { right: false, rows: false };
        let mut out = [0; 3];
        search.search(&[1.0, 2.0, f64::NAN], &[2.0, f64::NAN, 0.0], &mut out);
        assert_eq!(out, [1, 2, 0]);
    }
}
