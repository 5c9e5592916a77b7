//! Control: `cond` runs one of two graphs, `map_rows` one over an axis, `assert` fails unless all
//! is true.
//!
//! The graphs are static arguments. What they read of the graph around them are inputs, after the
//! operation's own ones, in the order of the graphs' inputs. So are the seeds of random operations:
//! a graph in here knows of no place in the run.

use std::sync::Arc;

use crate::data::{
    Chunk, Column, DType, Data, Dims, PartialShape, Spec, Structure, Tensor, Wanted,
};
use crate::error::{Error, Result};
use crate::graph::attr::{Attr, Attrs};
use crate::graph::graph::Graph;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::dense;
use crate::kernels::places::bounded;
use crate::random::Site;

/// How many values of an array a failed assertion shows.
const SHOWN: usize = 3;

#[derive(Debug)]
struct Cond {
    then: Arc<Graph>,
    other: Arc<Graph>,
}

#[derive(Debug)]
struct MapRows {
    graph: Arc<Graph>,
    /// How many of the inputs are taken row by row; the others are the same for each.
    mapped: usize,
}

#[derive(Debug)]
struct Assert {
    message: String,
    labels: Vec<String>,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let graph = |name: &str| match attrs.get(name) {
        Some(Attr::Graph(graph)) => Ok(Arc::clone(graph)),
        _ => Err(Error::invalid_argument(format!("argument {name:?} must be a graph"))),
    };
    match op {
        "cond" => {
            attrs.only(&["then", "other"])?;
            Ok(Some(Arc::new(Cond { then: graph("then")?, other: graph("other")? })))
        }
        "map_rows" => {
            attrs.only(&["graph", "mapped"])?;
            let mapped = usize::try_from(attrs.int("mapped")?).unwrap_or(0);
            let graph = graph("graph")?;
            if mapped == 0 || mapped > graph.inputs().len() {
                return Err(Error::invalid_argument("map_rows needs something to map over"));
            }
            Ok(Some(Arc::new(MapRows { graph, mapped })))
        }
        "assert" => {
            attrs.only(&["message", "labels"])?;
            let label = |attr: &Attr| match attr {
                Attr::Str(text) => Ok(text.clone()),
                other => Err(Error::invalid_argument(format!("{other} is no label"))),
            };
            let labels = attrs.list("labels")?.iter().map(label).collect::<Result<_>>()?;
            Ok(Some(Arc::new(Assert { message: attrs.str("message")?.into(), labels })))
        }
        _ => Ok(None),
    }
}

/// Refuses inputs that a graph was not made for.
pub(super) fn fits(graph: &Graph, specs: &[Spec]) -> Result<()> {
    let fit = |(own, given): (&Spec, &Spec)| own.widen(given).is_some_and(|both| both == *own);
    if graph.inputs().len() == specs.len() && graph.inputs().iter().zip(specs).all(fit) {
        return Ok(());
    }
    Err(Error::invalid_argument("the inputs are not those that the graph reads"))
}

/// Columns as a chunk of plain components.
pub(super) fn chunk(rows: usize, columns: Vec<Column>) -> Result<Chunk> {
    let leaves = columns.iter().map(|_| Structure::Leaf).collect();
    Chunk::new(rows, Arc::new(Structure::Tuple(leaves)), columns)
}

pub(super) fn columns(args: &[Arg], rows: usize) -> Result<Vec<Column>> {
    args.iter().map(|arg| arg.clone().into_column(rows)).collect()
}

