//! `index`: NumPy's indexing with arrays, mixed with slices, axes and an ellipsis.
//!
//! Arrays of integers and boolean masks are inputs, one for each `"i"` in the key. Their axes take
//! the place of the first of them if they stand side by side, else they come first. An `"i"` may
//! also be the start, stop or step of a slice: a scalar.

use std::sync::Arc;

use crate::data::shape::{broadcast, volume};
use crate::data::{Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::{Attr, Attrs};
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{cast_tensor, dense};
use crate::kernels::elementwise::loops::broadcast_partial;
use crate::kernels::index::{Item, normal_index, parse_item, range};
use crate::kernels::places::{by_row, each_index, pick, room};
use crate::kernels::strided::Walk;

#[derive(Clone, Copy, Debug)]
enum Part {
    Basic(Item),
    /// The input of this number.
    Array(usize),
    /// A slice of which inputs give some of start, stop and step.
    Cut([Bound; 3]),
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    Static(Option<i64>),
    Input(usize),
}

impl Bound {
    fn value(self, inputs: &[Tensor]) -> Result<Option<i64>> {
        match self {
            Bound::Static(value) => Ok(value),
            Bound::Input(input) => {
                let scalar = cast_tensor(&inputs[input - 1], DType::Int64)?;
                match scalar.values::<i64>()? {
                    [value] => Ok(Some(*value)),
                    _ => Err(Error::invalid_argument("the ends of a slice must be scalars")),
                }
            }
        }
    }
}

/// A part of a key; `count` is how many inputs it and those before it take.
fn parse(attr: &Attr, count: &mut usize) -> Result<Part> {
    let is_input = |attr: &Attr| matches!(attr, Attr::Str(text) if text == "i");
    let mut next = || {
        *count += 1;
        *count
    };
    match attr {
        attr if is_input(attr) => Ok(Part::Array(next())),
        Attr::List(items) if items.len() == 3 && items.iter().any(is_input) => {
            let mut bounds = [Bound::Static(None); 3];
            for (bound, item) in bounds.iter_mut().zip(items) {
                *bound = match item {
                    Attr::None => Bound::Static(None),
                    Attr::Int(value) => Bound::Static(Some(*value)),
                    item if is_input(item) => Bound::Input(next()),
                    other => return Err(Error::invalid_argument(format!("{other} is no index"))),
                };
            }
            Ok(Part::Cut(bounds))
        }
        other => Ok(Part::Basic(parse_item(other)?)),
    }
}

#[derive(Debug)]
struct Index {
    key: Vec<Part>,
    arrays: usize,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "index" {
        return Ok(None);
    }
    attrs.only(&["key"])?;
    let mut arrays = 0;
    let key = attrs.list("key")?.iter().map(|attr| parse(attr, &mut arrays));
    let key: Vec<Part> = key.collect::<Result<_>>()?;
    let dots = key.iter().filter(|part| matches!(part, Part::Basic(Item::Ellipsis))).count();
    if dots > 1 {
        let text = "an index can only have a single ellipsis ('...')";
        return Err(Error::invalid_argument(text));
    }
    Ok(Some(Arc::new(Index { key, arrays })))
}

/// What an array does: take one axis by integers, or as many as it has by truth.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Integers,
    Mask(usize),
}

impl Kind {
    fn axes(self) -> usize {
        match self {
            Kind::Integers => 1,
            Kind::Mask(axes) => axes,
        }
    }
}

/// One step through the axes of the array.
#[derive(Clone, Copy, Debug)]
enum Step {
    NewAxis,
    Range {
        axis: usize,
        start: Option<i64>,
        stop: Option<i64>,
        step: i64,
    },
    Number {
        axis: usize,
        index: i64,
    },
    Array {
        axis: usize,
        input: usize,
    },
    /// A slice whose ends are not known yet.
    Unknown,
}

