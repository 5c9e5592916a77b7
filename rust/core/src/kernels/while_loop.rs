//! Loops: `while_loop` runs a graph on the state of each element, turn after turn, as long as
//! another graph says so.
//!
//! The rows of a chunk take their turns together; one that is done leaves, so a row does nothing
//! after its own end. What the body gives beyond the state is kept of each turn, and stacked. The
//! first inputs are the state; then comes what the test reads of the graph around, then what the
//! body does.

use std::sync::Arc;

use crate::data::{Column, DType, Dims, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::{Attr, Attrs};
use crate::graph::check;
use crate::graph::graph::Graph;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::dense;
use crate::kernels::control::{chunk, columns, fits, widest};
use crate::random::Site;

#[derive(Debug)]
struct WhileLoop {
    test: Arc<Graph>,
    body: Arc<Graph>,
    /// How many values are handed from turn to turn.
    state: usize,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "while_loop" {
        return Ok(None);
    }
    attrs.only(&["test", "body", "state"])?;
    let graph = |name: &str| match attrs.get(name) {
        Some(Attr::Graph(graph)) => Ok(Arc::clone(graph)),
        _ => Err(Error::invalid_argument(format!("argument {name:?} must be a graph"))),
    };
    let (test, body) = (graph("test")?, graph("body")?);
    let state = usize::try_from(attrs.int("state")?).unwrap_or(usize::MAX);
    if state > test.inputs().len().min(body.inputs().len()).min(body.specs().len()) {
        return Err(Error::invalid_argument("a loop needs graphs of the whole state"));
    }
    Ok(Some(Arc::new(WhileLoop { test, body, state })))
}

/// The turns of those rows that go on.
struct Turns {
    /// Which rows they are.
    rows: Vec<usize>,
    state: Vec<Column>,
    of_test: Vec<Column>,
    of_body: Vec<Column>,
}

impl Turns {
    /// Goes on with some of the rows.
    fn keep(&mut self, places: &[usize]) -> Result<()> {
        for part in [&mut self.state, &mut self.of_test, &mut self.of_body] {
            *part = part.iter().map(|column| column.gather(places)).collect::<Result<_>>()?;
        }
        self.rows = places.iter().map(|place| self.rows[*place]).collect();
        Ok(())
    }

    fn eval(&self, graph: &Graph, captured: &[Column]) -> Result<Vec<Column>> {
        let all = self.state.iter().chain(captured).cloned().collect();
        let done = graph.eval(&chunk(self.rows.len(), all)?, &Site::default())?;
        Ok(done.into_columns())
    }

    /// The places of the rows that go on, and of those that end here.
    fn split(&self, test: &Graph) -> Result<(Vec<usize>, Vec<usize>)> {
        let truth = self.eval(test, &self.of_test)?;
        let Some(Column::Stacked(truth)) = truth.first() else {
            return Err(Error::internal("a condition that is no scalar"));
        };
        let truth = truth.values::<u8>()?;
        Ok((0..self.rows.len()).partition(|place| truth.get(*place).is_some_and(|t| *t != 0)))
    }
}

impl WhileLoop {
    /// Stacks what each turn gave beyond the state, row by row.
    fn stacked(&self, kept: &[(Vec<usize>, Vec<Column>)], rows: usize) -> Result<Vec<Column>> {
        // The places of each row's turns, all turns laid end to end.
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); rows];
        let turns = kept.iter().flat_map(|(rows, _)| rows);
        turns.enumerate().for_each(|(place, row)| places[*row].push(place));
        let specs = self.body.specs();
        let one = |(k, spec): (usize, &Spec)| {
            let (dtype, shape) = dense(spec)?;
            let mut inner: Dims =
                shape.dims().unwrap_or_default().iter().map(|dim| dim.unwrap_or(0)).collect();
            let columns: Vec<&Column> = kept.iter().map(|(_, columns)| &columns[k]).collect();
            let all = if columns.is_empty() { None } else { Some(Column::concat(&columns)?) };
            if let Some(Column::Stacked(all)) = &all {
                inner = all.dims().get(1..).unwrap_or_default().into();
            }
            let shaped = |lead: &[usize]| -> Dims { lead.iter().chain(&inner).copied().collect() };
            let count = places.first().map_or(0, Vec::len);
            match &all {
                None => Ok(Column::Stacked(Tensor::zeros(dtype, shaped(&[rows, 0]))?)),
                Some(Column::Stacked(all)) if places.iter().all(|own| own.len() == count) => {
                    let flat = all.gather(&places.concat())?;
                    Ok(Column::Stacked(flat.reshape(shaped(&[rows, count]))?))
                }
                Some(all) => {
                    let row = |own: &Vec<usize>| match own.is_empty() {
                        true => Tensor::zeros(dtype, shaped(&[0])),
                        false => match all.gather(own)? {
                            Column::Stacked(tensor) => Ok(tensor),
                            _ => Err(Error::invalid_argument(
                                "the function must give arrays of one shape in all turns",
                            )),
                        },
                    };
                    Column::from_tensors(&places.iter().map(row).collect::<Result<Vec<_>>>()?)
                }
            }
        };
        specs.iter().skip(self.state).enumerate().map(one).collect()
    }
}

