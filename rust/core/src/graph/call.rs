//! How stages call a user's function: as a graph on trial, or as foreign code.
//!
//! A function says at the start of each run what it is ([`UserFunction::prepare`]). Where it is a
//! graph, the first element of the run goes through both the graph and the function; only if the
//! two agree is the rest left to the graph. The verdict can be kept, so that a resumed run goes on
//! as it went before.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use crate::data::{Chunk, ElementSpec, Spec};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::check;
use crate::graph::graph::Graph;
use crate::graph::rows::{Alone, Hands, call_rows};
use crate::graph::trial::{Trial, try_out};
use crate::random::Site;
use crate::random::site::CallSeeds;

/// Tells whether a run has ended.
pub type IsOver = Arc<dyn Fn() -> bool + Send + Sync>;

/// A function of the user: the one way from the engine into foreign code.
pub trait UserFunction: Send + Sync {
    /// Name and place: `parse at train.py:12`.
    fn name(&self) -> String;

    /// The same in each process for the same code.
    fn hash64(&self) -> u64;

    /// Called when a run opens the stage, which is when captured values are read: a graph, or
    /// the reason why the function runs as foreign code.
    ///
    /// # Errors
    /// If the function can run in neither way on such elements.
    fn prepare(&self, input: &ElementSpec) -> Result<Prepared>;

    /// Calls the function on each row in order, the first of which stands at `site`; stops at the
    /// first row that fails.
    fn call(&self, chunk: &Chunk, site: &Site) -> Called;

    /// Where random ops in it get their seeds from; without, they have none of their own.
    fn seeds(&self) -> Option<&CallSeeds> {
        None
    }

    /// The function as it is in one run, if that is something of its own: its processes, say.
    /// `is_over` tells when the run has ended.
    ///
    /// # Errors
    /// What keeps it from running at all.
    fn for_run(&self, is_over: IsOver) -> Result<Option<Arc<dyn UserFunction>>> {
        drop(is_over);
        Ok(None)
    }

    /// The run will not call the function any more.
    fn release(&self) {}

    /// True if its calls can be observed by nobody, as far as is known; only asked of functions that
    /// give datasets.
    fn is_silent(&self) -> bool {
        false
    }

    /// True if in addition nothing in the datasets that it gives can be observed.
    fn gives_quiet(&self) -> bool {
        false
    }

    /// How many rows a worker of a parallel stage should be given at once.
    fn rows_per_call(&self) -> usize {
        1
    }

    /// True if its calls compute elsewhere, in processes, so that each needs a core.
    fn needs_cores(&self) -> bool {
        false
    }

    /// True if the graph cannot be compared with the function: it draws random numbers, say.
    fn is_exempt_from_trial(&self) -> bool {
        false
    }
}

/// What a function is in a run.
#[derive(Clone, Debug)]
pub enum Prepared {
    /// A graph, to be tried.
    Graph(Arc<Graph>),
    /// Foreign code.
    Foreign {
        /// Why it is no graph, for `explain`.
        reason: String,
        /// What its results look like, where that is known all the same.
        gives: ElementSpec,
    },
}

impl Prepared {
    /// What results look like, as far as that is known before a run.
    pub fn gives(&self) -> ElementSpec {
        match self {
            Prepared::Graph(graph) => graph.element_spec(),
            Prepared::Foreign { gives, .. } => gives.clone(),
        }
    }
}

/// The outcome of a call on a chunk.
pub struct Called {
    /// The results of the rows before the failing one; `None` if there are none.
    pub done: Option<Chunk>,
    /// The error of the row after those; `None` if all rows are done.
    pub error: Option<Error>,
}

impl Called {
    /// All rows are done.
    pub fn all(chunk: Chunk) -> Self {
        Called { done: Some(chunk), error: None }
    }

    /// The first row fails.
    pub fn failed(error: Error) -> Self {
        Called { done: None, error: Some(error) }
    }
}

/// How the trial of a function ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The graph stands for the function.
    Native,
    /// The function runs as foreign code.
    Foreign {
        /// Why, for `explain`.
        reason: String,
    },
}

/// A function in one run. Several workers may call it at once.
pub struct FunctionRun {
    function: Arc<dyn UserFunction>,
    /// Unset until the first element where nothing is known of the input before.
    graph: OnceLock<Option<Arc<Graph>>>,
    verdict: OnceLock<Verdict>,
    /// Held during the trial; others wait for its verdict.
    trial: Mutex<()>,
    /// What the first results of foreign code looked like; later ones must too.
    results: OnceLock<ElementSpec>,
    /// Asked between heavy rows: fails once the run is over.
    check: Check,
}

