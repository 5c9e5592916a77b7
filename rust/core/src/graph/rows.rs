//! Evaluates a graph row by row, where one row is much work and much memory.
//!
//! An image that is decoded, resized and scaled stays in the processor's cache on its way, and no
//! more than one image for each thread is there in full size. Each result is copied to its place
//! in the column of all rows; a batch of them is that column. Whoever is free may take a row: what
//! comes of it depends on the row alone, and all before the first that fails are done.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::data::{BufferMut, Chunk, Column, DType, Data, Dims, Structure, Tensor};
use crate::error::{Error, Result};
use crate::graph::call::{Called, Check};
use crate::graph::check;
use crate::graph::graph::Graph;
use crate::random::Site;

/// What to do with the row of this number; false if those after it need not be done.
pub type EachRow = Arc<dyn Fn(usize) -> bool + Send + Sync>;

/// Who works on the rows of a chunk.
pub trait Hands: Sync {
    /// Calls `row` with each number below `count`, begun in their order, perhaps of several at
    /// once, up to one at which it says no. All calls have ended when this returns.
    fn each(&self, count: usize, row: EachRow);
}

/// Nobody but the caller.
pub struct Alone;

impl Hands for Alone {
    fn each(&self, count: usize, row: EachRow) {
        let _ = (0..count).all(|number| row(number));
    }
}

/// Calls the graph on each row, up to the first that fails, or before which `check` does.
pub(crate) fn call_rows(
    graph: &Arc<Graph>,
    chunk: &Chunk,
    site: &Site,
    check: &Check,
    hands: &dyn Hands,
) -> Called {
    let places = Arc::new(Mutex::new(Places::new(chunk.rows())));
    let row = {
        let (graph, chunk, site) = (Arc::clone(graph), chunk.clone(), *site);
        let (check, places) = (Arc::clone(check), Arc::clone(&places));
        move |row| {
            let result = check().and_then(|()| chunk.slice(row..row + 1));
            let eval = |one| check::under(&check, || graph.eval(&one, &site.at(row as u64)));
            let result = result.and_then(eval);
            lock(&places).put(row, result)
        }
    };
    hands.each(chunk.rows(), Arc::new(row));
    let places = std::mem::take(&mut *lock(&places));
    places.finish().unwrap_or_else(Called::failed)
}

fn lock(places: &Mutex<Places>) -> MutexGuard<'_, Places> {
    places.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The columns of all rows, as far as they are done.
#[derive(Default)]
struct Places {
    /// Which rows are done.
    done: Vec<bool>,
    /// The first row that failed.
    failed: Option<(usize, Error)>,
    structure: Option<Arc<Structure>>,
    columns: Vec<Place>,
}

/// A column in the making.
enum Place {
    /// Room for all rows, which so far have one shape.
    Room { dtype: DType, dims: Dims, bytes: usize, room: BufferMut },
    /// Text, and rows that differ: those that are done.
    Apart(Vec<Option<Column>>),
}

impl Places {
    fn new(rows: usize) -> Self {
        Places { done: vec![false; rows], ..Places::default() }
    }

    /// The result of a row; false if it failed.
    fn put(&mut self, row: usize, result: Result<Chunk>) -> bool {
        match result.and_then(|result| self.fill(row, &result)) {
            Ok(()) => true,
            Err(error) => {
                if self.failed.as_ref().is_none_or(|(first, _)| row < *first) {
                    self.failed = Some((row, error));
                }
                false
            }
        }
    }

    fn fill(&mut self, row: usize, result: &Chunk) -> Result<()> {
        if self.structure.is_none() {
            let open = |column| Place::open(column, self.done.len());
            self.columns = result.columns().iter().map(open).collect::<Result<_>>()?;
            self.structure = Some(Arc::clone(result.structure()));
        }
        for (place, column) in self.columns.iter_mut().zip(result.columns()) {
            place.put(row, column, &self.done)?;
        }
        if let Some(done) = self.done.get_mut(row) {
            *done = true;
        }
        Ok(())
    }

    /// The rows before the first that failed, and why it did.
    fn finish(self) -> Result<Called> {
        let (rows, error) = match self.failed {
            Some((row, error)) => (row, Some(error)),
            None => (self.done.len(), None),
        };
        if self.done.iter().take(rows).any(|done| !done) {
            return Err(Error::internal("a worker on rows of a chunk panicked"));
        }
        let Some(structure) = self.structure.filter(|_| rows > 0) else {
            return Ok(Called { done: None, error });
        };
        let columns = self.columns.into_iter().map(|place| place.finish(rows));
        let done = Chunk::new(rows, structure, columns.collect::<Result<_>>()?)?;
        Ok(Called { done: Some(done), error })
    }
}

impl Place {
    fn open(column: &Column, rows: usize) -> Result<Self> {
        let apart = Place::Apart(vec![None; rows]);
        let Column::Stacked(tensor) = column else { return Ok(apart) };
        let Data::Fixed(data) = tensor.data() else { return Ok(apart) };
        let (dtype, bytes) = (tensor.dtype(), data.len());
        let room = BufferMut::scratch(bytes.saturating_mul(rows))?;
        Ok(Place::Room { dtype, dims: tensor.dims().into(), bytes, room })
    }

