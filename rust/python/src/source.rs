//! `from_source`: Python objects with numbered elements as sources of the core.

use std::sync::Arc;

use headrace::data::{Chunk, Column, ElementSpec, Structure};
use headrace::graph::call::Called;
use headrace::sources::from_source::IndexedSource;
use pyo3::intern;
use pyo3::prelude::*;

use crate::call::attached;
use crate::elements::{Elements, Packers};
use crate::errors::Result;
use crate::from_python::slices;
use crate::nest::Lists;
use crate::spec::element_spec;

/// A `headrace.source.Source`.
pub(crate) struct PythonObject {
    source: Py<PyAny>,
    name: String,
    spec: ElementSpec,
    len: u64,
    live: bool,
    /// Elements are rows of arrays, which come many at a time.
    stacked: bool,
    packers: Packers,
}

impl PythonObject {
    /// Wraps a `Source`.
    pub(crate) fn wrap(source: &Bound<'_, PyAny>) -> Result<Arc<dyn IndexedSource>> {
        let py = source.py();
        Ok(Arc::new(PythonObject {
            name: source.getattr(intern!(py, "name"))?.extract()?,
            spec: element_spec(&source.getattr(intern!(py, "element_spec"))?)?,
            len: source.getattr(intern!(py, "length"))?.extract()?,
            live: source.getattr(intern!(py, "live"))?.extract()?,
            stacked: source.getattr(intern!(py, "stacked"))?.extract()?,
            source: source.clone().unbind(),
            packers: Packers::default(),
        }))
    }

    /// Rows of an array, all at once.
    fn rows(&self, py: Python<'_>, indices: &[u64]) -> Result<Chunk> {
        let (first, last) = match indices {
            [first, .., last] => (*first, *last),
            [only] => (*only, *only),
            [] => return Err(headrace::Error::internal("no elements are asked for").into()),
        };
        let source = self.source.bind(py);
        let run = last >= first && (last - first) as usize == indices.len() - 1;
        let array = if run && indices.is_sorted() {
            source.call_method1(intern!(py, "slice"), (first, last + 1))?
        } else {
            source.call_method1(intern!(py, "pick"), (indices.to_vec(),))?
        };
        let column: Column = slices(&array)?;
        if column.len() != indices.len() {
            let (want, got) = (indices.len(), column.len());
            let text = format!("{} gave {got} rows where {want} were asked for", self.name);
            return Err(headrace::Error::invalid_argument(text).into());
        }
        Ok(Chunk::new(column.len(), Arc::new(Structure::Leaf), vec![column])?)
    }

    /// Elements one by one; stops at the first that fails.
    fn items(&self, py: Python<'_>, indices: &[u64]) -> Result<Called> {
        let item = self.source.bind(py).getattr(intern!(py, "item"))?;
        let mut elements = Elements::new(&self.packers, Lists::Leaf, indices.len());
        let mut error = None;
        for index in indices {
            let made = item.call1((*index,)).map_err(Into::into);
            if let Err(fault) = made.and_then(|value| elements.push(&value)) {
                error = Some(fault.into());
                break;
            }
        }
        Ok(Called { done: elements.finish()?, error })
    }
}

impl IndexedSource for PythonObject {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn is_live(&self) -> bool {
        self.live
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn fetch(&self, indices: &[u64]) -> Called {
        let fetched = attached(|py| {
            if self.stacked {
                return self.rows(py, indices).map(Called::all);
            }
            self.items(py, indices)
        });
        fetched.unwrap_or_else(|error| Called { done: None, error: Some(error) })
    }
}
