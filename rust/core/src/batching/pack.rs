//! `Dataset.pack`: several sequences in one row of a fixed length.
//!
//! First fit: an element goes into the first open row with room for it. Where none has, and no more
//! may be open, the oldest row is handed on. Beside the packed components come the number of the
//! sequence that each place belongs to (from 1; 0 is padding) and its position in that sequence.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::batching::padded_batch::{pad, zero};
use crate::data::{
    Chunk, Column, DType, Dims, ElementSpec, PartialShape, Spec, Structure, Tensor, Value,
};
use crate::engine::node::Arg;
use crate::engine::run::RunContext;
use crate::engine::skipping::{SkipError, skip_by_running};
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// Sequences packed into rows.
pub struct PackNode {
    input: Plan,
    length: usize,
    open_rows: usize,
    values: Option<Vec<Tensor>>,
    spec: ElementSpec,
}

impl PackNode {
    /// A plan of rows of `length` places, of which `open_rows` are filled at a time. Places that
    /// are left are filled with `values`, one for each component, or with zeros.
    ///
    /// # Errors
    /// `InvalidArgument` for numbers below 1, and for components that are no dense sequences or
    /// differ from their value in dtype.
    pub fn plan(
        input: Plan,
        length: i64,
        open_rows: i64,
        values: Option<Vec<Tensor>>,
    ) -> Result<Plan> {
        let number = |name: &str, value: i64| {
            usize::try_from(value).ok().filter(|value| *value > 0).ok_or_else(|| {
                Error::invalid_argument(format!("{name} must be greater than zero, got {value}"))
            })
        };
        let (length, open_rows) = (number("length", length)?, number("open_rows", open_rows)?);
        let spec = match input.spec() {
            ElementSpec::Unknown => ElementSpec::Unknown,
            ElementSpec::Known(structure, specs) => {
                let packed = specs.iter().enumerate().map(|(i, spec)| {
                    check(i, spec, values.as_ref().and_then(|values| values.get(i)))?;
                    Ok(spec.map_shape(|shape| with_length(shape, length)))
                });
                let mut packed = packed.collect::<Result<Vec<_>>>()?;
                let places = Spec::tensor(DType::Int32, [Some(length)]);
                packed.extend([places.clone(), places]);
                ElementSpec::Known(Arc::new(beside(structure)), packed.into())
            }
        };
        Ok(Arc::new(PackNode { input, length, open_rows, values, spec }))
    }
}

/// The packed components, segment ids and positions.
fn beside(structure: &Structure) -> Structure {
    Structure::Tuple(vec![structure.clone(), Structure::Leaf, Structure::Leaf])
}

fn with_length(shape: &PartialShape, length: usize) -> PartialShape {
    match shape.dims() {
        Some(dims) => {
            PartialShape::new(std::iter::once(Some(length)).chain(dims.iter().skip(1).copied()))
        }
        None => PartialShape::UNKNOWN,
    }
}

fn check(i: usize, spec: &Spec, value: Option<&Tensor>) -> Result<()> {
    let sequence = matches!(spec, Spec::Tensor { shape, .. } if shape.rank() != Some(0));
    if !sequence {
        return Err(Error::invalid_argument(format!(
            "pack needs dense sequences, component {i} is {spec}"
        )));
    }
    match value {
        Some(value) if Some(value.dtype()) != spec.dtype() => {
            Err(Error::invalid_argument(format!(
                "the padding value of component {i} is {}, the component {spec}",
                value.dtype()
            )))
        }
        _ => Ok(()),
    }
}

impl Node for PackNode {
    fn name(&self) -> &'static str {
        "pack"
    }

    fn args(&self) -> Vec<Arg> {
        let values = self.values.as_ref().map(|values| format!("{values:?}"));
        vec![
            Arg::new("length", self.length),
            Arg::new("open_rows", self.open_rows),
            Arg::new("padding_values", values.unwrap_or_else(|| "None".into())),
        ]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        match self.input.cardinality() {
            Cardinality::Known(_) => Cardinality::Unknown,
            other => other,
        }
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        Ok(Box::new(PackStage {
            input: opening.input(0, &self.input)?,
            run: Arc::clone(opening.run),
            stats: Arc::clone(&opening.stats),
            length: self.length,
            open_rows: self.open_rows,
            values: self.values.clone(),
            rows: VecDeque::new(),
            taken: 0,
            ended: false,
        }))
    }
}

/// A row in the making.
struct Row {
    elements: Vec<Chunk>,
    lengths: Vec<usize>,
    room: usize,
}

struct PackStage {
    input: Input,
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    length: usize,
    open_rows: usize,
    values: Option<Vec<Tensor>>,
    rows: VecDeque<Row>,
    /// Elements taken from the input.
    taken: u64,
    ended: bool,
}

