//! The user's functions, called by the core: the GIL is taken once per chunk.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use headrace::Error;
use headrace::data::{Chunk, ElementSpec, Structure};
use headrace::graph::Fnv;
use headrace::graph::call::{Called, Prepared, UserFunction};
use headrace::transforms::ignore_errors::ErrorReport;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::convert::Access;
use crate::elements::{Elements, Packers, element};
use crate::enter::catch;
use crate::errors::{Fault, Result, exception};
use crate::graph::Graph;
use crate::nest::Lists;
use crate::packer::Packer;
use crate::process::{Inside, is_left};
use crate::spec::{element_spec, element_spec_to_python};

/// 64 bits that stand for `data`, the same in every process.
#[pyfunction]
pub(crate) fn fingerprint(data: &[u8]) -> u64 {
    let mut hash = Fnv::default();
    hash.raw(data);
    hash.finish()
}

/// A `headrace.function.Function`.
pub(crate) struct PythonFunction {
    function: Py<PyAny>,
    callable: Py<PyAny>,
    name: String,
    fingerprint: u64,
    /// The last graph draws random numbers or the like.
    impure: AtomicBool,
    /// The first element of a run goes through the function and its graph.
    on_trial: bool,
    arguments: Packers,
    results: Packers,
    /// Made inside a call of another function: it runs while what it captures is as it was.
    made_in_call: bool,
    /// What it was found to be, if it was made in a call.
    prepared: OnceLock<Prepared>,
}

impl PythonFunction {
    /// Wraps a `Function`.
    pub(crate) fn wrap(function: &Bound<'_, PyAny>) -> Result<Arc<dyn UserFunction>> {
        let py = function.py();
        Ok(Arc::new(PythonFunction {
            callable: function.getattr(intern!(py, "callable"))?.unbind(),
            name: function.getattr(intern!(py, "name"))?.extract()?,
            fingerprint: function.getattr(intern!(py, "fingerprint"))?.extract()?,
            function: function.clone().unbind(),
            impure: AtomicBool::new(false),
            on_trial: function.getattr(intern!(py, "on_trial"))?.extract()?,
            arguments: Packers::default(),
            results: Packers::default(),
            made_in_call: is_inside(),
            prepared: OnceLock::new(),
        }))
    }

    fn prepare_attached(&self, py: Python<'_>, input: &ElementSpec) -> Result<Prepared> {
        let spec = element_spec_to_python(py, input)?;
        let prepared = self.function.bind(py).call_method1(intern!(py, "prepare"), (spec,))?;
        if let Ok(graph) = prepared.cast::<Graph>() {
            let graph = Arc::clone(&graph.get().0);
            self.impure.store(!graph.is_pure(), Ordering::Relaxed);
            return Ok(Prepared::Graph(graph));
        }
        let (reason, gives): (String, Bound<'_, PyAny>) = prepared.extract()?;
        Ok(Prepared::Foreign { reason, gives: element_spec(&gives)? })
    }

    fn call_attached(&self, py: Python<'_>, chunk: &Chunk) -> Result<Called> {
        let packer = self.arguments.packer(py, chunk.structure())?;
        let positional = matches!(**chunk.structure(), Structure::Tuple(_));
        let callable = self.callable.bind(py);
        let mut results = Elements::new(&self.results, Lists::Tuple, chunk.rows());
        let mut error = None;
        for row in 0..chunk.rows() {
            let outcome = call_row(callable, &packer, chunk, row, positional);
            if let Err(fault) = outcome.and_then(|result| results.push(&result)) {
                error = Some(self.named(fault));
                break;
            }
        }
        let done = results.finish()?.map(|done| done.marked(chunk.mark.clone()));
        Ok(Called { done, error })
    }

    /// Says which function it was where the error is ours; an exception has its traceback.
    fn named(&self, fault: Fault) -> Error {
        match fault {
            Fault::Core(error) => {
                let text = format!("the result of {}: {}", self.name, error.message());
                Error::new(error.kind(), text)
            }
            fault => fault.into(),
        }
    }
}

thread_local! {
    /// How many calls of functions this thread is in, and the random ops made in the innermost.
    static CALLS: Cell<(usize, i64)> = const { Cell::new((0, 0)) };
}

/// A call of a user's function, while it lasts.
struct Call((usize, i64));

impl Call {
    fn begin() -> Self {
        let outer = CALLS.get();
        CALLS.set((outer.0 + 1, 0));
        Call(outer)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        CALLS.set(self.0);
    }
}

/// True while this thread calls a function of a dataset.
pub(crate) fn is_inside() -> bool {
    CALLS.get().0 > 0
}

/// The number of a new random op in the call that this thread is in; `None` outside of calls.
#[pyfunction]
pub(crate) fn call_seed() -> Option<i64> {
    let (depth, made) = CALLS.get();
    CALLS.set((depth, made + i64::from(depth > 0)));
    (depth > 0).then_some(made)
}

/// Calls the function on one row. A plain tuple becomes positional arguments.
fn call_row<'py>(
    callable: &Bound<'py, PyAny>,
    packer: &Packer,
    chunk: &Chunk,
    row: usize,
    positional: bool,
) -> Result<Bound<'py, PyAny>> {
    let _call = Call::begin();
    let argument = element(callable.py(), packer, chunk, row, Access::View)?;
    if positional {
        return Ok(callable.call1(argument.cast_into::<PyTuple>()?)?);
    }
    Ok(callable.call1((argument,))?)
}

/// Runs `work` with the GIL; `Cancelled` if the interpreter is leaving.
pub(crate) fn attached<T>(work: impl FnOnce(Python<'_>) -> Result<T>) -> headrace::Result<T> {
    catch(|| {
        if is_left() {
            return Err(Error::cancelled());
        }
        let outcome = Python::try_attach(|py| {
            let _inside = Inside::new(py);
            work(py).map_err(Error::from)
        });
        match outcome {
            Some(outcome) => outcome,
            None => Err(Error::cancelled()),
        }
    })
}

impl UserFunction for PythonFunction {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn hash64(&self) -> u64 {
        self.fingerprint
    }

    fn prepare(&self, input: &ElementSpec) -> headrace::Result<Prepared> {
        if let Some(prepared) = self.prepared.get() {
            return Ok(prepared.clone());
        }
        let prepared = attached(|py| self.prepare_attached(py, input))?;
        if self.made_in_call {
            let _ = self.prepared.set(prepared.clone());
        }
        Ok(prepared)
    }

    fn call(&self, chunk: &Chunk) -> Called {
        attached(|py| self.call_attached(py, chunk)).unwrap_or_else(Called::failed)
    }

    fn is_exempt_from_trial(&self) -> bool {
        !self.on_trial || self.impure.load(Ordering::Relaxed)
    }
}

/// A callable of the user that is told of errors.
pub(crate) struct PythonReport(pub(crate) Py<PyAny>);

impl ErrorReport for PythonReport {
    fn report(&self, error: Error) -> headrace::Result<()> {
        attached(|py| {
            let exception = exception(py, error);
            self.0.call1(py, (exception.value(py),))?;
            Ok(())
        })
    }
}
