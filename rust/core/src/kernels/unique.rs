//! Equal values: `unique` and `isin`.

use std::cmp::Ordering;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::data::shape::volume;
use crate::data::{Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{Bool, dense, inputs, map_flat};
use crate::kernels::dispatch::with_type;
use crate::kernels::order::Ordered;
use crate::kernels::places::{by_row, pick, room};
use crate::kernels::shape::normal_axis;
use crate::kernels::strided::Walk;

/// Which values there are: outputs values, the place of the first of each, for each input value
/// the number of its equal, and how many there are of each.
#[derive(Debug)]
struct Unique {
    /// Ascending as in NumPy; else in the order in which they come.
    sorted: bool,
    /// NaN is equal to NaN.
    equal_nan: bool,
    /// What is compared are the slices along this axis; all values one by one if `None`.
    axis: Option<i64>,
}

/// Whether each value of the first input is among those of the second.
#[derive(Debug)]
struct IsIn;

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    match op {
        "unique" => {
            attrs.only(&["sorted", "equal_nan", "axis"])?;
            let sorted = attrs.bool_or("sorted", true)?;
            let equal_nan = attrs.bool_or("equal_nan", true)?;
            let axis = attrs.opt_int("axis")?;
            Ok(Some(Arc::new(Unique { sorted, equal_nan, axis })))
        }
        "isin" => {
            attrs.only(&[])?;
            Ok(Some(Arc::new(IsIn)))
        }
        _ => Ok(None),
    }
}

/// Groups of equal values: the place of the first of each, and for each value its group.
fn group<T: Ordered>(values: &[T], equal_nan: bool) -> Result<(Vec<usize>, Vec<i64>)> {
    group_by(
        values.len(),
        |a, b| values[a].order(&values[b]),
        |at| equal_nan || !values[at].is_unordered(),
    )
}

/// As [`group`] for slices of `run` values, which compare by their first difference.
fn group_slices<T: Ordered>(
    values: &[T],
    run: usize,
    count: usize,
    equal_nan: bool,
) -> Result<(Vec<usize>, Vec<i64>)> {
    let slice = |at: usize| &values[at * run..(at + 1) * run];
    group_by(
        count,
        |a, b| slice(a).iter().map(|value| value.key()).cmp(slice(b).iter().map(|v| v.key())),
        |at| equal_nan || !slice(at).iter().any(Ordered::is_unordered),
    )
}

fn group_by(
    count: usize,
    compare: impl Fn(usize, usize) -> Ordering,
    is_equal_to_itself: impl Fn(usize) -> bool,
) -> Result<(Vec<usize>, Vec<i64>)> {
    let mut order: Vec<usize> = room(count)?;
    order.extend(0..count);
    order.sort_by(|a, b| compare(*a, *b));
    let mut firsts = Vec::new();
    let mut groups = room(count)?;
    groups.resize(count, 0);
    let mut last: Option<usize> = None;
    for at in order {
        let same = last.is_some_and(|last| compare(last, at).is_eq() && is_equal_to_itself(at));
        if !same {
            firsts.push(at);
        }
        last = Some(at);
        groups[at] = firsts.len() as i64 - 1;
    }
    Ok((firsts, groups))
}

/// Numbers the groups by the place of their first value.
fn as_they_come(firsts: &mut [usize], groups: &mut [i64]) {
    let mut order: Vec<usize> = (0..firsts.len()).collect();
    order.sort_by_key(|group| firsts[*group]);
    let mut renamed = vec![0; firsts.len()];
    for (new, old) in order.iter().enumerate() {
        renamed[*old] = new as i64;
    }
    groups.iter_mut().for_each(|group| *group = renamed[*group as usize]);
    firsts.sort_unstable();
}

/// As [`group`] and [`as_they_come`] for text, without sorting.
fn group_text<'a>(values: impl Iterator<Item = &'a [u8]>) -> (Vec<usize>, Vec<i64>) {
    let mut seen: HashMap<&[u8], i64> = HashMap::new();
    let (mut firsts, mut groups) = (Vec::new(), Vec::new());
    for (at, value) in values.enumerate() {
        let count = seen.len() as i64;
        groups.push(*seen.entry(value).or_insert_with(|| {
            firsts.push(at);
            count
        }));
    }
    (firsts, groups)
}