impl Index {
    /// The key with a step for each axis, and whether the axes of the arrays come first.
    fn steps(&self, rank: usize, kinds: &[Kind]) -> Result<(Vec<Step>, bool)> {
        let taken = |part: &Part| match part {
            Part::Basic(Item::Index(_) | Item::Range(..)) => 1,
            Part::Cut(_) => 1,
            Part::Basic(_) => 0,
            Part::Array(input) => kinds[input - 1].axes(),
        };
        let count: usize = self.key.iter().map(taken).sum();
        let Some(whole) = rank.checked_sub(count) else {
            return Err(Error::invalid_argument(format!(
                "too many indices for array: array is {rank}-dimensional, but {count} were indexed"
            )));
        };
        let mut steps = Vec::new();
        let mut axis = 0;
        let fill = |steps: &mut Vec<Step>, axis: &mut usize| {
            for _ in 0..whole {
                steps.push(Step::Range { axis: *axis, start: None, stop: None, step: 1 });
                *axis += 1;
            }
        };
        let (mut dots, mut runs, mut within) = (false, 0, false);
        for part in &self.key {
            let advanced = matches!(part, Part::Array(_) | Part::Basic(Item::Index(_)));
            runs += usize::from(advanced && !within);
            within = advanced;
            match *part {
                Part::Basic(Item::NewAxis) => steps.push(Step::NewAxis),
                Part::Basic(Item::Ellipsis) => {
                    fill(&mut steps, &mut axis);
                    dots = true;
                }
                Part::Basic(Item::Index(index)) => steps.push(Step::Number { axis, index }),
                Part::Basic(Item::Range(start, stop, step)) => {
                    steps.push(Step::Range { axis, start, stop, step });
                }
                Part::Array(input) => steps.push(Step::Array { axis, input: input - 1 }),
                Part::Cut(_) => steps.push(Step::Unknown),
            }
            axis += taken(part);
        }
        if !dots {
            fill(&mut steps, &mut axis);
        }
        Ok((steps, runs > 1))
    }

    fn rule(
        &self,
        x: &[Option<usize>],
        arrays: &[(Kind, PartialShape)],
    ) -> Result<Option<Vec<Option<usize>>>> {
        let kinds: Vec<Kind> = arrays.iter().map(|(kind, _)| *kind).collect();
        let (steps, first) = self.steps(x.len(), &kinds)?;
        let mut both = PartialShape::scalar();
        for (kind, shape) in arrays {
            let own = match kind {
                Kind::Integers => shape.clone(),
                Kind::Mask(_) => PartialShape::new([None]),
            };
            both = broadcast_partial(&both, &own)?;
        }
        let Some(both) = both.dims() else { return Ok(None) };
        let mut dims: Vec<Option<usize>> = if first { both.to_vec() } else { Vec::new() };
        let mut placed = first;
        for step in steps {
            match step {
                Step::NewAxis => dims.push(Some(1)),
                Step::Unknown => dims.push(None),
                Step::Range { axis, start, stop, step } => {
                    dims.push(x[axis].map(|size| range(start, stop, step, size).1));
                }
                Step::Number { .. } | Step::Array { .. } => {
                    if !std::mem::replace(&mut placed, true) {
                        dims.extend_from_slice(both);
                    }
                }
            }
        }
        Ok(Some(dims))
    }

    /// The same key with the ends of slices that inputs give.
    fn with_ends(&self, inputs: &[Tensor]) -> Result<Index> {
        let part = |part: &Part| match part {
            Part::Cut([start, stop, step]) => match step.value(inputs)?.unwrap_or(1) {
                0 => Err(Error::invalid_argument("slice step cannot be zero")),
                step => {
                    let (start, stop) = (start.value(inputs)?, stop.value(inputs)?);
                    Ok(Part::Basic(Item::Range(start, stop, step)))
                }
            },
            other => Ok(*other),
        };
        let key = self.key.iter().map(part).collect::<Result<_>>()?;
        Ok(Index { key, arrays: self.arrays })
    }