impl Kernel for Cond {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let Some((condition, rest)) = specs.split_first() else {
            return Err(Error::invalid_argument("cond needs a condition"));
        };
        match dense(condition)? {
            (DType::Bool, shape) if shape.accepts(&[]) => {}
            _ => {
                let text = format!("a condition must be a scalar of bool, got {condition}");
                return Err(Error::invalid_argument(text));
            }
        }
        let count = self.then.inputs().len().min(rest.len());
        fits(&self.then, &rest[..count])?;
        fits(&self.other, &rest[count..])?;
        let (then, other) = (self.then.specs(), self.other.specs());
        if then.len() != other.len() {
            return Err(Error::invalid_argument("both branches must give as many values"));
        }
        let widen = |(a, b): (&Spec, &Spec)| {
            a.widen(b).ok_or_else(|| {
                Error::invalid_argument(format!(
                    "both branches must give values of one dtype, got {a} and {b}"
                ))
            })
        };
        then.iter().zip(&other).map(widen).collect()
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let Some((condition, rest)) = args.split_first() else {
            return Err(Error::internal("cond without a condition"));
        };
        let condition = condition.tensor()?.values::<u8>()?;
        let (then, other) = rest.split_at(self.then.inputs().len());
        if args.iter().all(Arg::is_const) {
            let (graph, args) =
                if condition[0] != 0 { (&self.then, then) } else { (&self.other, other) };
            let one = graph.eval(&chunk(1, columns(args, 1)?)?, &Site::default())?.into_columns();
            return one.iter().map(|column| column.gather(&vec![0; rows])).collect();
        }
        let truth = |row: usize| condition[if condition.len() == 1 { 0 } else { row }] != 0;
        let (yes, no): (Vec<usize>, Vec<usize>) = (0..rows).partition(|row| truth(*row));
        let half = |graph: &Graph, args: &[Arg], which: &[usize]| -> Result<Vec<Column>> {
            let all = columns(args, rows)?;
            let part = match which.len() == rows {
                true => all,
                false => all.iter().map(|column| column.gather(which)).collect::<Result<_>>()?,
            };
            Ok(graph.eval(&chunk(which.len(), part)?, &Site::default())?.into_columns())
        };
        if no.is_empty() {
            return half(&self.then, then, &yes);
        }
        if yes.is_empty() {
            return half(&self.other, other, &no);
        }
        let (first, second) = (half(&self.then, then, &yes)?, half(&self.other, other, &no)?);
        // The places of the rows in both halves laid end to end.
        let mut places = vec![0; rows];
        yes.iter().chain(&no).enumerate().for_each(|(place, row)| places[*row] = place);
        let join = |(a, b): (&Column, &Column)| Column::concat(&[a, b])?.gather(&places);
        first.iter().zip(&second).map(join).collect()
    }

    fn tolerance(&self) -> Tolerance {
        widest([&self.then, &self.other])
    }

    fn accepts(&self, column: &Column) -> bool {
        !matches!(column, Column::Foreign(_))
    }

    fn is_pure(&self) -> bool {
        self.then.is_pure() && self.other.is_pure()
    }

    fn is_kept(&self) -> bool {
        self.then.is_kept() || self.other.is_kept()
    }

    fn is_heavy(&self) -> bool {
        self.then.is_heavy() || self.other.is_heavy()
    }
}

/// The loosest tolerance of the operations of graphs, which is known only one by one.
pub(super) fn widest<const N: usize>(graphs: [&Graph; N]) -> Tolerance {
    let tolerances = graphs.iter().flat_map(|graph| graph.tolerances());
    tolerances.fold(Tolerance::Moved, |widest, own| match (widest, own) {
        (Tolerance::Mixed, _) | (_, Tolerance::Mixed) => Tolerance::Mixed,
        (Tolerance::Sum, _) | (_, Tolerance::Sum) => Tolerance::Sum,
        (Tolerance::Ulp(a), Tolerance::Ulp(b)) => Tolerance::Ulp(a + b),
        (ulp @ Tolerance::Ulp(_), _) | (_, ulp @ Tolerance::Ulp(_)) => ulp,
        (Tolerance::Moved, own) => own,
        (widest, _) => widest,
    })
}

impl MapRows {
    /// The rows of the mapped inputs of one element, and their number.
    fn rows(args: &[Arg]) -> Result<usize> {
        let count = |arg: &Arg| Ok(arg.row_dims()?.first().copied());
        let counts: Vec<Option<usize>> = args.iter().map(count).collect::<Result<_>>()?;
        match counts.first() {
            Some(Some(first)) if counts.iter().all(|count| *count == Some(*first)) => Ok(*first),
            _ => Err(Error::invalid_argument(format!(
                "the arrays to map over must have one and the same size in front, got {counts:?}"
            ))),
        }
    }

    /// What the result of no rows looks like.
    fn empty(&self, rows: usize) -> Result<Vec<Column>> {
        let none = |spec: &Spec| {
            let (dtype, shape) = dense(spec)?;
            let inner = shape.dims().unwrap_or_default().iter().map(|dim| dim.unwrap_or(0));
            let dims: Dims = [rows, 0].into_iter().chain(inner).collect();
            Ok(Column::Stacked(Tensor::zeros(dtype, dims)?))
        };
        self.graph.specs().iter().map(none).collect()
    }
}

