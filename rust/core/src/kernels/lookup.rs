//! `lookup`: the value of each key in a table (`tf.lookup.StaticHashTable`); `bitcast`: the same
//! bytes as another type.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::data::{BufferMut, Column, DType, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{cast_tensor, dense, inputs, map_flat};
use crate::kernels::places::{pick, room};
use crate::kernels::shape::stacked;

/// Where in the values each key's is.
#[derive(Debug)]
enum Table {
    Text(HashMap<Box<[u8]>, usize>),
    Whole(HashMap<i64, usize>),
}

#[derive(Debug)]
struct Lookup {
    keys: DType,
    table: Table,
    /// The value of each key, and at the end that of all others.
    values: Tensor,
}

#[derive(Debug)]
struct BitCast {
    to: DType,
    size: usize,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    match op {
        "lookup" => {
            attrs.only(&["keys", "values", "default"])?;
            let part = |name: &str| {
                let missing = || Error::invalid_argument(format!("a table needs its {name}"));
                attrs.opt_tensor(name)?.ok_or_else(missing)
            };
            let lookup = Lookup::new(part("keys")?, part("values")?, part("default")?)?;
            Ok(Some(Arc::new(lookup)))
        }
        "bitcast" => {
            attrs.only(&["dtype"])?;
            let to = attrs.dtype("dtype")?;
            let Some(size) = to.size().filter(|_| to != DType::Bool) else {
                return Err(Error::invalid_argument(format!("cannot bitcast to {to}")));
            };
            Ok(Some(Arc::new(BitCast { to, size })))
        }
        _ => Ok(None),
    }
}

impl Lookup {
    fn new(keys: &Tensor, values: &Tensor, default: &Tensor) -> Result<Self> {
        if keys.dims().len() != 1 || values.dims() != keys.dims() || !default.dims().is_empty() {
            return Err(Error::invalid_argument("a table needs as many values as keys"));
        }
        let table = if keys.dtype().is_text() {
            let places = keys.strings()?.iter().enumerate();
            Table::Text(places.map(|(at, key)| (Box::from(key), at)).collect())
        } else if matches!(keys.dtype(), DType::Int32 | DType::Int64) {
            let whole = cast_tensor(keys, DType::Int64)?;
            let places = whole.values::<i64>()?.iter().enumerate();
            Table::Whole(places.map(|(at, key)| (*key, at)).collect())
        } else {
            let text = format!("a table cannot have keys of {}", keys.dtype());
            return Err(Error::invalid_argument(text));
        };
        let one = default.clone().reshape([1][..].into())?;
        Ok(Lookup { keys: keys.dtype(), table, values: Tensor::concat(&[values, &one])? })
    }

    fn find(&self, x: &Tensor) -> Result<Tensor> {
        let none = self.values.len() - 1;
        let mut places: Vec<usize> = room(x.len())?;
        match &self.table {
            Table::Text(table) => {
                let find = |key: &[u8]| table.get(key).copied().unwrap_or(none);
                places.extend(x.strings()?.iter().map(find));
            }
            Table::Whole(table) => {
                let keys = cast_tensor(x, DType::Int64)?;
                let find = |key: &i64| table.get(key).copied().unwrap_or(none);
                places.extend(keys.values::<i64>()?.iter().map(find));
            }
        }
        pick(&self.values, &places, 1, x.dims().into())
    }
}

impl Kernel for Lookup {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if dtype != self.keys {
            let text = format!("the keys of the table are {}, got {dtype}", self.keys);
            return Err(Error::invalid_argument(text));
        }
        Ok(vec![Spec::Tensor { dtype: self.values.dtype(), shape: shape.clone() }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        Ok(vec![map_flat(arg, rows, |x| self.find(x))?])
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_))
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

impl BitCast {
    /// The shape of the result.
    fn rule(&self, from: DType, dims: &[Option<usize>]) -> Result<Vec<Option<usize>>> {
        let wrong =
            || Error::invalid_argument(format!("cannot bitcast from {from} to {}", self.to));
        let own = from.size().filter(|_| from != DType::Bool).ok_or_else(wrong)?;
        let mut dims = dims.to_vec();
        if own > self.size && own.is_multiple_of(self.size) {
            dims.push(Some(own / self.size));
        } else if own < self.size {
            let each = self.size / own;
            if dims.pop().is_none_or(|last| last.is_some_and(|last| last != each)) {
                let text = format!(
                    "cannot bitcast from {from} to {}: the last axis must have size {each}",
                    self.to
                );
                return Err(Error::invalid_argument(text));
            }
        }
        Ok(dims)
    }
}

impl Kernel for BitCast {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        let shape = match shape.dims() {
            Some(dims) => PartialShape::new(self.rule(dtype, dims)?),
            None => PartialShape::UNKNOWN,
        };
        Ok(vec![Spec::Tensor { dtype: self.to, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let tensor = stacked(arg, rows)?;
        let dims: Vec<_> = tensor.dims().iter().map(|dim| Some(*dim)).collect();
        let rest = self.rule(tensor.dtype(), dims.get(1..).unwrap_or_default())?;
        let dims: Dims = std::iter::once(rows).chain(rest.into_iter().flatten()).collect();
        // A slice of bytes may start anywhere, wider values may not.
        let mut out = BufferMut::scratch(tensor.bytes()?.len())?;
        out.copy_from_slice(tensor.bytes()?);
        Ok(vec![Column::Stacked(Tensor::fixed(self.to, dims, out.freeze())?)])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::BytesArray;

    #[test]
    fn keys_have_their_values_and_others_the_default() {
        let text = |values: &[&str]| {
            let dims = [values.len()][..].into();
            Tensor::text(DType::Bytes, dims, BytesArray::from_values(values).unwrap()).unwrap()
        };
        let values = Tensor::from_values(&[2], &[10_i64, 20]).unwrap();
        let default = Tensor::scalar(-1_i64).unwrap();
        let table = Lookup::new(&text(&["a", "b"]), &values, &default).unwrap();
        let found = table.find(&text(&["b", "", "a"])).unwrap();
        assert_eq!(found.values::<i64>().unwrap(), [20, -1, 10]);
        let table =
            Lookup::new(&values, &text(&["x", "y"]), &text(&["z"]).row(0).unwrap()).unwrap();
        let found = table.find(&Tensor::from_values(&[2, 1], &[20_i64, 0]).unwrap()).unwrap();
        assert_eq!(found.dims(), [2, 1]);
        assert_eq!(found.strings().unwrap().iter().collect::<Vec<_>>(), [b"y", b"z"]);
        assert!(Lookup::new(&values, &default, &default).is_err());
    }

    #[test]
    fn bytes_are_read_as_another_type() {
        let cast = |to: DType, x: Tensor| {
            let attrs = Attrs::from([("dtype", crate::graph::attr::Attr::DType(to))]);
            let kernel = build("bitcast", &attrs).unwrap().unwrap();
            stacked(&Arg::Column(kernel.run(&[Arg::Const(x)], 1, &[Wanted::All])?.remove(0)), 1)
        };
        let ones = Tensor::from_values(&[2], &[1.0_f32, 2.0]).unwrap();
        let bits = cast(DType::Int32, ones.clone()).unwrap();
        assert_eq!(bits.values::<i32>().unwrap(), [0x3f80_0000, 0x4000_0000]);
        assert_eq!(cast(DType::UInt8, ones.clone()).unwrap().dims(), [1, 2, 4]);
        assert_eq!(cast(DType::Int64, ones.clone()).unwrap().dims(), [1]);
        assert!(cast(DType::Complex128, ones).is_err());
    }
}
