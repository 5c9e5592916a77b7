//! Columns in the making: one component of the results of a function or a generator.
//!
//! Each value is copied at once, since the user's code may hand out the same array again.

use headrace::Error;
use headrace::data::{BufferMut, BytesBuilder, Column, DType, Data, Dims, Rows, Tensor, Value};
use pyo3::prelude::*;
use pyo3::types::PyFloat;

use crate::convert::{Array, Kind};
use crate::errors::{Result, invalid};
use crate::from_python::{Arrays, Scalar, scalar, value};
use crate::scalars;

/// The shapes of the rows so far; only the first while all are the same.
struct Shapes {
    first: Dims,
    rows: usize,
    all: Option<Vec<Dims>>,
}

impl Shapes {
    fn new(first: &[usize]) -> Self {
        Shapes { first: first.into(), rows: 0, all: None }
    }

    fn push(&mut self, dims: &[usize]) {
        if self.all.is_none() && *dims != *self.first {
            self.all = Some(vec![self.first.clone(); self.rows]);
        }
        if let Some(all) = &mut self.all {
            all.push(dims.into());
        }
        self.rows += 1;
    }

    fn count(&self, rows: usize) -> usize {
        match &self.all {
            None => rows * self.first.iter().product::<usize>(),
            Some(all) => all.iter().take(rows).map(|dims| dims.iter().product::<usize>()).sum(),
        }
    }

    /// The column of the first `rows` rows; `flat` holds all their values.
    fn column(self, flat: Tensor, rows: usize) -> Result<Column> {
        Ok(match self.all {
            None => {
                let dims = std::iter::once(rows).chain(self.first).collect();
                Column::Stacked(flat.reshape(dims)?)
            }
            Some(mut all) => {
                all.truncate(rows);
                Rows::new(flat, all)?.into_column()?
            }
        })
    }
}

enum Store {
    Empty,
    Fixed { dtype: DType, size: usize, bytes: BufferMut, used: usize, shapes: Shapes },
    Text { dtype: DType, texts: BytesBuilder, shapes: Shapes },
    Values(Vec<Value>),
}

/// Collects the values of one component.
pub(crate) struct Collector {
    /// How many rows are to come, at most.
    rows: usize,
    store: Store,
}

fn kind_of(value: &Value) -> String {
    value.to_column().map_or_else(|_| "object".into(), |column| column.kind())
}

impl Collector {
    /// For up to `rows` values.
    pub(crate) fn new(rows: usize) -> Self {
        Collector { rows, store: Store::Empty }
    }

    /// Appends a value of the user's.
    pub(crate) fn push(&mut self, object: &Bound<'_, PyAny>) -> Result<()> {
        match scalar(object)? {
            Some(Scalar::Fixed(dtype, bytes)) => {
                let out = self.room(dtype, &[])?;
                out.copy_from_slice(&bytes[..out.len()]);
                return Ok(());
            }
            Some(Scalar::Text(dtype, text)) => {
                self.texts(dtype, &[])?.push(text);
                return Ok(());
            }
            None => {}
        }
        if let Some(array) = Array::of(object)
            && let Kind::Fixed(dtype) = array.kind()
        {
            let array = array.plain(dtype)?;
            let out = self.room(dtype, &array.dims())?;
            array.copy_to(dtype.size().unwrap_or(0), out);
            return Ok(());
        }
        self.push_value(value(object, Arrays::Copy)?)
    }

    /// Appends a number of NumPy's, or a float, to others of its type; false if it is another
    /// object or there is no room.
    pub(crate) fn push_number(&mut self, object: &Bound<'_, PyAny>) -> bool {
        let Store::Fixed { dtype: own, size, bytes, used, shapes } = &mut self.store else {
            return false;
        };
        let value = match scalars::read(object) {
            Some((dtype, value)) if dtype == *own => value,
            Some(_) => return false,
            None => match object.cast_exact::<PyFloat>() {
                Ok(float) if *own == DType::Float64 => {
                    let mut value = [0; 16];
                    value[..8].copy_from_slice(&float.value().to_ne_bytes());
                    value
                }
                _ => return false,
            },
        };
        let Some(out) = bytes.get_mut(*used..*used + *size) else { return false };
        out.copy_from_slice(&value[..*size]);
        *used += *size;
        shapes.push(&[]);
        true
    }

