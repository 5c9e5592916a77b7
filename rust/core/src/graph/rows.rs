//! Evaluates a graph row by row, where one row is much work and much memory.
//!
//! An image that is decoded, resized and scaled stays in the processor's cache on its way, and no
//! more than one image for each worker is there in full size. Each result is copied to its place
//! in the column of all rows; a batch of them is that column.

use std::sync::Arc;

use crate::data::{BufferMut, Chunk, Column, DType, Data, Dims, Structure, Tensor};
use crate::error::Result;
use crate::graph::call::Called;
use crate::graph::graph::Graph;
use crate::random::Site;

/// Calls the graph on each row; stops at the first that fails, or when `check` fails before one.
pub(crate) fn call_rows(
    graph: &Graph,
    chunk: &Chunk,
    site: &Site,
    check: &dyn Fn() -> Result<()>,
) -> Called {
    let mut places = Places { rows: chunk.rows(), done: 0, structure: None, columns: Vec::new() };
    let mut error = None;
    for row in 0..chunk.rows() {
        let result = check().and_then(|()| chunk.slice(row..row + 1));
        let result = result.and_then(|one| graph.eval(&one, &site.at(row as u64)));
        if let Err(failed) = result.and_then(|result| places.put(&result)) {
            error = Some(failed);
            break;
        }
    }
    match places.finish() {
        Ok(done) => Called { done, error },
        Err(failed) => Called::failed(failed),
    }
}

/// The columns of all rows, as far as they are done.
struct Places {
    rows: usize,
    done: usize,
    structure: Option<Arc<Structure>>,
    columns: Vec<Place>,
}

/// A column in the making.
enum Place {
    /// Room for all rows, which so far have one shape.
    Room { dtype: DType, dims: Dims, bytes: usize, room: BufferMut },
    /// Text, and rows that differ.
    Apart(Vec<Column>),
}

impl Places {
    fn put(&mut self, result: &Chunk) -> Result<()> {
        if self.structure.is_none() {
            let open = |column| Place::open(column, self.rows);
            self.columns = result.columns().iter().map(open).collect::<Result<_>>()?;
            self.structure = Some(Arc::clone(result.structure()));
        }
        for (place, column) in self.columns.iter_mut().zip(result.columns()) {
            place.put(self.done, column)?;
        }
        self.done += 1;
        Ok(())
    }

    fn finish(self) -> Result<Option<Chunk>> {
        let Some(structure) = self.structure.filter(|_| self.done > 0) else { return Ok(None) };
        let done = self.done;
        let columns = self.columns.into_iter().map(|place| place.finish(done));
        Chunk::new(done, structure, columns.collect::<Result<_>>()?).map(Some)
    }
}

impl Place {
    fn open(column: &Column, rows: usize) -> Result<Self> {
        let Column::Stacked(tensor) = column else { return Ok(Place::Apart(Vec::new())) };
        let Data::Fixed(data) = tensor.data() else { return Ok(Place::Apart(Vec::new())) };
        let (dtype, bytes) = (tensor.dtype(), data.len());
        let room = BufferMut::scratch(bytes.saturating_mul(rows))?;
        Ok(Place::Room { dtype, dims: tensor.dims().into(), bytes, room })
    }

    fn put(&mut self, row: usize, column: &Column) -> Result<()> {
        if let (Place::Room { dtype, dims, bytes, room }, Column::Stacked(tensor)) =
            (&mut *self, column)
            && let Data::Fixed(data) = tensor.data()
            && tensor.dtype() == *dtype
            && tensor.dims() == dims.as_slice()
        {
            room[row * *bytes..(row + 1) * *bytes].copy_from_slice(data);
            return Ok(());
        }
        if let Place::Room { .. } = self {
            let room = std::mem::replace(self, Place::Apart(Vec::new()));
            if row > 0 {
                *self = Place::Apart(vec![room.finish(row)?]);
            }
        }
        if let Place::Apart(columns) = self {
            columns.push(column.clone());
        }
        Ok(())
    }

