//! One run of a plan, as Python iterates over it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use headrace::Error;
use headrace::data::ForeignValue;
use headrace::engine::autotune::{Algorithm, AutotuneOptions, Meter};
use headrace::engine::losses::Loss;
use headrace::engine::node::Rewrites;
use headrace::engine::notices;
use headrace::engine::run::Caller;
use headrace::engine::state::State;
use headrace::engine::{self, RunOptions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value as Json;

use crate::convert::Access;
use crate::elements::{Packers, element, only_element};
use crate::enter::enter;
use crate::errors::{Result, invalid};
use crate::imports;
use crate::plan::Plan;
use crate::process;
use crate::shared::{SharedRun, Taken};
use crate::spares::{Lending, Spares};
use crate::spec::element_spec_to_python;

/// File, offset, bytes and reason of a damaged place.
type LossRow = (Option<String>, Option<u64>, Option<u64>, String);

/// How long closing waits for what is running.
const CLOSE: Duration = Duration::from_secs(10);

/// The options that the engine knows, from `Options.to_json`.
pub(crate) fn options(text: &str) -> Result<RunOptions> {
    let json: Json = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(error) => return invalid(format!("options are no JSON: {error}")),
    };
    let number = |value: &Json| value.as_u64().and_then(|n| usize::try_from(n).ok());
    let mut options = RunOptions::default();
    if let Some(deterministic) = json["deterministic"].as_bool() {
        options.deterministic = deterministic;
    }
    options.private_threadpool_size = number(&json["threading"]["private_threadpool_size"]);
    options.autotune = autotune_options(&json["autotune"]);
    let switches = &json["optimization"];
    if switches["apply_default_optimizations"].as_bool() == Some(false) {
        options.rewrites = Rewrites::NONE;
        options.inject_prefetch = false;
    }
    let set = |name: &str, switch: &mut bool| {
        *switch = switches[name].as_bool().unwrap_or(*switch);
    };
    set("inject_prefetch", &mut options.inject_prefetch);
    set("map_fusion", &mut options.rewrites.map_fusion);
    set("map_and_filter_fusion", &mut options.rewrites.map_and_filter_fusion);
    set("filter_fusion", &mut options.rewrites.filter_fusion);
    set("map_parallelization", &mut options.rewrites.map_parallelization);
    set("noop_elimination", &mut options.rewrites.noop_elimination);
    set("parallel_batch", &mut options.rewrites.parallel_batch);
    set("shuffle_and_repeat_fusion", &mut options.rewrites.shuffle_and_repeat_fusion);
    if let Some(rows) = number(&json["chunk_rows"]) {
        options.chunk_rows = rows.max(1);
    }
    Ok(options)
}

/// `Options.autotune` as JSON.
fn autotune_options(json: &Json) -> AutotuneOptions {
    let number = |name| json[name].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let algorithm = match json["autotune_algorithm"].as_str() {
        Some("MAX_PARALLELISM") => Algorithm::MaxParallelism,
        _ => Algorithm::HillClimb,
    };
    AutotuneOptions {
        enabled: json["enabled"].as_bool().unwrap_or(true),
        algorithm,
        cpu_budget: number("cpu_budget"),
        ram_budget: number("ram_budget"),
        initial_parallelism: number("initial_parallelism"),
        min_parallelism: number("min_parallelism"),
    }
}

/// The state from which a run of `plan` goes on where all shards of these states stood.
#[pyfunction]
pub(crate) fn reshard(plan: &Bound<'_, Plan>, states: Vec<String>) -> Result<String> {
    let states =
        states.iter().map(|state| State::from_json(state)).collect::<Result<Vec<_>, _>>()?;
    Ok(engine::reshard::reshard(&states, &plan.get().0)?.to_json()?)
}

/// Tells the user what the run came across. It is no reason to lose an element: what goes wrong is
/// reported as Python does where nobody can catch it.
fn tell_notices(py: Python<'_>) {
    for text in notices::take() {
        if let Err(error) = imports::notice(py).and_then(|notice| notice.call1((text,))) {
            error.write_unraisable(py, None);
        }
    }
}

/// One run of a plan. Several threads may share it.
#[pyclass(subclass, frozen, weakref, module = "headrace._headrace")]
pub(crate) struct Iterator {
    run: Arc<SharedRun>,
    packers: Packers,
    spares: Arc<Spares>,
    plan: engine::Plan,
}

#[pymethods]
impl Iterator {
    #[new]
    #[pyo3(signature = (plan, options, state, checkpointable=false))]
    fn new(
        py: Python<'_>,
        plan: &Bound<'_, Plan>,
        options: &str,
        state: Option<&str>,
        checkpointable: bool,
    ) -> Result<Self> {
        let options = RunOptions { checkpointable, ..self::options(options)? };
        let state = state.map(State::from_json).transpose()?;
        let plan = &plan.get().0;
        let context: ForeignValue = Arc::new(imports::copy_context(py)?.call0()?.unbind());
        let spares = Arc::new(Spares::default());
        let lender = Arc::new(Lending(Arc::clone(&spares)));
        let caller = Caller { surroundings: Some(context), lender: Some(lender) };
        let run = enter(py, || SharedRun::open(caller, plan, options, state.as_ref()))?;
        let run = Arc::new(run);
        process::register(&run);
        Ok(Iterator { run, packers: Packers::default(), spares, plan: Arc::clone(plan) })
    }