    fn push_value(&mut self, value: Value) -> Result<()> {
        if let Value::Tensor(tensor) = &value {
            match tensor.data() {
                Data::Fixed(buffer) => {
                    self.room(tensor.dtype(), tensor.dims())?.copy_from_slice(buffer);
                }
                Data::Text(values) => {
                    let texts = self.texts(tensor.dtype(), tensor.dims())?;
                    values.iter().for_each(|value| texts.push(value));
                }
            }
            return Ok(());
        }
        if matches!(self.store, Store::Empty) {
            self.store = Store::Values(Vec::with_capacity(self.rows));
        }
        let own = self.kind();
        match &mut self.store {
            Store::Values(values) if own.is_none_or(|own| own == kind_of(&value)) => {
                values.push(value);
                Ok(())
            }
            _ => self.mismatch(&kind_of(&value)),
        }
    }

    /// What the values so far are.
    fn kind(&self) -> Option<String> {
        match &self.store {
            Store::Empty => None,
            Store::Fixed { dtype, .. } | Store::Text { dtype, .. } => Some(dtype.name().into()),
            Store::Values(values) => values.first().map(kind_of),
        }
    }

    fn mismatch<T>(&self, got: &str) -> Result<T> {
        let own = self.kind().unwrap_or_default();
        invalid(format!("expected a component of type {own} as before, got {got}"))
    }

    /// Room for one more array.
    fn room(&mut self, dtype: DType, dims: &[usize]) -> Result<&mut [u8]> {
        let size = dtype.size().ok_or_else(|| Error::internal("text in a fixed column"))?;
        let need = size * dims.iter().product::<usize>();
        if matches!(self.store, Store::Empty) {
            let bytes = BufferMut::scratch(need.saturating_mul(self.rows))?;
            self.store = Store::Fixed { dtype, size, bytes, used: 0, shapes: Shapes::new(dims) };
        }
        if !matches!(&self.store, Store::Fixed { dtype: own, .. } if *own == dtype) {
            return self.mismatch(dtype.name());
        }
        match &mut self.store {
            Store::Fixed { bytes, used, shapes, .. } => {
                if bytes.len() < *used + need {
                    let mut grown = BufferMut::scratch((*used + need) * 2)?;
                    grown[..*used].copy_from_slice(&bytes[..*used]);
                    *bytes = grown;
                }
                shapes.push(dims);
                let start = *used;
                *used += need;
                Ok(&mut bytes[start..start + need])
            }
            _ => Err(Error::internal("a number in a column of something else").into()),
        }
    }

    /// Where the strings of one more value go.
    fn texts(&mut self, dtype: DType, dims: &[usize]) -> Result<&mut BytesBuilder> {
        if matches!(self.store, Store::Empty) {
            let (texts, shapes) = (BytesBuilder::default(), Shapes::new(dims));
            self.store = Store::Text { dtype, texts, shapes };
        }
        if !matches!(&self.store, Store::Text { dtype: own, .. } if *own == dtype) {
            return self.mismatch(dtype.name());
        }
        match &mut self.store {
            Store::Text { texts, shapes, .. } => {
                shapes.push(dims);
                Ok(texts)
            }
            _ => Err(Error::internal("strings in a column of something else").into()),
        }
    }

    /// The first `rows` values: later ones belong to an element that failed.
    pub(crate) fn finish(self, rows: usize) -> Result<Column> {
        match self.store {
            Store::Empty => Err(Error::internal("a column without values").into()),
            Store::Fixed { dtype, size, mut bytes, shapes, .. } => {
                let count = shapes.count(rows);
                bytes.truncate(count * size);
                let flat = Tensor::fixed(dtype, [count][..].into(), bytes.freeze())?;
                shapes.column(flat, rows)
            }
            Store::Text { dtype, texts, shapes } => {
                let count = shapes.count(rows);
                let values = texts.finish()?.slice(0..count);
                shapes.column(Tensor::text(dtype, [count][..].into(), values)?, rows)
            }
            Store::Values(mut values) => {
                values.truncate(rows);
                Ok(Column::from_values(&values)?)
            }
        }
    }
}