    fn put(&mut self, row: usize, column: &Column, done: &[bool]) -> Result<()> {
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
            let room = room.finish(done.len())?;
            let place = |(row, done): (usize, &bool)| done.then(|| room.slice(row..row + 1));
            let rows = done.iter().enumerate().map(|row| place(row).transpose());
            *self = Place::Apart(rows.collect::<Result<_>>()?);
        }
        if let Place::Apart(columns) = self
            && let Some(place) = columns.get_mut(row)
        {
            *place = Some(column.clone());
        }
        Ok(())
    }

    /// The column of the first `rows` rows.
    fn finish(self, rows: usize) -> Result<Column> {
        match self {
            Place::Room { dtype, dims, bytes, mut room } => {
                room.truncate(rows * bytes);
                let dims = std::iter::once(rows).chain(dims.into_iter().skip(1)).collect();
                Ok(Column::Stacked(Tensor::fixed(dtype, dims, room.freeze())?))
            }
            Place::Apart(columns) => {
                Column::concat(&columns.iter().take(rows).flatten().collect::<Vec<_>>())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::SeqCst;

    use crate::data::{BytesArray, Spec, Value, Wanted};
    use crate::error::ErrorKind;
    use crate::graph::attr::{Attr, Attrs};
    use crate::graph::graph::GraphBuilder;
    use crate::graph::kernel::Arg;
    use crate::kernels;

    /// The tensor that a message holds, and the message.
    fn graph() -> Arc<Graph> {
        let mut builder = GraphBuilder::new();
        let x = builder.input(Spec::scalar(DType::Bytes));
        let attrs = Attrs::new().with("out_type", Attr::DType(DType::Int64));
        let parsed = builder.add("parse_tensor", attrs, &[x]).unwrap()[0];
        let both = Structure::Tuple(vec![Structure::Leaf, Structure::Leaf]);
        Arc::new(builder.finish(both, vec![parsed, x]).unwrap())
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

    /// The last row is the first to be done.
    struct Backwards;

    impl Hands for Backwards {
        fn each(&self, count: usize, row: EachRow) {
            for number in (0..count).rev() {
                row(number);
            }
        }
    }

    /// A thread for each row.
    struct Threads;

    impl Hands for Threads {
        fn each(&self, count: usize, row: EachRow) {
            std::thread::scope(|scope| {
                for number in 0..count {
                    let row = &row;
                    scope.spawn(move || row(number));
                }
            });
        }
    }

    const HANDS: [&dyn Hands; 3] = [&Alone, &Backwards, &Threads];

    fn never() -> Check {
        Arc::new(|| Ok(()))
    }

    #[test]
    fn rows_one_by_one_are_rows_at_once() {
        let graph = graph();
        for lengths in [&[2, 2, 2][..], &[2, 2, 3], &[3, 2], &[2, 3, 3], &[0, 0], &[0, 1], &[4]] {
            let chunk = messages(lengths, false);
            let all = graph.eval(&chunk, &Site::default()).unwrap();
            for hands in HANDS {
                let called = call_rows(&graph, &chunk, &Site::default(), &never(), hands);
                assert!(called.error.is_none());
                let done = called.done.unwrap();
                assert_eq!(rows(&done), rows(&all), "{lengths:?}");
                let kinds = |chunk: &Chunk| matches!(chunk.columns()[0], Column::Stacked(_));
                assert_eq!(kinds(&done), kinds(&all), "{lengths:?}");
            }
        }
    }

    #[test]
    fn what_is_over_goes_on_no_further() {
        let chunk = messages(&[2, 2, 2], false);
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let check: Check = Arc::new(move || match asked.fetch_add(1, SeqCst) {
            2 => Err(Error::cancelled()),
            _ => Ok(()),
        });
        let called = call_rows(&graph(), &chunk, &Site::default(), &check, &Alone);
        assert!(called.error.is_some());
        assert_eq!(called.done.map_or(0, |done| done.rows()), 2);
    }

    #[test]
    fn rows_before_one_that_fails_are_done() {
        let graph = graph();
        for lengths in [&[][..], &[2, 2], &[1, 2]] {
            for hands in HANDS {
                let chunk = messages(lengths, true);
                let called = call_rows(&graph, &chunk, &Site::default(), &never(), hands);
                assert!(called.error.is_some());
                assert_eq!(called.done.map_or(0, |done| done.rows()), lengths.len());
            }
        }
    }

    #[test]
    fn a_row_that_never_ends_is_an_error() {
        /// As if the thread of the second row had panicked.
        struct Forgetful;
        impl Hands for Forgetful {
            fn each(&self, count: usize, row: EachRow) {
                for number in (0..count).filter(|number| *number != 1) {
                    row(number);
                }
            }
        }
        let chunk = messages(&[2, 2, 2], false);
        let called = call_rows(&graph(), &chunk, &Site::default(), &never(), &Forgetful);
        assert_eq!(called.error.unwrap().kind(), ErrorKind::Internal);
    }
}
