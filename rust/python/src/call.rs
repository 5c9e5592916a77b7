//! The user's functions, called by the core: the GIL is taken once per chunk.
//!
//! With `executor="process"` a run has its own worker processes. To the core they are a function of
//! Python as any other: who calls it waits, with the GIL released.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use headrace::data::{Chunk, ElementSpec, Structure};
use headrace::engine::seeds;
use headrace::engine::wait::is_interruptible;
use headrace::graph::Fnv;
use headrace::graph::call::{Called, IsOver, Prepared, UserFunction};
use headrace::random::Site;
use headrace::random::site::{CallSeeds, OpSeed};
use headrace::transforms::ignore_errors::ErrorReport;
use headrace::{Error, ErrorKind};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple, PyType};

use crate::convert::Access;
use crate::elements::{Elements, Packers, element};
use crate::enter::catch;
use crate::errors::{Fault, Result, exception};
use crate::graph::Graph;
use crate::imports;
use crate::nest::Lists;
use crate::packer::Packer;
use crate::process::{Coming, Inside, is_left, is_of_engine};
use crate::spec::{element_spec, element_spec_to_python};
use crate::thread_state::try_attach;

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
    /// Nobody can notice its calls, as far as the last preparation saw.
    silent: AtomicBool,
    /// Nor what is in the datasets it gives.
    quiet: bool,
    /// It runs in worker processes.
    in_processes: bool,
    arguments: Packers,
    results: Packers,
    /// What random ops in it draw by; Python may hold it too, to pickle it.
    seeds: Option<Py<FunctionSeeds>>,
    /// Made inside a call of another function: it runs while what it captures is as it was.
    made_in_call: bool,
    /// What it was found to be, if it was made in a call.
    prepared: OnceLock<Prepared>,
    /// The worker processes of its run.
    pool: Option<Pool>,
}

/// A `headrace.process_pool.ProcessPool`.
struct Pool {
    pool: Py<PyAny>,
    /// How many rows are sent at once.
    rows: AtomicUsize,
}

/// Rows are sent to a process at once up to this many...
const MOST_ROWS: usize = 64;
/// ... as long as they take no longer than this together: sending takes some 50 us.
const CALL_NS: usize = 1_000_000;

impl PythonFunction {
    /// Wraps a `Function`.
    pub(crate) fn wrap(function: &Bound<'_, PyAny>) -> Result<Arc<dyn UserFunction>> {
        Ok(Arc::new(Self::new(function, None)?))
    }

    fn new(function: &Bound<'_, PyAny>, pool: Option<Pool>) -> Result<Self> {
        let py = function.py();
        Ok(PythonFunction {
            callable: function.getattr(intern!(py, "callable"))?.unbind(),
            name: function.getattr(intern!(py, "name"))?.extract()?,
            fingerprint: function.getattr(intern!(py, "fingerprint"))?.extract()?,
            function: function.clone().unbind(),
            seeds: match function.getattr_opt(intern!(py, "seeds"))? {
                Some(seeds) => Some(seeds.cast_into::<FunctionSeeds>()?.unbind()),
                None => None,
            },
            impure: AtomicBool::new(false),
            on_trial: function.getattr(intern!(py, "on_trial"))?.extract()?,
            silent: AtomicBool::new(is_set(function, intern!(py, "silent"))?),
            quiet: is_set(function, intern!(py, "quiet"))?,
            in_processes: match function.getattr_opt(intern!(py, "executor"))? {
                Some(executor) => executor.eq("process")?,
                None => false,
            },
            arguments: Packers::default(),
            results: Packers::default(),
            made_in_call: is_inside(),
            prepared: OnceLock::new(),
            pool,
        })
    }