impl Kernel for WhileLoop {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let cut = self.test.inputs().len();
        if specs.len() < cut {
            return Err(Error::invalid_argument("the inputs are not those that the graphs read"));
        }
        let (first, of_body) = specs.split_at(cut);
        let (state, of_test) = first.split_at(self.state);
        fits(&self.body, &[state, of_body].concat())?;
        // What goes into a turn is what the body says, whatever went into the loop.
        let entry = &self.body.inputs()[..self.state];
        fits(&self.test, &[entry, of_test].concat())?;
        let given = self.body.specs();
        let (again, kept) = given.split_at(self.state);
        for (entry, again) in entry.iter().zip(again) {
            if entry.widen(again).as_ref() != Some(entry) {
                return Err(Error::invalid_argument(format!(
                    "a loop goes on with {again} where it takes {entry}"
                )));
            }
        }
        match self.test.specs().as_slice() {
            [Spec::Tensor { dtype: DType::Bool, shape }] if shape.known() == Some(Dims::new()) => {}
            _ => return Err(Error::invalid_argument("a condition must be a scalar of bool")),
        }
        let stack = |spec: &Spec| {
            let (dtype, shape) = dense(spec)?;
            Ok(Spec::Tensor { dtype, shape: shape.prepend(None) })
        };
        let kept = kept.iter().map(stack).collect::<Result<Vec<_>>>()?;
        Ok([entry, &kept].concat())
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        if rows != 1 && args.iter().all(Arg::is_const) {
            let once = self.run(args, 1, &[])?;
            return once.iter().map(|column| column.gather(&vec![0; rows])).collect();
        }
        let all = columns(args, rows)?;
        let (first, of_body) = all.split_at(self.test.inputs().len());
        let (state, of_test) = first.split_at(self.state);
        let mut turns = Turns {
            rows: (0..rows).collect(),
            state: state.into(),
            of_test: of_test.into(),
            of_body: of_body.into(),
        };
        let mut ended: Vec<(Vec<usize>, Vec<Column>)> = Vec::new();
        let mut kept: Vec<(Vec<usize>, Vec<Column>)> = Vec::new();
        while !turns.rows.is_empty() {
            check::ask()?;
            let (on, off) = turns.split(&self.test)?;
            if !off.is_empty() {
                let all = turns.state.iter();
                let state = match on.is_empty() {
                    true => all.cloned().collect(),
                    false => all.map(|column| column.gather(&off)).collect::<Result<_>>()?,
                };
                ended.push((off.iter().map(|place| turns.rows[*place]).collect(), state));
                turns.keep(&on)?;
            }
            if !turns.rows.is_empty() {
                let mut given = turns.eval(&self.body, &turns.of_body)?;
                let beyond = given.split_off(self.state);
                turns.state = given;
                if !beyond.is_empty() {
                    kept.push((turns.rows.clone(), beyond));
                }
            }
        }
        let kept = self.stacked(&kept, rows)?;
        if ended.is_empty() {
            return Ok([state, &kept].concat());
        }
        let mut places = vec![0; rows];
        let order = ended.iter().flat_map(|(rows, _)| rows);
        order.enumerate().for_each(|(place, row)| places[*row] = place);
        let join = |k| {
            let all: Vec<&Column> = ended.iter().map(|(_, state)| &state[k]).collect();
            let all = Column::concat(&all)?;
            if ended.len() == 1 { Ok(all) } else { all.gather(&places) }
        };
        let state = (0..self.state).map(join).collect::<Result<Vec<_>>>()?;
        Ok([state, kept].concat())
    }

    fn tolerance(&self) -> Tolerance {
        // Each turn adds its own, so no number of units bounds them all.
        match widest([&self.test, &self.body]) {
            Tolerance::Ulp(_) | Tolerance::Sum | Tolerance::Product => Tolerance::Mixed,
            other => other,
        }
    }

    fn accepts(&self, column: &Column) -> bool {
        !matches!(column, Column::Foreign(_))
    }

    fn is_pure(&self) -> bool {
        self.test.is_pure() && self.body.is_pure()
    }

    fn may_fold(&self) -> bool {
        false // nothing says that it ends
    }

    fn is_kept(&self) -> bool {
        self.test.is_kept() || self.body.is_kept()
    }

    fn is_heavy(&self) -> bool {
        self.test.is_heavy() || self.body.is_heavy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Structure, Value};
    use crate::graph::graph::{GraphBuilder, ValueId};

    fn column(values: &[i64]) -> Arg {
        Arg::Column(Column::Stacked(Tensor::from_values(&[values.len()], values).unwrap()))
    }

    fn int64(column: &Column) -> (Vec<usize>, Vec<i64>) {
        let Column::Stacked(tensor) = column else { panic!("not stacked") };
        (tensor.dims().to_vec(), tensor.values::<i64>().unwrap().to_vec())
    }

    fn graph(builder: GraphBuilder, outputs: Vec<ValueId>) -> Arc<Graph> {
        let leaves = outputs.iter().map(|_| Structure::Leaf).collect();
        Arc::new(builder.finish(Structure::Tuple(leaves), outputs).unwrap())
    }

    /// Counts from 0 to `end`; `kept` keeps each number.
    fn counting(kept: bool) -> WhileLoop {
        let mut test = GraphBuilder::new();
        let state = test.input(Spec::scalar(DType::Int64));
        let end = test.input(Spec::scalar(DType::Int64));
        let below = test.add("less", Attrs::new(), &[state, end]).unwrap();
        let mut body = GraphBuilder::new();
        let state = body.input(Spec::scalar(DType::Int64));
        let one = body.constant(Tensor::scalar(1_i64).unwrap());
        let mut next = body.add("add", Attrs::new(), &[state, one]).unwrap();
        if kept {
            next.push(state);
        }
        WhileLoop { test: graph(test, below), body: graph(body, next), state: 1 }
    }

    #[test]
    fn each_row_takes_its_own_turns() {
        let (start, end) = (column(&[0, 0, 7, 0]), column(&[3, 1, 2, 3]));
        let out = counting(false).run(&[start, end], 4, &[Wanted::All]).unwrap();
        assert_eq!(int64(&out[0]), (vec![4], vec![3, 1, 7, 3]));
    }

    #[test]
    fn what_each_turn_gives_is_stacked() {
        let wanted = [Wanted::All, Wanted::All];
        let (start, end) = (column(&[0, 1]), column(&[2, 3]));
        let out = counting(true).run(&[start, end], 2, &wanted).unwrap();
        assert_eq!(int64(&out[1]), (vec![2, 2], vec![0, 1, 1, 2]));
        let (start, end) = (column(&[0, 1, 5]), column(&[2, 2, 2]));
        let out = counting(true).run(&[start, end], 3, &wanted).unwrap();
        let row = |row: usize| match out[1].row(row).unwrap() {
            Value::Tensor(tensor) => {
                (tensor.dims().to_vec(), tensor.values::<i64>().unwrap().to_vec())
            }
            _ => panic!("not dense"),
        };
        assert_eq!(row(0), (vec![2], vec![0, 1]));
        assert_eq!(row(2), (vec![0], vec![]));
        let out = counting(true).run(&[column(&[5]), column(&[2])], 1, &wanted).unwrap();
        assert_eq!(int64(&out[1]), (vec![1, 0], vec![]));
    }

    #[test]
    fn a_turn_that_changes_the_type_is_refused() {
        let mut loops = counting(false);
        loops.body = Arc::clone(&loops.test);
        let error = loops.infer(&[Spec::scalar(DType::Int64), Spec::scalar(DType::Int64)]);
        assert!(error.is_err());
    }

    #[test]
    fn a_loop_without_end_ends_with_the_run() {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let check: crate::graph::call::Check =
            Arc::new(move || match asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
                9 => Err(Error::cancelled()),
                _ => Ok(()),
            });
        let args = [column(&[0]), column(&[i64::MAX])];
        let run = || counting(false).run(&args, 1, &[Wanted::All]);
        assert!(check::under(&check, run).is_err());
    }
}