impl Kernel for MapRows {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let mut count = None;
        let mut row = |(k, spec): (usize, &Spec)| {
            if k >= self.mapped {
                return Ok(spec.clone());
            }
            let (dtype, shape) = dense(spec)?;
            let Some((size, shape)) = shape.split_first() else {
                return Err(Error::invalid_argument("cannot map over a scalar"));
            };
            count = count.or(size);
            Ok(Spec::Tensor { dtype, shape })
        };
        let rows: Vec<Spec> = specs.iter().enumerate().map(&mut row).collect::<Result<_>>()?;
        fits(&self.graph, &rows)?;
        let stack = |spec: &Spec| {
            let (dtype, shape) = dense(spec)?;
            Ok(Spec::Tensor { dtype, shape: shape.prepend(count) })
        };
        self.graph.specs().iter().map(stack).collect()
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let (mapped, captured) = args.split_at(self.mapped);
        let count = Self::rows(mapped)?;
        let total = bounded(&[rows, count], Some(1))?;
        if total == 0 {
            return self.empty(rows);
        }
        let mut all = Vec::with_capacity(args.len());
        for arg in mapped {
            let Column::Stacked(tensor) = arg.clone().into_column(rows)? else {
                return Err(Error::internal("rows of differing shape in map_rows"));
            };
            let dims = std::iter::once(total).chain(tensor.dims()[2..].iter().copied()).collect();
            all.push(Column::Stacked(tensor.reshape(dims)?));
        }
        let of: Vec<usize> = (0..total).map(|at| at / count).collect();
        for arg in captured {
            all.push(arg.clone().into_column(rows)?.gather(&of)?);
        }
        let stack = |column: Column| match column {
            Column::Stacked(tensor) => {
                let rest = tensor.dims()[1..].iter().copied();
                let dims = [rows, count].into_iter().chain(rest).collect();
                Ok(Column::Stacked(tensor.reshape(dims)?))
            }
            Column::Rows(found) => {
                // Within one element all must have one shape.
                let stacks = (0..rows).map(|row| {
                    let part = Column::Rows(found.clone()).slice(row * count..(row + 1) * count)?;
                    let tensors: Vec<usize> = (0..count).collect();
                    match part.gather(&tensors)? {
                        Column::Stacked(tensor) => Ok(tensor),
                        _ => Err(Error::invalid_argument(
                            "the function must give arrays of one shape for all rows",
                        )),
                    }
                });
                Column::from_tensors(&stacks.collect::<Result<Vec<_>>>()?)
            }
            other => Err(Error::invalid_argument(format!("cannot stack {}", other.kind()))),
        };
        let results = self.graph.eval(&chunk(total, all)?, &Site::default())?.into_columns();
        results.into_iter().map(stack).collect()
    }

    fn tolerance(&self) -> Tolerance {
        widest([&self.graph])
    }

    fn is_pure(&self) -> bool {
        self.graph.is_pure()
    }

    fn is_kept(&self) -> bool {
        self.graph.is_kept()
    }

    fn is_heavy(&self) -> bool {
        self.graph.is_heavy()
    }
}

/// The first values of an array, for messages.
fn shown(tensor: &Tensor) -> String {
    macro_rules! list {
        ($type:ty) => {
            tensor.values::<$type>().map_or_else(
                |_| String::new(),
                |values| {
                    let first = values.iter().take(SHOWN).map(|value| format!("{value:?}"));
                    first.collect::<Vec<_>>().join(" ")
                },
            )
        };
    }
    let text = match (tensor.data(), tensor.dtype()) {
        (Data::Text(values), _) => {
            let first = values.iter().take(SHOWN);
            first.map(|value| format!("\"{}\"", value.escape_ascii())).collect::<Vec<_>>().join(" ")
        }
        (_, DType::Bool) => {
            let values = tensor.values::<u8>().unwrap_or_default();
            let name = |value: &u8| if *value != 0 { "True" } else { "False" };
            values.iter().take(SHOWN).map(name).collect::<Vec<_>>().join(" ")
        }
        (_, DType::Int8) => list!(i8),
        (_, DType::Int16) => list!(i16),
        (_, DType::Int32) => list!(i32),
        (_, DType::Int64) => list!(i64),
        (_, DType::UInt8) => list!(u8),
        (_, DType::UInt16) => list!(u16),
        (_, DType::UInt32) => list!(u32),
        (_, DType::UInt64) => list!(u64),
        (_, DType::Float32) => list!(f32),
        (_, DType::Float64) => list!(f64),
        (_, dtype) => format!("{dtype}{}", PartialShape::from(tensor.dims())),
    };
    match (tensor.dims().is_empty(), tensor.len() > SHOWN) {
        (true, _) => text,
        (false, more) => format!("[{text}{}]", if more { " ..." } else { "" }),
    }
}

