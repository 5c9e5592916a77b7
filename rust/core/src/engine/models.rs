//! Models of what runs at once: the driver's window, the pool, permits and cancellation.
//!
//! `make models` builds them. The code is the engine's own; only its locks, channels and threads
//! are other ones (`engine::sync`), whose scheduler tries out some thousands of orders of events,
//! at random and by priorities (PCT). A failure prints its schedule, which `shuttle::replay` plays
//! again. A model that stands still is a deadlock, and fails; so does one that goes on only because
//! a wait timed out, for then somebody forgot to wake somebody.

#![allow(clippy::unwrap_used)]

mod cancel;
mod driver;
mod group;
mod lookahead;
mod permits;
mod pool;
mod rows;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Schedule, Scheduler, Task, TaskId};
use shuttle::{Config, MaxSteps, Runner, thread};

use crate::data::{Chunk, Column, DType, ElementSpec, Spec, Tensor};
use crate::engine::autotune::{AutotuneOptions, Knob, Window};
use crate::engine::driver::{Driver, Outcomes, Plan as How, Work};
use crate::engine::lock;
use crate::engine::node::Arg;
use crate::engine::pool::Kind;
use crate::engine::run::{Caller, RunContext};
use crate::engine::stats::StageStats;
use crate::engine::sync::{Condvar, Mutex, late_waits, set_standstill, start_clock};
use crate::engine::wait::POLL;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, RunOptions, Skipped, Stage};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::rows::Hands;

/// Orders of events that are tried out by each scheduler. `HEADRACE_MODELS` multiplies them.
const ORDERS: usize = 100;

/// The number of the clock among the threads of a model.
const CLOCK: usize = 1;

/// Lets time pass, by running the model's clock, when nothing else can run; and once in a while
/// before, if in a hurry.
struct Clocked<S> {
    inner: S,
    /// Time passes at one of so many steps; never for 0.
    hurry: u64,
    random: u64,
}

impl<S: Scheduler> Scheduler for Clocked<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.inner.new_execution()
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let clock = TaskId::from(CLOCK);
        let others: Vec<&Task> =
            runnable.iter().filter(|task| task.id() != clock).copied().collect();
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let hurry = self.hurry > 0
            && (self.random >> 33).is_multiple_of(self.hurry)
            && others.len() < runnable.len();
        if others.is_empty() || hurry {
            set_standstill(others.is_empty());
            return Some(clock);
        }
        self.inner.next_task(&others, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }
}

/// How a model takes waits that end by a time-out.
#[derive(Clone, Copy, PartialEq)]
enum Late {
    /// Nobody may wait in vain, but for the short time that tasks have to find a thread.
    Never,
    /// Any wait may time out at any moment.
    AtAnyTime,
}

fn runs<S: Scheduler + 'static>(inner: S, late: Late, model: Arc<dyn Fn() + Send + Sync>) {
    let mut config = Config::new();
    config.stack_size = 1 << 20;
    config.silence_warnings = true;
    config.max_steps = MaxSteps::FailAfter(20_000);
    let hurry = if late == Late::AtAnyTime { 24 } else { 0 };
    let scheduler = Clocked { inner, hurry, random: 1 };
    Runner::new(scheduler, config).run(move || {
        start_clock(POLL);
        model();
        assert!(late == Late::AtAnyTime || late_waits() == 0, "{} waits in vain", late_waits());
    });
}

/// Tries out orders of the events of a model.
fn explore(late: Late, model: impl Fn() + Send + Sync + 'static) {
    let factor = std::env::var("HEADRACE_MODELS").ok().and_then(|text| text.parse().ok());
    let orders = ORDERS * factor.unwrap_or(1);
    let model: Arc<dyn Fn() + Send + Sync> = Arc::new(model);
    runs(RandomScheduler::new_from_seed(7, orders), late, Arc::clone(&model));
    runs(PctScheduler::new_from_seed(7, 3, orders), late, model);
}

/// Consecutive numbers, in chunks of `rows`; some of them fail.
#[derive(Clone)]
struct Numbers {
    left: Range<i64>,
    rows: usize,
    quiet: bool,
    fails_at: Option<i64>,
    spec: ElementSpec,
}

fn numbers(count: i64) -> Numbers {
    let spec = ElementSpec::leaf(Spec::scalar(DType::Int64));
    Numbers { left: 0..count, rows: 1, quiet: true, fails_at: None, spec }
}

fn chunk(values: &[i64]) -> Result<Chunk> {
    Chunk::of_column(Column::Stacked(Tensor::from_values(&[values.len()], values)?))
}

fn values(chunk: &Chunk) -> Vec<i64> {
    match &chunk.columns()[0] {
        Column::Stacked(tensor) => tensor.values::<i64>().unwrap().to_vec(),
        _ => unreachable!("numbers are stacked"),
    }
}