/// What fails once work is no longer wanted.
pub type Check = Arc<dyn Fn() -> Result<()> + Send + Sync>;

impl FunctionRun {
    /// Prepares the function for a run. A verdict of an earlier part of the same run stands.
    ///
    /// # Errors
    /// Those of [`UserFunction::prepare`].
    pub fn open(
        function: Arc<dyn UserFunction>,
        input: &ElementSpec,
        verdict: Option<Verdict>,
        check: Check,
    ) -> Result<Self> {
        let run = FunctionRun {
            function,
            graph: OnceLock::new(),
            verdict: OnceLock::new(),
            trial: Mutex::new(()),
            results: OnceLock::new(),
            check,
        };
        match verdict {
            Some(foreign @ Verdict::Foreign { .. }) => {
                let _ = run.graph.set(None);
                run.settle(foreign);
            }
            kept => {
                kept.into_iter().for_each(|kept| run.settle(kept));
                if *input != ElementSpec::Unknown {
                    run.prepare(input)?;
                }
            }
        }
        Ok(run)
    }

    fn settle(&self, verdict: Verdict) {
        let _ = self.verdict.set(verdict);
    }

    fn prepare(&self, input: &ElementSpec) -> Result<()> {
        let graph = match self.function.prepare(input)? {
            Prepared::Foreign { reason, .. } => {
                self.settle(Verdict::Foreign { reason });
                None
            }
            Prepared::Graph(graph) => {
                if self.function.is_exempt_from_trial() {
                    self.settle(Verdict::Native);
                }
                Some(graph)
            }
        };
        let _ = self.graph.set(graph);
        Ok(())
    }

    /// The function.
    pub fn function(&self) -> &Arc<dyn UserFunction> {
        &self.function
    }

    /// The graph, unless the function runs as foreign code.
    pub fn graph(&self) -> Option<&Arc<Graph>> {
        self.known_graph().filter(|_| self.is_native())
    }

    /// True if a graph runs, or will unless its trial fails.
    pub fn is_native(&self) -> bool {
        self.known_graph().is_some() && !matches!(self.verdict.get(), Some(Verdict::Foreign { .. }))
    }

    fn known_graph(&self) -> Option<&Arc<Graph>> {
        self.graph.get().and_then(Option::as_ref)
    }

    /// True if the next call runs foreign code: always, or for the trial.
    pub fn is_foreign_next(&self) -> bool {
        !matches!(self.verdict.get(), Some(Verdict::Native))
    }

    /// True unless it is known to draw no random numbers.
    pub fn may_draw(&self) -> bool {
        self.graph().is_none_or(|graph| !graph.is_pure())
    }

    /// How the trial ended; `None` before.
    pub fn verdict(&self) -> Option<Verdict> {
        self.verdict.get().cloned()
    }

    /// What the results look like, if the graph says so.
    pub fn element_spec(&self) -> ElementSpec {
        self.graph().map_or(ElementSpec::Unknown, |graph| graph.element_spec())
    }

    /// Fails if results differ in structure or dtypes from the first of the run. Shapes may.
    ///
    /// # Errors
    /// `InvalidArgument` that shows both.
    pub fn hold(&self, results: &Chunk) -> Result<()> {
        let seen = results.loose_spec();
        let first = self.results.get_or_init(|| seen.clone());
        let (ElementSpec::Known(a, first), ElementSpec::Known(b, seen)) = (first, &seen) else {
            return Ok(());
        };
        let same = |(a, b): (&Spec, &Spec)| a.widen(b).is_some();
        if a == b && first.iter().zip(seen.iter()).all(same) {
            return Ok(());
        }
        let list = |specs: &[Spec]| specs.iter().map(Spec::kind).collect::<Vec<_>>().join(", ");
        let (first, seen) = (list(first), list(seen));
        Err(Error::invalid_argument(format!(
            "expected a result like the first one, {a} of ({first}), got {b} of ({seen})"
        ))
        .with_hint("return the same structure and dtypes for every element"))
    }

    /// Calls the function on each row in order, the first of which stands at `site`; stops at the
    /// first row that fails.
    pub fn call(&self, chunk: &Chunk, site: &Site) -> Called {
        self.call_with(chunk, site, &Alone)
    }

    /// As [`FunctionRun::call`], where others may take part in rows that are much work each.
    pub fn call_with(&self, chunk: &Chunk, site: &Site, hands: &dyn Hands) -> Called {
        if self.graph.get().is_none()
            && let Err(error) = self.prepare_for(chunk)
        {
            return Called::failed(error);
        }
        match (self.known_graph(), self.verdict.get()) {
            (Some(graph), Some(Verdict::Native)) => self.call_graph(graph, chunk, site, hands),
            (Some(graph), None) => self.call_on_trial(graph, chunk, site, hands),
            _ => self.function.call(chunk, site),
        }
    }