impl Kernel for Assert {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let Some((condition, data)) = specs.split_first() else {
            return Err(Error::invalid_argument("assert needs a condition"));
        };
        if dense(condition)?.0 != DType::Bool || data.len() != self.labels.len() {
            return Err(Error::invalid_argument("assert needs a condition and labelled values"));
        }
        data.iter().try_for_each(|spec| dense(spec).map(|_| ()))?;
        Ok(Vec::new())
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let Some((condition, data)) = args.split_first() else {
            return Err(Error::internal("assert without a condition"));
        };
        let values = condition.tensor()?.values::<u8>()?;
        let Some(at) = values.iter().position(|value| *value == 0) else {
            return Ok(Vec::new());
        };
        let per_row = if condition.is_const() { values.len() } else { values.len() / rows.max(1) };
        let row = at / per_row.max(1);
        let mut lines = vec![self.message.clone()];
        for (label, arg) in self.labels.iter().zip(data) {
            let value = match arg {
                Arg::Const(tensor) => tensor.clone(),
                Arg::Column(_) => arg.tensor()?.row(row)?,
            };
            lines.push(format!("{label} {}", shown(&value)));
        }
        Err(Error::invalid_argument(lines.join("\n")))
    }

    fn is_kept(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::graph::GraphBuilder;

    fn column(values: &[i64]) -> Arg {
        Arg::Column(Column::Stacked(Tensor::from_values(&[values.len()], values).unwrap()))
    }

    /// `12 // x`, as a branch that must not be looked into where `x` is 0.
    fn branch(op: &str, by: i64) -> Arc<Graph> {
        let mut builder = GraphBuilder::new();
        let x = builder.input(Spec::scalar(DType::Int64));
        let number = builder.constant(Tensor::scalar(by).unwrap());
        let out = builder.add(op, Attrs::new(), &[number, x]).unwrap();
        Arc::new(builder.finish(Structure::Leaf, out).unwrap())
    }

    #[test]
    fn each_row_goes_its_own_way() {
        let cond = Cond { then: branch("floor_divide", 12), other: branch("subtract", 1) };
        let truth: Vec<crate::kernels::cast::Bool> =
            [1, 0, 1].map(crate::kernels::cast::Bool).to_vec();
        let truth = Arg::Column(Column::Stacked(Tensor::from_values(&[3], &truth).unwrap()));
        let x = column(&[3, 0, 4]);
        let out = cond.run(&[truth, x.clone(), x], 3, &[Wanted::All]).unwrap();
        let Column::Stacked(out) = &out[0] else { panic!("not stacked") };
        assert_eq!(out.values::<i64>().unwrap(), [4, 1, 3]);
    }

    #[test]
    fn rows_are_mapped_at_once() {
        let map = MapRows { graph: branch("subtract", 10), mapped: 1 };
        let x = Tensor::from_values(&[2, 3], &[1_i64, 2, 3, 4, 5, 6]).unwrap();
        let out = map.run(&[Arg::Column(Column::Stacked(x))], 2, &[Wanted::All]).unwrap();
        let Column::Stacked(out) = &out[0] else { panic!("not stacked") };
        assert_eq!(out.dims(), [2, 3]);
        assert_eq!(out.values::<i64>().unwrap(), [9, 8, 7, 6, 5, 4]);
    }

    #[test]
    fn an_assertion_shows_the_row_that_fails() {
        let assert = Assert { message: "x must be small".into(), labels: vec!["x =".into()] };
        let truth = [1, 0].map(crate::kernels::cast::Bool);
        let truth = Arg::Column(Column::Stacked(Tensor::from_values(&[2], &truth).unwrap()));
        let error = assert.run(&[truth, column(&[3, 70])], 2, &[]).err().unwrap();
        assert_eq!(error.message(), "x must be small\nx = 70");
    }
}