impl Unique {
    fn one(&self, x: &Tensor) -> Result<[Tensor; 4]> {
        if let Some(axis) = self.axis {
            return self.slices(x, normal_axis(axis, x.dims().len())?);
        }
        let unknown = || Error::internal(format!("unique does not take {}", x.dtype()));
        let (mut firsts, mut groups) = if x.dtype().is_text() {
            match self.sorted {
                true => group(&x.strings()?.iter().collect::<Vec<_>>(), true)?,
                false => group_text(x.strings()?.iter()),
            }
        } else {
            with_type!(x.dtype(), T: [bool, int, float, complex] => {
                group(x.values::<T>()?, self.equal_nan)?
            }, else return Err(unknown()))
        };
        if !self.sorted {
            as_they_come(&mut firsts, &mut groups);
        }
        let dims = [firsts.len()];
        let values = pick(x, &firsts, 1, dims[..].into())?;
        with_places(values, &firsts, &groups, x.dims())
    }

    /// The different slices along an axis.
    fn slices(&self, x: &Tensor, axis: usize) -> Result<[Tensor; 4]> {
        let mut walk = Walk::plain(x.dims());
        let (count, stride) = (walk.dims.remove(axis), walk.strides.remove(axis));
        walk.dims.insert(0, count);
        walk.strides.insert(0, stride);
        let first = walk.collect(x)?;
        let run = volume(&first.dims()[1..])?;
        let unknown = || Error::internal(format!("unique does not take {}", x.dtype()));
        let (mut firsts, mut groups) = if x.dtype().is_text() {
            let values: Vec<&[u8]> = first.strings()?.iter().collect();
            group_slices(&values, run, count, true)?
        } else {
            with_type!(x.dtype(), T: [bool, int, float, complex] => {
                group_slices(first.values::<T>()?, run, count, self.equal_nan)?
            }, else return Err(unknown()))
        };
        if !self.sorted {
            as_they_come(&mut firsts, &mut groups);
        }
        let mut dims: Dims = first.dims().into();
        dims[0] = firsts.len();
        let found = pick(&first, &firsts, run, dims)?;
        let mut walk = Walk::plain(found.dims());
        let (count, stride) = (walk.dims.remove(0), walk.strides.remove(0));
        walk.dims.insert(axis, count);
        walk.strides.insert(axis, stride);
        with_places(walk.collect(&found)?, &firsts, &groups, &[groups.len()])
    }
}

/// The outputs, given the values found.
fn with_places(
    values: Tensor,
    firsts: &[usize],
    groups: &[i64],
    shape: &[usize],
) -> Result<[Tensor; 4]> {
    let mut counts = vec![0_i64; firsts.len()];
    groups.iter().for_each(|group| counts[*group as usize] += 1);
    let places: Vec<i64> = firsts.iter().map(|at| *at as i64).collect();
    Ok([
        values,
        Tensor::from_values(&[firsts.len()], &places)?,
        Tensor::from_values(shape, groups)?,
        Tensor::from_values(&[firsts.len()], &counts)?,
    ])
}