    fn prepare_attached(&self, py: Python<'_>, input: &ElementSpec) -> Result<Prepared> {
        let spec = element_spec_to_python(py, input)?;
        let function = self.function.bind(py);
        let prepared = function.call_method1(intern!(py, "prepare"), (spec,))?;
        self.silent.store(is_set(function, intern!(py, "silent"))?, Ordering::Relaxed);
        if let Ok(graph) = prepared.cast::<Graph>() {
            let graph = Arc::clone(&graph.get().0);
            self.impure.store(!graph.is_pure(), Ordering::Relaxed);
            return Ok(Prepared::Graph(graph));
        }
        let (reason, gives): (String, Bound<'_, PyAny>) = prepared.extract()?;
        Ok(Prepared::Foreign { reason, gives: element_spec(&gives)? })
    }

    fn call_attached(&self, py: Python<'_>, chunk: &Chunk, site: &Site) -> Result<Called> {
        let known = self.arguments.known(py, chunk.structure())?;
        let positional = matches!(**chunk.structure(), Structure::Tuple(_));
        let mut results = Elements::new(&self.results, Lists::Tuple, chunk.rows());
        if let Some(pool) = &self.pool {
            let error =
                self.call_processes(py, pool, (chunk, site), &known.packer, &mut results)?;
            let done = results.finish()?.map(|done| done.marked(chunk.mark.clone()));
            return Ok(Called { done, error });
        }
        let callable = self.callable.bind(py);
        let mut error = None;
        for row in 0..chunk.rows() {
            let _call = Call::begin(site.at(row as u64));
            let outcome = call_row(callable, &known.packer, chunk, row, positional);
            if let Err(fault) = outcome.and_then(|result| results.push(&result)) {
                error = Some(self.named(fault));
                break;
            }
        }
        let done = results.finish()?.map(|done| done.marked(chunk.mark.clone()));
        Ok(Called { done, error })
    }

    /// As [`Self::call_attached`], in worker processes; returns the error of the row that failed.
    fn call_processes(
        &self,
        py: Python<'_>,
        pool: &Pool,
        (chunk, site): (&Chunk, &Site),
        packer: &Packer,
        results: &mut Elements<'_>,
    ) -> Result<Option<Error>> {
        let sites = (0..chunk.rows()).map(|row| site.at(row as u64).to_words());
        let sites = PyList::new(py, sites.collect::<Vec<_>>())?;
        let rows = PyList::empty(py);
        for row in 0..chunk.rows() {
            let argument = element(py, packer, chunk, row, Access::View)?;
            match **chunk.structure() {
                Structure::Tuple(_) => rows.append(argument)?,
                _ => rows.append((argument,))?,
            }
        }
        let began = Instant::now();
        let outcomes = pool.pool.bind(py).call_method1(intern!(py, "run"), (rows, sites))?;
        let mut outcomes = outcomes.try_iter()?;
        let mut error = None;
        for _ in 0..chunk.rows() {
            let outcome = match outcomes.next() {
                Some(outcome) => outcome.map_err(Fault::from),
                None => Err(Error::internal("a worker gave fewer results than rows").into()),
            };
            if let Err(fault) = outcome.and_then(|result| results.push(&result)) {
                error = Some(self.of_process(py, fault)?);
                break;
            }
        }
        if error.is_none() {
            // The worker is free once the last result is done with.
            outcomes.next().transpose()?;
            let ns = usize::try_from(began.elapsed().as_nanos()).unwrap_or(usize::MAX);
            let best = CALL_NS / (ns / chunk.rows()).max(1);
            let most = pool.rows.load(Ordering::Relaxed) * 2;
            pool.rows.store(best.min(most).clamp(1, MOST_ROWS), Ordering::Relaxed);
        }
        Ok(error)
    }

    /// The error of a row that a process failed at.
    fn of_process(&self, py: Python<'_>, fault: Fault) -> Result<Error> {
        if let Fault::Python(error) = &fault {
            if error.is_instance(py, imports::ended(py)?) {
                return Ok(Error::cancelled());
            }
            if error.is_instance(py, imports::worker_died(py)?) {
                return Ok(Error::new(ErrorKind::Aborted, error.value(py).to_string()));
            }
        }
        Ok(self.named(fault))
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
    static CALLS: Cell<Calls> = const { Cell::new(Calls { depth: 0, made: 0, drawn: 0, site: None }) };
}

/// Where a thread is in functions of datasets.
#[derive(Clone, Copy)]
struct Calls {
    /// How many calls it is in.
    depth: usize,
    /// Seeded steps of datasets that the innermost has made.
    made: i64,
    /// Random ops that the innermost has run.
    drawn: u32,
    /// The element of the innermost.
    site: Option<Site>,
}

/// A call of a user's function, while it lasts.
struct Call(Calls);

impl Call {
    fn begin(site: Site) -> Self {
        let outer = CALLS.get();
        CALLS.set(Calls { depth: outer.depth + 1, made: 0, drawn: 0, site: Some(site) });
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
    CALLS.get().depth > 0
}

/// True while this thread calls a function of a dataset.
#[pyfunction]
pub(crate) fn is_in_call() -> bool {
    is_inside()
}

/// Two words of the system's entropy for something that was given no seed.
#[pyfunction]
pub(crate) fn fresh_pair() -> (u64, u64) {
    seeds::fresh_pair()
}

/// The number of a new random op in the call that this thread is in; `None` outside of calls.
#[pyfunction]
pub(crate) fn call_seed() -> Option<i64> {
    let calls = CALLS.get();
    let inside = calls.depth > 0;
    CALLS.set(Calls { made: calls.made + i64::from(inside), ..calls });
    inside.then_some(calls.made)
}

/// The seed of the next random op in the call that this thread is in, `seed` that of the op; `None`
/// outside of calls.
#[pyfunction]
#[pyo3(signature = (seed))]
pub(crate) fn element_seed(seed: Option<i64>) -> Option<(i64, i64)> {
    let calls = CALLS.get();
    let op = match seed {
        Some(seed) => OpSeed::Given(seed),
        None => {
            CALLS.set(Calls { drawn: calls.drawn + 1, ..calls });
            OpSeed::Numbered(calls.drawn)
        }
    };
    let [first, second] = calls.site?.seeds(op, 1).next()?;
    Some((first as i64, second as i64))
}

/// Calls a function in a worker process as if it were called for the element at `site`.
#[pyfunction]
pub(crate) fn call_at<'py>(
    site: [u64; 6],
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let _call = Call::begin(Site::from_words(site));
    function.call1(args)
}

/// The key of the generator that is an argument of the call that this thread is in.
#[pyfunction]
pub(crate) fn argument_key() -> Option<(u64, u64)> {
    let [first, second] = CALLS.get().site?.seeds(OpSeed::Argument, 1).next()?;
    Some((first, second))
}

/// What random ops in a function draw by, from one run to the next.
#[pyclass(frozen, module = "headrace._headrace")]
pub(crate) struct FunctionSeeds(CallSeeds);

#[pymethods]
impl FunctionSeeds {
    /// Seeds that follow from `pair`, or else from `entropy`; `global_seed` goes with the seeds
    /// of ops.
    #[new]
    #[pyo3(signature = (global_seed, pair, entropy, drawn=0))]
    fn new(global_seed: u64, pair: Option<(u64, u64)>, entropy: (u64, u64), drawn: u64) -> Self {
        let seeds = CallSeeds::new(global_seed, pair, entropy);
        seeds.advance(drawn);
        FunctionSeeds(seeds)
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> (Bound<'py, PyType>, (u64, Option<(u64, u64)>, (u64, u64), u64)) {
        let seeds = &slf.get().0;
        let pair = seeds.is_seeded().then_some(seeds.pair());
        (slf.get_type(), (seeds.global(), pair, seeds.pair(), seeds.drawn()))
    }
}

/// Calls the function on one row. A plain tuple becomes positional arguments.
fn call_row<'py>(
    callable: &Bound<'py, PyAny>,
    packer: &Packer,
    chunk: &Chunk,
    row: usize,
    positional: bool,
) -> Result<Bound<'py, PyAny>> {
    let argument = element(callable.py(), packer, chunk, row, Access::View)?;
    if positional {
        return Ok(callable.call1(argument.cast_into::<PyTuple>()?)?);
    }
    Ok(callable.call1((argument,))?)
}

/// Runs `work` with the GIL; `Cancelled` if the interpreter is leaving.
pub(crate) fn attached<T>(work: impl FnOnce(Python<'_>) -> Result<T>) -> headrace::Result<T> {
    catch(|| {
        let coming = Coming::new();
        // A thread of the user's that builds a plan has the GIL.
        if is_left() && (is_of_engine() || is_interruptible()) {
            return Err(Error::cancelled());
        }
        let outcome = try_attach(|py| {
            let _inside = Inside::new(py);
            drop(coming);
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

    fn call(&self, chunk: &Chunk, site: &Site) -> Called {
        attached(|py| self.call_attached(py, chunk, site)).unwrap_or_else(Called::failed)
    }

    fn seeds(&self) -> Option<&CallSeeds> {
        self.seeds.as_ref().map(|seeds| &seeds.get().0)
    }

    fn for_run(&self, is_over: IsOver) -> headrace::Result<Option<Arc<dyn UserFunction>>> {
        if !self.in_processes {
            return Ok(None);
        }
        attached(|py| {
            let function = self.function.bind(py);
            let is_over = Bound::new(py, RunEnd(is_over))?;
            let pool = function.call_method1(intern!(py, "pool"), (is_over,))?;
            let pool = Pool { pool: pool.unbind(), rows: AtomicUsize::new(1) };
            Ok(Some(Arc::new(PythonFunction::new(function, Some(pool))?) as _))
        })
    }

    fn release(&self) {
        if let Some(pool) = &self.pool {
            // An interpreter that is leaving takes its workers along.
            let _ = attached(|py| {
                // An exception on its way out may be what drops the run.
                let raised = PyErr::take(py);
                let closed = pool.pool.call_method0(py, intern!(py, "close"));
                if let Some(raised) = raised {
                    raised.restore(py);
                }
                closed?;
                Ok(())
            });
        }
    }

    fn is_silent(&self) -> bool {
        self.silent.load(Ordering::Relaxed)
    }

    fn gives_quiet(&self) -> bool {
        self.quiet
    }

    fn rows_per_call(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.rows.load(Ordering::Relaxed))
    }

    fn needs_cores(&self) -> bool {
        self.pool.is_some()
    }

    fn is_exempt_from_trial(&self) -> bool {
        !self.on_trial || self.impure.load(Ordering::Relaxed)
    }
}

impl Drop for PythonFunction {
    fn drop(&mut self) {
        self.release();
    }
}

/// A flag that the object may have.
fn is_set(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> Result<bool> {
    object.getattr_opt(name)?.map_or(Ok(false), |flag| Ok(flag.is_truthy()?))
}

/// Tells whether a run is over.
#[pyclass(frozen, module = "headrace._headrace")]
struct RunEnd(IsOver);

#[pymethods]
impl RunEnd {
    fn __call__(&self) -> bool {
        (self.0)()
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