    /// Prepares the function for elements like those of the first chunk.
    fn prepare_for(&self, chunk: &Chunk) -> Result<()> {
        let _guard = self.trial.lock().unwrap_or_else(PoisonError::into_inner);
        if self.graph.get().is_some() {
            return Ok(());
        }
        self.prepare(&chunk.loose_spec())
    }

    fn call_on_trial(
        &self,
        graph: &Arc<Graph>,
        chunk: &Chunk,
        site: &Site,
        hands: &dyn Hands,
    ) -> Called {
        // The guard protects no data, so a panic of the function leaves nothing broken.
        let guard = self.trial.lock().unwrap_or_else(PoisonError::into_inner);
        if self.verdict.get().is_some() {
            drop(guard);
            return self.call_with(chunk, site, hands);
        }
        let first = match chunk.slice(0..1) {
            Ok(first) => first,
            Err(error) => return Called::failed(error),
        };
        let theirs = self.function.call(&first, site);
        match check::under(&self.check, || try_out(graph, &first, site, &theirs)) {
            Trial::Agrees => {
                let _ = self.verdict.set(Verdict::Native);
                drop(guard);
                self.call_graph(graph, chunk, site, hands)
            }
            // No values to compare: the next element is tried.
            Trial::BothFail => theirs,
            Trial::Differs(reason) => {
                let _ = self.verdict.set(Verdict::Foreign { reason });
                drop(guard);
                self.go_on_foreign(theirs, chunk, site)
            }
        }
    }

    /// Evaluates the graph; where that fails, finds the first row that does.
    fn call_graph(
        &self,
        graph: &Arc<Graph>,
        chunk: &Chunk,
        site: &Site,
        hands: &dyn Hands,
    ) -> Called {
        if chunk.rows() > 1 && graph.is_heavy() {
            let called = call_rows(graph, chunk, site, &self.check, hands);
            return Called { error: called.error.map(without_row), ..called };
        }
        let eval =
            |chunk: &Chunk, site: &Site| check::under(&self.check, || graph.eval(chunk, site));
        match eval(chunk, site) {
            Ok(done) => Called::all(done),
            // It is over: no row of it failed.
            Err(error) if error.kind() == ErrorKind::Cancelled => Called::failed(error),
            Err(error) if chunk.rows() <= 1 => Called::failed(without_row(error)),
            Err(_) => {
                let mut done = Vec::new();
                let error = bisect(&eval, chunk, site, &mut done).err().map(without_row);
                if done.is_empty() {
                    return Called { done: None, error };
                }
                match Chunk::concat(done) {
                    Ok(done) => Called { done: Some(done), error },
                    Err(concat) => Called::failed(concat),
                }
            }
        }
    }

    /// The rows after the first, whose outcome is known, as foreign code.
    fn go_on_foreign(&self, first: Called, chunk: &Chunk, site: &Site) -> Called {
        let (Some(done), None) = (&first.done, &first.error) else { return first };
        if chunk.rows() == 1 {
            return first;
        }
        let rest = match chunk.slice(1..chunk.rows()) {
            Ok(rest) => self.function.call(&rest, &site.at(1)),
            Err(error) => Called::failed(error),
        };
        let Some(more) = rest.done else {
            return Called { done: first.done, error: rest.error };
        };
        match Chunk::concat(vec![done.clone(), more]) {
            Ok(both) => Called { done: Some(both), error: rest.error },
            Err(error) => Called { done: first.done, error: Some(error) },
        }
    }
}

/// Evaluates halves of a chunk that failed as a whole, up to the first row that fails.
fn bisect(
    eval: &dyn Fn(&Chunk, &Site) -> Result<Chunk>,
    chunk: &Chunk,
    site: &Site,
    done: &mut Vec<Chunk>,
) -> Result<()> {
    let half = chunk.rows() / 2;
    let first = (chunk.slice(0..half)?, *site);
    let second = (chunk.slice(half..chunk.rows())?, site.at(half as u64));
    for (part, site) in [first, second] {
        match eval(&part, &site) {
            Ok(result) => done.push(result),
            Err(error) if part.rows() == 1 => return Err(error),
            // A failing part has a failing row, or the graph does not keep rows apart.
            Err(_) => bisect(eval, &part, &site, done)?,
        }
    }
    Ok(())
}

/// A row of a chunk is no record of the user's: its number is left out.
fn without_row(error: Error) -> Error {
    if error.place().file.is_some() { error } else { error.without_record() }
}

#[cfg(test)]
mod tests;
