//! `from_generator`: Python iterators as sources of the core.
//!
//! A generator runs with the context variables that were set where its run was opened.

use std::sync::Arc;

use headrace::Error;
use headrace::data::{Chunk, ElementSpec, ForeignValue};
use headrace::engine::skipping::{SkipError, Skipped};
use headrace::sources::generator::{ForeignIterator, ForeignSource};
use pyo3::intern;
use pyo3::prelude::*;

use crate::call::attached;
use crate::elements::{Elements, Packers};
use crate::errors::Result;
use crate::imports;
use crate::nest::Lists;
use crate::spec::element_spec;

/// A `headrace.generator.Source`.
pub(crate) struct PythonSource {
    source: Py<PyAny>,
    name: String,
    spec: ElementSpec,
    fingerprint: u64,
    live: bool,
}

impl PythonSource {
    /// Wraps a `Source`.
    pub(crate) fn wrap(source: &Bound<'_, PyAny>) -> Result<Arc<dyn ForeignSource>> {
        let py = source.py();
        Ok(Arc::new(PythonSource {
            name: source.getattr(intern!(py, "name"))?.extract()?,
            fingerprint: source.getattr(intern!(py, "fingerprint"))?.extract()?,
            live: source.getattr(intern!(py, "live"))?.extract()?,
            spec: element_spec(&source.getattr(intern!(py, "element_spec"))?)?,
            source: source.clone().unbind(),
        }))
    }
}

impl ForeignSource for PythonSource {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn hash64(&self) -> u64 {
        self.fingerprint
    }

    fn is_live(&self) -> bool {
        self.live
    }

    fn open(
        &self,
        surroundings: Option<&ForeignValue>,
    ) -> headrace::Result<Box<dyn ForeignIterator>> {
        attached(|py| {
            // A context is entered by one thread at a time: each generator has a copy.
            let context = match surroundings.and_then(|around| around.downcast_ref::<Py<PyAny>>()) {
                Some(context) => context.bind(py).call_method0(intern!(py, "copy"))?,
                None => imports::copy_context(py)?.call0()?,
            };
            Ok(Box::new(PythonIterator {
                source: self.source.clone_ref(py),
                run: context.getattr(intern!(py, "run"))?.unbind(),
                iterator: None,
                packers: Packers::default(),
                index: 0,
                over: false,
                pending: None,
            }) as _)
        })
    }
}

/// An iterator of a source; made when the first element is asked for.
struct PythonIterator {
    source: Py<PyAny>,
    /// `Context.run` of the context of the run.
    run: Py<PyAny>,
    iterator: Option<Py<PyAny>>,
    packers: Packers,
    /// Number of the next element.
    index: u64,
    over: bool,
    /// The error of the element after those handed out.
    pending: Option<Error>,
}

impl PythonIterator {
    /// The next raw value, or `None` at the end.
    fn pull<'py>(&mut self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        if self.over {
            return Ok(None);
        }
        let pulled = self.pull_raw(py);
        if !matches!(pulled, Ok(Some(_))) {
            self.over = true;
            self.iterator = None;
        }
        pulled
    }

    fn pull_raw<'py>(&mut self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        let run = self.run.bind(py);
        let iterator = match &self.iterator {
            Some(iterator) => iterator.bind(py).clone(),
            None => {
                let open = self.source.bind(py).getattr(intern!(py, "open"))?;
                let iterator = run.call1((open,))?;
                self.iterator = Some(iterator.clone().unbind());
                iterator
            }
        };
        let end = imports::sentinel(py)?;
        let value = run.call1((imports::next(py)?, iterator, end))?;
        Ok(if value.is(end) { None } else { Some(value) })
    }

    fn fill(&mut self, py: Python<'_>, max: usize) -> Result<Option<Chunk>> {
        let convert = self.source.bind(py).getattr(intern!(py, "convert"))?;
        let packers = std::mem::take(&mut self.packers);
        let mut elements = Elements::new(&packers, Lists::Leaf, max);
        while elements.rows() < max {
            let outcome = match self.pull(py) {
                Ok(None) => break,
                Ok(Some(value)) => {
                    self.index += 1;
                    let converted = convert.call1((value, self.index - 1));
                    converted.map_err(Into::into).and_then(|value| elements.push(&value))
                }
                Err(fault) => Err(fault),
            };
            if let Err(fault) = outcome {
                self.pending = Some(fault.into());
                break;
            }
        }
        let chunk = elements.finish();
        self.packers = packers;
        chunk
    }

    fn close_attached(&mut self, py: Python<'_>) -> Result<()> {
        self.over = true;
        let Some(iterator) = self.iterator.take() else {
            return Ok(());
        };
        if let Some(close) = iterator.bind(py).getattr_opt(intern!(py, "close"))? {
            self.run.bind(py).call1((close,))?;
        }
        Ok(())
    }
}

impl ForeignIterator for PythonIterator {
    fn next(&mut self, max: usize) -> headrace::Result<Option<Chunk>> {
        if let Some(error) = self.pending.take() {
            return Err(error);
        }
        match attached(|py| self.fill(py, max))? {
            Some(chunk) => Ok(Some(chunk)),
            None => self.pending.take().map_or(Ok(None), Err),
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        if let Some(error) = self.pending.take() {
            return Err(SkipError::behind(0, error));
        }
        let mut skipped = 0;
        let outcome = attached(|py| {
            while skipped < n && self.pull(py)?.is_some() {
                self.index += 1;
                skipped += 1;
            }
            Ok(())
        });
        outcome.map(|()| skipped).map_err(|error| SkipError::behind(skipped, error))
    }

    fn close(&mut self) {
        // Nobody is left to be told of an exception while closing: it is shown, as Python does.
        let _ = attached(|py| {
            if let Err(fault) = self.close_attached(py) {
                PyErr::from(fault).write_unraisable(py, Some(self.source.bind(py)));
            }
            Ok(())
        });
    }
}
