//! Whole elements: chunks as nests, and nests as chunks.

use std::sync::{Arc, Mutex, PoisonError};

use headrace::Error;
use headrace::data::{Chunk, Structure};
use pyo3::prelude::*;

use crate::columns::Collector;
use crate::convert::Access;
use crate::errors::{Result, invalid};
use crate::nest::{Lists, flatten};
use crate::packer::Packer;
use crate::to_python;

/// A structure with its packer.
pub(crate) struct Known {
    structure: Arc<Structure>,
    pub(crate) packer: Packer,
}

/// Remembers the packer of the last structure: the elements of a stage have one.
#[derive(Default)]
pub(crate) struct Packers(Mutex<Option<Arc<Known>>>);

impl Packers {
    fn last(&self) -> Option<Arc<Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn learn(&self, py: Python<'_>, structure: Arc<Structure>) -> Result<Arc<Known>> {
        let packer = Packer::new(py, &structure)?;
        let known = Arc::new(Known { structure, packer });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&known));
        Ok(known)
    }

    /// A structure with its packer.
    pub(crate) fn known(&self, py: Python<'_>, structure: &Arc<Structure>) -> Result<Arc<Known>> {
        match self.last() {
            Some(known) if Arc::ptr_eq(&known.structure, structure) => Ok(known),
            _ => self.learn(py, Arc::clone(structure)),
        }
    }
}

/// Row `row` of a chunk as a nest.
pub(crate) fn element<'py>(
    py: Python<'py>,
    packer: &Packer,
    chunk: &Chunk,
    row: usize,
    access: Access,
) -> Result<Bound<'py, PyAny>> {
    let mut columns = chunk.columns().iter();
    packer.pack(py, &mut || match columns.next() {
        Some(column) => to_python::row(py, column, row, access),
        None => Err(Error::internal("fewer columns than leaves").into()),
    })
}

/// The only row of a chunk as a nest that owns its memory.
pub(crate) fn only_element<'py>(
    py: Python<'py>,
    packer: &Packer,
    chunk: Chunk,
) -> Result<Bound<'py, PyAny>> {
    let mut columns = chunk.into_columns().into_iter();
    packer.pack(py, &mut || match columns.next() {
        Some(column) => to_python::only_row(py, column),
        None => Err(Error::internal("fewer columns than leaves").into()),
    })
}

/// Collects elements of one structure.
pub(crate) struct Elements<'a> {
    packers: &'a Packers,
    lists: Lists,
    most: usize,
    known: Option<Arc<Known>>,
    columns: Vec<Collector>,
    rows: usize,
}

impl<'a> Elements<'a> {
    /// For up to `most` elements; `packers` remembers their structure from call to call.
    pub(crate) fn new(packers: &'a Packers, lists: Lists, most: usize) -> Self {
        Elements { packers, lists, most, known: None, columns: Vec::new(), rows: 0 }
    }

    /// Number of elements.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Appends an element; if that fails it leaves no trace.
    pub(crate) fn push(&mut self, element: &Bound<'_, PyAny>) -> Result<()> {
        if self.known.is_none() {
            self.known = Some(self.first(element)?);
        }
        let Some(known) = &self.known else {
            return Err(Error::internal("a structure is known and is not").into());
        };
        // Most functions give one number.
        if let ([column], Packer::Leaf) = (&mut self.columns[..], &known.packer)
            && column.push_number(element)
        {
            self.rows += 1;
            return Ok(());
        }
        let mut leaves = Vec::with_capacity(self.columns.len());
        if !known.packer.unpack(element, self.lists, &mut leaves)? {
            let (got, _) = flatten(element, self.lists)?;
            let own = &known.structure;
            return invalid(format!("expected the structure {own} as before, got {got}"));
        }
        for (column, leaf) in self.columns.iter_mut().zip(&leaves) {
            column.push(leaf)?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Learns the structure from the first element.
    fn first(&mut self, element: &Bound<'_, PyAny>) -> Result<Arc<Known>> {
        let known = match self.packers.last() {
            Some(known) if known.packer.unpack(element, self.lists, &mut Vec::new())? => known,
            _ => {
                let (structure, _) = flatten(element, self.lists)?;
                self.packers.learn(element.py(), Arc::new(structure))?
            }
        };
        self.columns = (0..known.structure.leaves()).map(|_| Collector::new(self.most)).collect();
        Ok(known)
    }

    /// The chunk; `None` if there are no elements.
    pub(crate) fn finish(self) -> Result<Option<Chunk>> {
        let rows = self.rows;
        let Some(known) = self.known.filter(|_| rows > 0) else {
            return Ok(None);
        };
        let columns = self.columns.into_iter().map(|column| column.finish(rows));
        let columns = columns.collect::<Result<_>>()?;
        Ok(Some(Chunk::new(rows, Arc::clone(&known.structure), columns)?))
    }
}