    #[getter]
    fn element_spec<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        element_spec_to_python(py, self.plan.spec())
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        let taken = match self.run.ready() {
            Some(taken) => Some(taken),
            None => {
                // `list(dataset)` never comes back to the interpreter, which would look.
                py.check_signals()?;
                self.spares.refill(py);
                let taken = enter(py, || self.run.next());
                tell_notices(py);
                taken?
            }
        };
        match taken {
            None => Ok(None),
            Some(Taken::Row(chunk, row)) => {
                let known = self.packers.known(py, chunk.structure())?;
                element(py, &known.packer, &chunk, row, Access::Own).map(Some)
            }
            Some(Taken::Only(chunk)) => {
                let known = self.packers.known(py, chunk.structure())?;
                only_element(py, &known.packer, chunk).map(Some)
            }
        }
    }

    fn state(&self, py: Python<'_>) -> Result<String> {
        enter(py, || self.run.state()?.to_json())
    }

    fn stats<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyList>> {
        let reports = enter(py, || self.run.reports())?;
        let account = self.run.context().account();
        let rows = reports.iter().map(|report| {
            let row = PyDict::new(py);
            row.set_item("name", report.name)?;
            row.set_item("depth", report.depth)?;
            row.set_item("elements", report.stats.elements.load(Ordering::Relaxed))?;
            row.set_item("busy_ns", report.stats.busy_ns.load(Ordering::Relaxed))?;
            row.set_item("input_wait_ns", report.stats.input_wait_ns.load(Ordering::Relaxed))?;
            row.set_item("output_wait_ns", report.stats.output_wait_ns.load(Ordering::Relaxed))?;
            let meters = report.stats.meters();
            if !meters.is_empty() {
                let sum =
                    |value: fn(&Meter) -> usize| meters.iter().map(|m| value(m)).sum::<usize>();
                row.set_item("parallelism", sum(|m| m.workers.now()))?;
                row.set_item("max_parallelism", sum(|m| m.workers.most()))?;
                row.set_item("window", sum(Meter::window))?;
                row.set_item("max_window", sum(Meter::most_window))?;
                row.set_item("queued", sum(|m| m.in_flight.load(Ordering::Relaxed)))?;
                let starved = meters.iter().map(|m| m.starved_ns.load(Ordering::Relaxed));
                row.set_item("starved_ns", starved.sum::<u64>())?;
            }
            row.set_item("elements_per_second", report.per_second)?;
            row.set_item("load", report.load)?;
            row.set_item("limiting", report.limiting)?;
            if let Some(shares) = report.stats.shares.get() {
                let counts = shares.iter().map(|count| count.load(Ordering::Relaxed));
                row.set_item("shares", counts.collect::<Vec<_>>())?;
            }
            let lost = report.stats.lost.load(Ordering::Relaxed);
            if lost > 0 {
                row.set_item("lost", lost)?;
                row.set_item("lost_bytes", report.stats.lost_bytes.load(Ordering::Relaxed))?;
            }
            row.set_item("held_bytes", report.stats.held_bytes.load(Ordering::Relaxed))?;
            row.set_item("peak_bytes", report.stats.peak_bytes.load(Ordering::Relaxed))?;
            row.set_item("queued_bytes", report.stats.queued_bytes.load(Ordering::Relaxed))?;
            let peak = report.stats.peak_queued_bytes.load(Ordering::Relaxed);
            row.set_item("peak_queued_bytes", peak)?;
            if report.depth == 0 {
                row.set_item("total_bytes", account.total())?;
                row.set_item("peak_total_bytes", account.peak())?;
                row.set_item("ram_budget", account.limit())?;
            }
            Ok(row)
        });
        Ok(PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)?)
    }

    /// How many damaged places were left out, their bytes, and file, offset, bytes and reason of
    /// the first of them.
    fn losses(&self, py: Python<'_>) -> Result<(u64, u64, Vec<LossRow>)> {
        let losses = enter(py, || {
            self.run.context().check_process()?;
            Ok(self.run.context().losses())
        })?;
        let file = |loss: &Loss| loss.file.as_deref().map(str::to_owned);
        let row = |loss: Loss| (file(&loss), loss.offset, loss.bytes, loss.reason);
        Ok((losses.count, losses.bytes, losses.places.into_iter().map(row).collect()))
    }

    fn close(&self, py: Python<'_>) -> Result<()> {
        enter(py, || self.run.close(Instant::now() + CLOSE).map(drop))
    }

    fn __reduce__(&self) -> Result<()> {
        Err(Error::unimplemented("an iterator does not pickle")
            .with_hint("pickle the dataset, and iterator.state() beside it")
            .into())
    }
}

impl Drop for Iterator {
    fn drop(&mut self) {
        if !self.run.is_here() {
            // Threads that are no more may hold its locks: a forked child lets it lie.
            std::mem::forget(Arc::clone(&self.run));
            return;
        }
        let mut parts = Some(self.run.dismantle());
        Python::try_attach(|py| {
            // An exception on its way out may be what drops the iterator: code that runs here
            // (a generator that is closed) must not lose it.
            let raised = PyErr::take(py);
            // Stages may wait for threads that wait for the GIL.
            let coming = py.detach(|| {
                drop(parts.take());
                process::stay_if_left()
            });
            drop(coming);
            self.spares.close();
            if let Some(raised) = raised {
                raised.restore(py);
            }
        });
    }
}