impl Stage for Numbers {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        thread::yield_now();
        let start = self.left.start;
        if self.fails_at == Some(start) {
            self.left.start += 1;
            return Err(Error::data_loss(start.to_string()));
        }
        let to = self.fails_at.filter(|at| *at > start).unwrap_or(self.left.end);
        let end = to.min(start + max.min(self.rows) as i64);
        self.left.start = end;
        let taken: Vec<i64> = (start..end).collect();
        if taken.is_empty() { Ok(None) } else { chunk(&taken).map(Some) }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let skipped = n.min((self.left.end - self.left.start) as u64);
        self.left.start += skipped as i64;
        Ok(skipped)
    }

    fn quiet(&self) -> bool {
        self.quiet
    }
}

impl Node for Numbers {
    fn name(&self) -> &'static str {
        "numbers"
    }

    fn args(&self) -> Vec<Arg> {
        Vec::new()
    }

    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Unknown
    }

    fn open(&self, _opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        Ok(Box::new(self.clone()))
    }
}

/// What sources and functions tell of what they do.
#[derive(Default)]
struct Watch {
    seen: Mutex<Seen>,
    changed: Condvar,
}

#[derive(Default)]
struct Seen {
    /// Who began, in this order.
    begun: Vec<usize>,
    running: usize,
    /// How many ran at once.
    most: usize,
}

impl Watch {
    fn begin(&self, who: usize) {
        let mut seen = lock(&self.seen);
        seen.begun.push(who);
        seen.running += 1;
        seen.most = seen.most.max(seen.running);
        self.changed.notify_all();
    }

    fn end(&self) {
        lock(&self.seen).running -= 1;
    }

    fn begun(&self) -> usize {
        lock(&self.seen).begun.len()
    }

    /// Waits until so many have begun; one that never does is a deadlock.
    fn wait_for(&self, count: usize) {
        let mut seen = lock(&self.seen);
        while seen.begun.len() < count {
            seen = self.changed.wait_timeout(seen, Duration::MAX).unwrap().0;
        }
    }
}

/// Numbers of which it is seen when they are pulled.
struct Watched(Numbers, usize, Arc<Watch>);

impl Stage for Watched {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.2.begin(self.1);
        let chunk = self.0.next(max);
        self.2.end();
        chunk
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.0.skip(n)
    }

    fn quiet(&self) -> bool {
        self.0.quiet()
    }
}

/// Shut until somebody opens it.
#[derive(Default)]
struct Gate(Mutex<bool>, Condvar);

impl Gate {
    fn open(&self) {
        *lock(&self.0) = true;
        self.1.notify_all();
    }

    fn pass(&self) {
        let mut open = lock(&self.0);
        while !*open {
            open = self.1.wait_timeout(open, Duration::MAX).unwrap().0;
        }
    }
}

/// A driver as a stage, to stand below another one.
struct Driven(Driver);

impl Stage for Driven {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        self.0.next(max)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.0.skip(n)
    }

    fn quiet(&self) -> bool {
        self.0.quiet()
    }
}

/// Work that takes a while: others run meanwhile.
struct Add(i64);

impl Work for Add {
    fn run(&self, input: Chunk, _first: u64, _hands: &dyn Hands) -> Outcomes {
        thread::yield_now();
        let sums: Vec<i64> = values(&input).iter().map(|value| value + self.0).collect();
        thread::yield_now();
        Outcomes::from([chunk(&sums)])
    }
}

/// A driver of two tasks that keeps the order.
fn how() -> How {
    How { work: Some(Arc::new(Add(0))), ..How::new(Knob::fixed(2), Window::fixed(2), Kind::Work) }
}

/// A driver of foreign functions: one element for each task, which may block.
fn foreign() -> How {
    How { single: true, kind: Kind::Blocking, ..how() }
}

/// A thread that moves the number of tasks and the window of drivers while they run.
fn moving(workers: Arc<Knob>, window: Arc<Knob>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        for n in [3, 1, 2] {
            workers.set(n);
            thread::yield_now();
            window.set(n);
            thread::yield_now();
        }
    })
}

fn context(permits: Option<usize>) -> Arc<RunContext> {
    context_of(RunOptions { private_threadpool_size: permits, ..RunOptions::default() })
}

fn context_of(options: RunOptions) -> Arc<RunContext> {
    let plan: Plan = Arc::new(numbers(0));
    Arc::new(RunContext::new(&plan, options, None, Caller::default()))
}

fn driver(source: impl Stage + 'static, how: How, run: &Arc<RunContext>) -> Driver {
    let stats = Arc::new(StageStats::on_account(run.account(), &ElementSpec::Unknown));
    Driver::new(Input::new(Box::new(source), run), how, run, &stats)
}

/// All that a driver gives, an error as the number it names.
fn all(driver: &mut Driver, max: usize) -> Vec<i64> {
    let mut seen = Vec::new();
    loop {
        match driver.next(max) {
            Ok(Some(chunk)) => {
                assert!(chunk.rows() <= max);
                seen.extend(values(&chunk));
            }
            Ok(None) => return seen,
            Err(error) => seen.push(error.message().parse().unwrap()),
        }
    }
}

/// Waits until the run has no tasks.
fn assert_tasks_end(run: &RunContext) {
    let limit = std::time::Instant::now() + Duration::from_secs(600);
    assert!(run.wait_for_tasks(limit), "tasks go on");
}