impl Kernel for Unique {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        let count = |dtype| Spec::tensor(dtype, [None]);
        let (values, inverse) = match (self.axis, shape.dims()) {
            (None, _) => (count(dtype), Spec::Tensor { dtype: DType::Int64, shape: shape.clone() }),
            (Some(_), None) => (Spec::Tensor { dtype, shape: shape.clone() }, count(DType::Int64)),
            (Some(axis), Some(dims)) => {
                let axis = normal_axis(axis, dims.len())?;
                let mut dims: Vec<_> = dims.to_vec();
                let inverse = Spec::tensor(DType::Int64, [dims[axis]]);
                dims[axis] = None;
                (Spec::Tensor { dtype, shape: PartialShape::new(dims) }, inverse)
            }
        };
        Ok(vec![values, count(DType::Int64), inverse, count(DType::Int64)])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        by_row(args, rows, |row| self.one(&row[0]))
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

impl IsIn {
    fn one(x: &Tensor, among: &Tensor) -> Result<Tensor> {
        let found: Vec<Bool> = if x.dtype().is_text() {
            let set: HashSet<&[u8]> = among.strings()?.iter().collect();
            x.strings()?.iter().map(|value| Bool(u8::from(set.contains(value)))).collect()
        } else {
            let unknown = || Error::internal(format!("isin does not take {}", x.dtype()));
            with_type!(x.dtype(), T: [bool, int, float, complex] => {
                let mut sorted = room(among.len())?;
                sorted.extend_from_slice(among.values::<T>()?);
                sorted.sort_by(Ordered::order);
                let is_in = |value: &T| {
                    let hit = sorted.binary_search_by(|other| other.order(value)).is_ok();
                    Bool(u8::from(hit && !value.is_unordered()))
                };
                x.values::<T>()?.iter().map(is_in).collect()
            }, else return Err(unknown()))
        };
        Tensor::from_values(x.dims(), &found)
    }
}

impl Kernel for IsIn {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [x, among] = inputs(specs)?;
        let ((dtype, shape), (other, _)) = (dense(x)?, dense(among)?);
        if dtype != other {
            let text = format!("cannot look for {dtype} among {other}: cast one of them");
            return Err(Error::invalid_argument(text));
        }
        Ok(vec![Spec::Tensor { dtype: DType::Bool, shape: shape.clone() }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [x, among] = inputs(args)?;
        if let Arg::Const(among) = among {
            return Ok(vec![map_flat(x, rows, |x| IsIn::one(x, among))?]);
        }
        by_row(args, rows, |row| Ok([IsIn::one(&row[0], &row[1])?]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_grouped() {
        let x = Tensor::from_values(&[2, 3], &[3_i32, 1, 3, 2, 1, 3]).unwrap();
        let [values, firsts, groups, counts] =
            Unique { sorted: true, equal_nan: true, axis: None }.one(&x).unwrap();
        assert_eq!(values.values::<i32>().unwrap(), [1, 2, 3]);
        assert_eq!(firsts.values::<i64>().unwrap(), [1, 3, 0]);
        assert_eq!(groups.values::<i64>().unwrap(), [2, 0, 2, 1, 0, 2]);
        assert_eq!(counts.values::<i64>().unwrap(), [2, 1, 3]);
        let [values, _, groups, _] =
            Unique { sorted: false, equal_nan: true, axis: None }.one(&x).unwrap();
        assert_eq!(values.values::<i32>().unwrap(), [3, 1, 2]);
        assert_eq!(groups.values::<i64>().unwrap(), [0, 1, 0, 2, 1, 0]);
    }

    #[test]
    fn nans_are_one_value_or_each_its_own() {
        let x = Tensor::from_values(&[3], &[f64::NAN, 1.0, f64::NAN]).unwrap();
        let count =
            |equal_nan| Unique { sorted: true, equal_nan, axis: None }.one(&x).unwrap()[0].len();
        assert_eq!((count(true), count(false)), (2, 3));
        let found = IsIn::one(&x, &x).unwrap();
        assert_eq!(found.values::<u8>().unwrap(), [0, 1, 0]);
    }

    #[test]
    fn slices_along_an_axis_are_grouped() {
        let x = Tensor::from_values(&[2, 3], &[5_i32, 1, 5, 0, 2, 0]).unwrap();
        let unique = Unique { sorted: true, equal_nan: false, axis: Some(-1) };
        let [values, firsts, groups, counts] = unique.one(&x).unwrap();
        assert_eq!(
            (values.dims(), values.values::<i32>().unwrap()),
            (&[2, 2][..], &[1, 5, 2, 0][..])
        );
        assert_eq!(firsts.values::<i64>().unwrap(), [1, 0]);
        assert_eq!(groups.values::<i64>().unwrap(), [1, 0, 1]);
        assert_eq!(counts.values::<i64>().unwrap(), [1, 2]);
        let nothing = Tensor::from_values::<i32>(&[3, 0], &[]).unwrap();
        let unique = Unique { axis: Some(0), ..unique };
        assert_eq!(unique.one(&nothing).unwrap()[0].dims(), [1, 0]);
    }

    #[test]
    fn text_is_grouped() {
        let values = crate::data::BytesArray::from_values(["b", "a", "b"]).unwrap();
        let x = Tensor::text(DType::Str, [3][..].into(), values).unwrap();
        for sorted in [true, false] {
            let [values, ..] = Unique { sorted, equal_nan: true, axis: None }.one(&x).unwrap();
            assert_eq!(values.strings().unwrap().get(0), if sorted { b"a" } else { b"b" });
        }
        assert_eq!(values_of(&IsIn::one(&x, &x).unwrap()), [1, 1, 1]);
    }

    fn values_of(tensor: &Tensor) -> &[u8] {
        tensor.values::<u8>().unwrap()
    }
}