impl PackStage {
    /// The length that all components of an element have.
    fn length_of(&self, element: &Chunk) -> Result<usize> {
        let mut length = None;
        for (i, column) in element.columns().iter().enumerate() {
            let own = match column.row(0)? {
                Value::Tensor(tensor) => tensor.dims().first().copied(),
                _ => None,
            };
            let own = own.ok_or_else(|| {
                let seen = column.describe();
                Error::invalid_argument(format!(
                    "pack needs dense sequences, component {i} is {seen}"
                ))
            })?;
            if length.is_some_and(|length| length != own) {
                let first = length.unwrap_or(0);
                return Err(Error::invalid_argument(format!(
                    "the components of an element must be of one length, component 0 has {first} \
                     and component {i} has {own}"
                )));
            }
            length = Some(own);
        }
        match length {
            Some(length) if length > self.length => Err(Error::invalid_argument(format!(
                "a sequence of {length} does not fit into rows of {}",
                self.length
            ))
            .with_hint("cut it in a map, or give a larger length")),
            Some(length) => Ok(length),
            None => Err(Error::invalid_argument("there is nothing to pack: no components")),
        }
    }

    /// Puts an element into a row; gives the row that had to go for it.
    fn add(&mut self, element: Chunk) -> Result<Option<Row>> {
        let length = self.length_of(&element)?;
        if length == 0 {
            return Ok(None);
        }
        let mut gone = None;
        let fits = self.rows.iter().position(|row| row.room >= length);
        let at = fits.unwrap_or_else(|| {
            if self.rows.len() == self.open_rows {
                gone = self.rows.pop_front();
            }
            self.rows.push_back(Row {
                elements: Vec::new(),
                lengths: Vec::new(),
                room: self.length,
            });
            self.rows.len() - 1
        });
        if let Some(row) = self.rows.get_mut(at) {
            row.elements.push(element);
            row.lengths.push(length);
            row.room -= length;
        }
        Ok(gone)
    }

    /// The next row that is done; `None` at the end.
    fn advance(&mut self) -> Result<Option<Row>> {
        while !self.ended {
            let at = self.taken;
            let chunk = self.input.next(1);
            self.taken += u64::from(!matches!(chunk, Ok(None)));
            let Some(chunk) = chunk? else {
                self.ended = true;
                break;
            };
            // A row outlives the chunks of its elements: it has its own copy.
            let element = chunk.gather(&[0])?;
            let gone = self.add(element).map_err(|error| {
                self.run.note_failure();
                error.at_node(|| format!("pack, element {at}"))
            })?;
            self.account();
            if gone.is_some() {
                return Ok(gone);
            }
        }
        let row = self.rows.pop_front();
        self.account();
        Ok(row)
    }

    fn account(&self) {
        let elements = self.rows.iter().flat_map(|row| &row.elements);
        self.stats.hold(elements.map(Chunk::payload_bytes).sum());
    }

    fn assemble(&self, row: &Row) -> Result<Chunk> {
        let Some(first) = row.elements.first() else {
            return Err(Error::internal("a packed row without elements"));
        };
        let mut columns = Vec::with_capacity(first.columns().len() + 2);
        for i in 0..first.columns().len() {
            let parts = row.elements.iter().map(|element| match element.columns()[i].row(0)? {
                Value::Tensor(tensor) => Ok(tensor),
                _ => Err(Error::internal("a packed component that is not dense")),
            });
            let parts = parts.collect::<Result<Vec<_>>>()?;
            let joined = Tensor::concat(&parts.iter().collect::<Vec<_>>())?;
            let value = match self.values.as_ref().and_then(|values| values.get(i)) {
                Some(value) => value.clone(),
                None => zero(&Spec::scalar(joined.dtype()))?,
            };
            let shape = with_length(&PartialShape::from(joined.dims()), self.length);
            let dims: Dims = std::iter::once(1).chain(joined.dims().iter().copied()).collect();
            let column = Column::Stacked(joined.reshape(dims)?);
            columns.push(Column::Stacked(pad(&column, &shape, &value)?));
        }
        let mut segments = vec![0_i32; self.length];
        let mut positions = vec![0_i32; self.length];
        let mut at = 0;
        for (number, length) in (1..).zip(&row.lengths) {
            segments[at..at + length].fill(number);
            for (position, place) in (0..).zip(&mut positions[at..at + length]) {
                *place = position;
            }
            at += length;
        }
        for places in [segments, positions] {
            columns.push(Column::Stacked(Tensor::from_values(&[1, self.length], &places)?));
        }
        Chunk::new(1, Arc::new(beside(first.structure())), columns)
    }
}

impl Stage for PackStage {
    fn next(&mut self, _: usize) -> Result<Option<Chunk>> {
        match self.advance()? {
            Some(row) => self.assemble(&row).map(Some),
            None => Ok(None),
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let mut left = n;
        if self.run.has_failed() {
            return skip_by_running(n, |max| self.next(max));
        }
        while left > 0 {
            match self.advance() {
                Ok(Some(_)) => left -= 1,
                Ok(None) => break,
                Err(error) => return Err(SkipError::behind(n - left, error)),
            }
        }
        Ok(n - left)
    }

    fn quiet(&self) -> bool {
        self.input.quiet()
    }
}
