//! Runs a graph on a chunk.
//!
//! Kernels see stacked columns and constants, and other kinds of columns only if they say so.
//! Where rows differ in shape, the operation runs row by row. A value is dropped after its last
//! reader, so that its memory serves the next one.

use std::sync::Arc;

use crate::data::{Chunk, Column, PartialShape, Spec, Value, Wanted};
use crate::error::{Error, Result};
use crate::graph::graph::{Graph, Node, Origin, ValueId};
use crate::graph::kernel::Arg;
use crate::random::Site;

impl Graph {
    /// The outputs for each element of the chunk, whose first stands at `site`; they keep its mark.
    ///
    /// # Errors
    /// `InvalidArgument` if the chunk has other types than the inputs; else the error of one of
    /// the rows, not certainly the first that fails.
    pub fn eval(&self, chunk: &Chunk, site: &Site) -> Result<Chunk> {
        let mut slots = self.open_slots(chunk)?;
        for node in &self.nodes {
            self.run_node(node, chunk.rows(), site, &mut slots)?;
            node.last.iter().for_each(|id| slots[id.0] = None);
        }
        self.collect(chunk, &slots)
    }

    /// As [`Graph::eval`], giving all values between as well.
    pub(crate) fn eval_all(&self, chunk: &Chunk, site: &Site) -> Result<(Chunk, Vec<Option<Arg>>)> {
        let mut slots = self.open_slots(chunk)?;
        for node in &self.nodes {
            self.run_node(node, chunk.rows(), site, &mut slots)?;
        }
        Ok((self.collect(chunk, &slots)?, slots))
    }

    /// A place for each value, with inputs and constants filled in.
    fn open_slots(&self, chunk: &Chunk) -> Result<Vec<Option<Arg>>> {
        let columns = chunk.columns();
        if columns.len() != self.inputs.len() {
            let (want, got) = (self.inputs.len(), columns.len());
            return Err(Error::invalid_argument(format!(
                "expected elements of {want} components, got {got}: {}",
                chunk.structure()
            )));
        }
        self.inputs.iter().zip(columns).try_for_each(|(spec, column)| check_input(spec, column))?;
        let slot = |origin: &Origin| match origin {
            Origin::Input(i) => Some(Arg::Column(columns[*i].clone())),
            Origin::Constant(tensor) => Some(Arg::Const(tensor.clone())),
            Origin::Node(..) => None,
        };
        Ok(self.values.iter().map(|value| slot(&value.origin)).collect())
    }

    fn run_node(
        &self,
        node: &Node,
        rows: usize,
        site: &Site,
        slots: &mut [Option<Arg>],
    ) -> Result<()> {
        let args: Option<Vec<Arg>> = node.inputs.iter().map(|id| slots[id.0].clone()).collect();
        let args = args.ok_or_else(|| Error::internal("a value is read before it is there"))?;
        let columns = run_kernel(node, &args, rows, site)?;
        if columns.len() != node.outputs.len() {
            return Err(Error::internal(format!("{} gave {} outputs", node.op, columns.len())));
        }
        for ((id, column), wanted) in node.outputs.iter().zip(columns).zip(&node.wanted) {
            if *wanted != Wanted::No {
                if column.len() != rows {
                    let got = column.len();
                    let text = format!("{} gave {got} rows for {rows}", node.op);
                    return Err(Error::internal(text));
                }
                slots[id.0] = Some(Arg::Column(column));
            }
        }
        Ok(())
    }

    fn collect(&self, chunk: &Chunk, slots: &[Option<Arg>]) -> Result<Chunk> {
        let column = |id: &ValueId| match slots.get(id.0) {
            Some(Some(arg)) => arg.clone().into_column(chunk.rows()),
            _ => Err(Error::internal("an output was not computed")),
        };
        let columns = self.outputs.iter().map(column).collect::<Result<_>>()?;
        chunk.with_columns(Arc::clone(&self.structure), columns)
    }
}

fn run_kernel(node: &Node, args: &[Arg], rows: usize, site: &Site) -> Result<Vec<Column>> {
    let mut by_row = false;
    for arg in args {
        match arg {
            Arg::Const(_) => {}
            Arg::Column(column) if node.kernel.accepts(column) => {}
            Arg::Column(Column::Rows(_) | Column::Stacked(_)) => by_row = true,
            Arg::Column(column) => {
                let text = format!("{} does not take values of type {}", node.op, column.kind());
                return Err(Error::invalid_argument(text));
            }
        }
    }
    // One row of differing shapes is an ordinary stacked row.
    if !by_row {
        return node.kernel.run_at(args, rows, &node.wanted, site);
    }
    let mut outputs: Vec<Vec<Value>> = vec![Vec::with_capacity(rows); node.outputs.len()];
    for row in 0..rows {
        let args: Vec<Arg> = args.iter().map(|arg| arg.row(row)).collect::<Result<_>>()?;
        let columns = node.kernel.run_at(&args, 1, &node.wanted, &site.at(row as u64))?;
        for ((values, column), wanted) in outputs.iter_mut().zip(columns).zip(&node.wanted) {
            if *wanted != Wanted::No {
                values.push(column.row(0)?);
            }
        }
    }
    let column = |(values, wanted): (Vec<Value>, &Wanted)| match wanted {
        Wanted::No => Ok(Column::Foreign([].into())),
        _ => Column::from_values(&values),
    };
    outputs.into_iter().zip(&node.wanted).map(column).collect()
}

/// Refuses components that the graph was not made for: it may have taken sizes as given.
fn check_input(spec: &Spec, column: &Column) -> Result<()> {
    let kind = matches!(
        (spec, column),
        (Spec::Tensor { .. }, Column::Stacked(_) | Column::Rows(_))
            | (Spec::Sparse { .. }, Column::Sparse(_))
            | (Spec::Ragged { .. }, Column::Ragged(_))
            | (Spec::Object, Column::Foreign(_))
    );
    if !kind || spec.dtype() != column.dtype() {
        let kind = column.kind();
        return Err(Error::invalid_argument(format!("expected a component {spec}, got {kind}")));
    }
    let wrong = match column {
        Column::Stacked(tensor) => {
            let row = tensor.dims().get(1..).unwrap_or_default();
            (!spec.shape().accepts(row)).then_some(row)
        }
        Column::Rows(rows) => {
            let shape = spec.shape();
            rows.shapes().iter().map(|row| row.as_slice()).find(|row| !shape.accepts(row))
        }
        _ => None,
    };
    match wrong {
        None => Ok(()),
        Some(row) => {
            let row = PartialShape::from(row);
            Err(Error::invalid_argument(format!(
                "expected a component {spec}, got one of shape {row}"
            )))
        }
    }
}