    /// The result for one row of values.
    fn one(&self, x: &Tensor, arrays: &[Tensor]) -> Result<Tensor> {
        let known = self.with_ends(arrays)?;
        let arrays = unmasked(x.dims(), &known, arrays)?;
        let kinds: Vec<Kind> = arrays.iter().map(|array| array.kind).collect();
        let (steps, first) = known.steps(x.dims().len(), &kinds)?;
        let plain = Walk::plain(x.dims());
        let mut both = Dims::new();
        for places in arrays.iter().flat_map(|array| &array.places) {
            both = broadcast(&both, places.dims()).map_err(|_| mismatch(&arrays))?;
        }
        // How far each index of the arrays' common shape lies from the first value.
        let mut far: Vec<isize> = vec![0; volume(&both)?];
        let mut before: Vec<(usize, isize)> = Vec::new();
        let mut after: Vec<(usize, isize)> = Vec::new();
        let (mut start, mut placed) = (0_isize, first);
        for step in steps {
            let slot = if placed { &mut after } else { &mut before };
            match step {
                Step::NewAxis => slot.push((1, 0)),
                Step::Unknown => return Err(Error::internal("a slice without ends")),
                Step::Range { axis, start: from, stop, step } => {
                    let (from, count) = range(from, stop, step, x.dims()[axis]);
                    if count > 0 {
                        start += from as isize * plain.strides[axis];
                    }
                    slot.push((count, plain.strides[axis].wrapping_mul(step as isize)));
                }
                Step::Number { axis, index } => {
                    placed = true;
                    start +=
                        normal_index(index, axis, x.dims()[axis])? as isize * plain.strides[axis];
                }
                Step::Array { axis, input } => {
                    placed = true;
                    for (k, places) in arrays[input].places.iter().enumerate() {
                        add(
                            &mut far,
                            &both,
                            places,
                            axis + k,
                            x.dims()[axis + k],
                            plain.strides[axis + k],
                        )?;
                    }
                }
            }
        }
        let dims: Dims = before
            .iter()
            .map(|(count, _)| *count)
            .chain(both.iter().copied())
            .chain(after.iter().map(|(count, _)| *count))
            .collect();
        let count = volume(&dims)?;
        if count == 0 {
            return Tensor::zeros(x.dtype(), dims);
        }
        // The innermost axes that are taken whole are copied at once.
        let mut run = 1;
        while let Some((count, stride)) = after.last() {
            let axis = x.dims().iter().rev().scan(1, |size, dim| {
                let own = (*dim, *size);
                *size *= dim;
                Some(own)
            });
            let whole = axis.into_iter().any(|(dim, size)| dim == *count && size == run);
            if *stride != run as isize || !whole || *count == 1 {
                break;
            }
            run *= count;
            after.pop();
        }
        let mut places = room(count / run)?;
        let sizes = |axes: &[(usize, isize)]| axes.iter().map(|(n, _)| *n).collect::<Dims>();
        let at = |axes: &[(usize, isize)], index: &[usize]| -> isize {
            axes.iter().zip(index).map(|((_, stride), at)| stride * *at as isize).sum()
        };
        each_index(&sizes(&before), |outer| {
            let outer = start + at(&before, outer);
            for far in &far {
                each_index(&sizes(&after), |inner| {
                    places.push((outer + far + at(&after, inner)) as usize / run);
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        pick(x, &places, run, dims)
    }
}

/// One array of a key: integers for each axis that it takes.
struct Places {
    kind: Kind,
    places: Vec<Tensor>,
}

fn mismatch(arrays: &[Places]) -> Error {
    let shape = |tensor: &Tensor| PartialShape::from(tensor.dims()).to_string();
    let shapes: Vec<String> = arrays.iter().flat_map(|a| a.places.iter().map(shape)).collect();
    Error::invalid_argument(format!(
        "shape mismatch: indexing arrays could not be broadcast together with shapes {}",
        shapes.join(" ")
    ))
}

/// The arrays with masks turned into the places where they are true.
fn unmasked(dims: &[usize], key: &Index, arrays: &[Tensor]) -> Result<Vec<Places>> {
    let kind = |array: &Tensor| match array.dtype() {
        DType::Bool => Kind::Mask(array.dims().len()),
        _ => Kind::Integers,
    };
    let kinds: Vec<Kind> = arrays.iter().map(kind).collect();
    let steps = key.steps(dims.len(), &kinds)?.0;
    let mut found = Vec::with_capacity(arrays.len());
    for (input, (array, kind)) in arrays.iter().zip(kinds).enumerate() {
        let places = match kind {
            Kind::Integers => vec![cast_tensor(array, DType::Int64)?],
            Kind::Mask(_) => {
                let axis = steps.iter().find_map(|step| match step {
                    Step::Array { axis, input: own } if *own == input => Some(*axis),
                    _ => None,
                });
                let axis = axis.unwrap_or(0);
                for (k, size) in array.dims().iter().enumerate() {
                    if dims[axis + k] != *size {
                        return Err(Error::invalid_argument(format!(
                            "boolean index did not match indexed array along axis {}; size of axis \
                             is {} but size of corresponding boolean axis is {size}",
                            axis + k,
                            dims[axis + k]
                        )));
                    }
                }
                places_of_true(array)?
            }
        };
        found.push(Places { kind, places });
    }
    Ok(found)
}

/// For each axis where a mask is true.
pub(crate) fn places_of_true(mask: &Tensor) -> Result<Vec<Tensor>> {
    let values = mask.values::<u8>()?;
    let count = values.iter().filter(|value| **value != 0).count();
    let mut places: Vec<Vec<i64>> = Vec::new();
    for _ in mask.dims() {
        places.push(room(count)?);
    }
    let mut at = values.iter();
    each_index(mask.dims(), |index| {
        if at.next().is_some_and(|value| *value != 0) {
            for (places, at) in places.iter_mut().zip(index) {
                places.push(*at as i64);
            }
        }
        Ok(())
    })?;
    places.iter().map(|places| Tensor::from_values(&[places.len()], places)).collect()
}

/// Adds the places along an axis, broadcast to `dims`, to how far each index lies.
fn add(
    far: &mut [isize],
    dims: &[usize],
    places: &Tensor,
    axis: usize,
    size: usize,
    stride: isize,
) -> Result<()> {
    let (values, own) = (places.values::<i64>()?, places.dims());
    let lead = dims.len() - own.len();
    let mut far = far.iter_mut();
    each_index(dims, |index| {
        let at = index[lead..]
            .iter()
            .zip(own)
            .fold(0, |sum, (at, dim)| sum * dim + if *dim == 1 { 0 } else { *at });
        if let Some(far) = far.next() {
            *far += normal_index(values[at], axis, size)? as isize * stride;
        }
        Ok(())
    })
}

impl Kernel for Index {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let Some((x, arrays)) = specs.split_first().filter(|(_, a)| a.len() == self.arrays) else {
            return Err(Error::invalid_argument(format!("expected {} arrays", self.arrays)));
        };
        let (dtype, shape) = dense(x)?;
        let mut found = Vec::new();
        for spec in arrays {
            let (kind, shape) = dense(spec)?;
            let kind = match (kind, shape.rank()) {
                (DType::Bool, Some(rank)) => Kind::Mask(rank),
                (DType::Bool, None) => {
                    return Err(Error::invalid_argument("a mask must be of known rank"));
                }
                (kind, _) if kind.is_integer() => Kind::Integers,
                _ => {
                    let text = "arrays used as indices must be of integer (or boolean) type";
                    return Err(Error::invalid_argument(text));
                }
            };
            found.push((kind, shape.clone()));
        }
        let dims = match shape.dims() {
            Some(dims) => self.rule(dims, &found)?,
            None => None,
        };
        let shape = dims.map_or(PartialShape::UNKNOWN, PartialShape::new);
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        by_row(args, rows, |row| Ok([self.one(&row[0], &row[1..])?]))
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(key: &[Attr], x: &Tensor, arrays: &[Tensor]) -> Result<Tensor> {
        let attrs = Attrs::from([("key", Attr::List(key.to_vec()))]);
        let kernel = super::super::build("index", &attrs)?;
        let args: Vec<Arg> = [x].into_iter().chain(arrays).cloned().map(Arg::Const).collect();
        let columns = kernel.run(&args, 1, &[Wanted::All])?;
        match columns[0].row(0)? {
            crate::data::Value::Tensor(tensor) => Ok(tensor),
            _ => Err(Error::internal("not dense")),
        }
    }

    #[test]
    fn axes_of_arrays_that_stand_apart_come_first() {
        let x = Tensor::from_values(&[2, 3, 4], &(0..24).collect::<Vec<i32>>()).unwrap();
        let at = Tensor::from_values(&[5], &[0_i64, 1, 0, -1, 1]).unwrap();
        let (i, all) =
            (Attr::Str("i".into()), Attr::List(vec![Attr::None, Attr::None, Attr::None]));
        let side = index(&[all.clone(), i.clone(), i.clone()], &x, &[at.clone(), at.clone()]);
        assert_eq!(side.unwrap().dims(), [2, 5]);
        let apart = index(&[i.clone(), all, i.clone()], &x, &[at.clone(), at.clone()]).unwrap();
        assert_eq!(apart.dims(), [5, 3]);
        assert_eq!(apart.values::<i32>().unwrap()[3..6], [13, 17, 21]);
        assert!(index(&[i.clone(), i.clone(), i.clone(), i], &x, &vec![at; 4]).is_err());
    }

    #[test]
    fn masks_count_for_as_many_axes_as_they_have() {
        let x = Tensor::from_values(&[2, 2, 2], &(0..8).collect::<Vec<i32>>()).unwrap();
        let mask =
            cast_tensor(&Tensor::from_values(&[2, 2], &[1_u8, 0, 0, 1]).unwrap(), DType::Bool);
        let picked = index(&[Attr::Str("i".into())], &x, &[mask.unwrap()]).unwrap();
        assert_eq!(picked.values::<i32>().unwrap(), [0, 1, 6, 7]);
    }
}