    fn finish(self, rows: usize) -> Result<Column> {
        match self {
            Place::Room { dtype, dims, bytes, mut room } => {
                room.truncate(rows * bytes);
                let dims = std::iter::once(rows).chain(dims.into_iter().skip(1)).collect();
                Ok(Column::Stacked(Tensor::fixed(dtype, dims, room.freeze())?))
            }
            Place::Apart(columns) => Column::concat(&columns.iter().collect::<Vec<_>>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{BytesArray, Spec, Value, Wanted};
    use crate::graph::attr::{Attr, Attrs};
    use crate::graph::graph::GraphBuilder;
    use crate::graph::kernel::Arg;
    use crate::kernels;

    /// The tensor that a message holds, and the message.
    fn graph() -> Graph {
        let mut builder = GraphBuilder::new();
        let x = builder.input(Spec::scalar(DType::Bytes));
        let attrs = Attrs::new().with("out_type", Attr::DType(DType::Int64));
        let parsed = builder.add("parse_tensor", attrs, &[x]).unwrap()[0];
        let both = Structure::Tuple(vec![Structure::Leaf, Structure::Leaf]);
        builder.finish(both, vec![parsed, x]).unwrap()
    }

    fn messages(lengths: &[usize], broken: bool) -> Chunk {
        let serialize = kernels::build("serialize_tensor", &Attrs::new()).unwrap();
        let message = |len: &usize| {
            let values: Vec<i64> = (0..*len as i64).collect();
            let tensor = Arg::Const(Tensor::from_values(&[*len], &values).unwrap());
            let columns = serialize.run(&[tensor], 1, &[Wanted::All]).unwrap();
            match columns[0].row(0).unwrap() {
                Value::Tensor(message) => message.strings().unwrap().get(0).to_vec(),
                _ => panic!("not dense"),
            }
        };
        let mut messages: Vec<Vec<u8>> = lengths.iter().map(message).collect();
        if broken {
            messages.push(b"?".to_vec());
        }
        let rows = messages.len();
        let values = BytesArray::from_values(messages).unwrap();
        let tensor = Tensor::text(DType::Bytes, [rows][..].into(), values).unwrap();
        Chunk::of_column(Column::Stacked(tensor)).unwrap()
    }

    fn rows(chunk: &Chunk) -> Vec<Tensor> {
        let row = |column: &Column, row| match column.row(row).unwrap() {
            Value::Tensor(tensor) => tensor,
            _ => panic!("not dense"),
        };
        let columns = |at| chunk.columns().iter().map(move |column| row(column, at));
        (0..chunk.rows()).flat_map(columns).collect()
    }

    #[test]
    fn rows_one_by_one_are_rows_at_once() {
        let graph = graph();
        for lengths in [&[2, 2, 2][..], &[2, 2, 3], &[3, 2], &[0, 0], &[0, 1], &[4]] {
            let chunk = messages(lengths, false);
            let called = call_rows(&graph, &chunk, &Site::default(), &|| Ok(()));
            assert!(called.error.is_none());
            let done = called.done.unwrap();
            let all = graph.eval(&chunk, &Site::default()).unwrap();
            assert_eq!(rows(&done), rows(&all), "{lengths:?}");
            let kinds = |chunk: &Chunk| matches!(chunk.columns()[0], Column::Stacked(_));
            assert_eq!(kinds(&done), kinds(&all), "{lengths:?}");
        }
    }

    #[test]
    fn what_is_over_goes_on_no_further() {
        let chunk = messages(&[2, 2, 2], false);
        let asked = std::cell::Cell::new(0);
        let check = || {
            asked.set(asked.get() + 1);
            if asked.get() == 3 { Err(crate::error::Error::cancelled()) } else { Ok(()) }
        };
        let called = call_rows(&graph(), &chunk, &Site::default(), &check);
        assert!(called.error.is_some());
        assert_eq!(called.done.map_or(0, |done| done.rows()), 2);
    }

    #[test]
    fn rows_before_one_that_fails_are_done() {
        let graph = graph();
        for lengths in [&[][..], &[2, 2], &[1, 2]] {
            let called = call_rows(&graph, &messages(lengths, true), &Site::default(), &|| Ok(()));
            assert!(called.error.is_some());
            assert_eq!(called.done.map_or(0, |done| done.rows()), lengths.len());
        }
    }
}
