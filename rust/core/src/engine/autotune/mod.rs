//! Numbers of tasks and sizes of windows that the engine chooses, and moves during a run.
//!
//! A driver has knobs, which it reads each time it needs them, and a meter, which counts what it
//! did and who waited. The run's controller has no thread: who passes by after a wait makes a step
//! if some time has gone by since the last, and all others pass on after one look at the clock.
//! A step reads the meters and moves the knobs (`climb`), within the run's share of the process's
//! cores and threads (`share`). Which elements come, and in which order, never depends on it.

mod climb;
pub mod knob;
pub mod meter;
mod options;
mod share;

pub use knob::{Knob, Window};
pub use meter::Meter;
pub use options::{Algorithm, AutotuneOptions};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::engine::autotune::climb::{Bounds, Buffer, Climb, Cores, Depth};
use crate::engine::autotune::share::{Seat, Share};
use crate::engine::lock;
use crate::engine::pool;
use crate::engine::sync::Mutex;

/// Time between two steps.
const STEP_NS: u64 = 20_000_000;

/// What moves the knobs of one run.
#[derive(Debug, Default)]
pub struct Controller {
    /// There is something to move.
    any: AtomicBool,
    /// When the next step is due.
    due_ns: AtomicU64,
    tuned: Mutex<Tuned>,
}

#[derive(Debug, Default)]
struct Tuned {
    drivers: Vec<(Arc<Meter>, Rule)>,
    seat: Option<Arc<Seat>>,
}

#[derive(Debug)]
enum Rule {
    Cores(Cores),
    Climb(Climb),
    Buffer(Buffer),
    Group(Climb, Depth),
}

impl Controller {
    /// Takes a driver in, if anything about it is to be moved.
    pub fn register(&self, meter: &Arc<Meter>) {
        let rule = match &meter.window {
            _ if !meter.workers.is_fixed() && meter.blocking => Rule::Climb(Climb::default()),
            _ if !meter.workers.is_fixed() => Rule::Cores(Cores::default()),
            Window::Chunks(chunks) if !chunks.is_fixed() => Rule::Buffer(Buffer::default()),
            _ => return,
        };
        self.add(meter, rule);
    }

    /// Takes the drivers of a group in, which have a meter together.
    pub fn register_group(&self, meter: &Arc<Meter>) {
        let moves = |chunks: &Window| matches!(chunks, Window::Chunks(knob) if !knob.is_fixed());
        if !meter.workers.is_fixed() || moves(&meter.window) {
            self.add(meter, Rule::Group(Climb::default(), Depth::default()));
        }
    }

    fn add(&self, meter: &Arc<Meter>, rule: Rule) {
        lock(&self.tuned).drivers.push((Arc::clone(meter), rule));
        self.any.store(true, Relaxed);
    }

    /// Makes a step if one is due at `now_ns` of the run, and nobody else makes it.
    pub fn pass(&self, now_ns: u64) {
        let due = self.due_ns.load(Relaxed);
        if now_ns < due || !self.any.load(Relaxed) {
            return;
        }
        let next = now_ns + STEP_NS;
        if self.due_ns.compare_exchange(due, next, Relaxed, Relaxed).is_ok()
            && let Ok(mut tuned) = self.tuned.try_lock()
        {
            tuned.step(now_ns);
        }
    }
}

impl Tuned {
    fn step(&mut self, now_ns: u64) {
        self.drivers.retain(|(meter, _)| !meter.closed.load(Relaxed));
        if self.drivers.is_empty() {
            self.seat = None;
            return;
        }
        let share = self.share();
        for (meter, rule) in &mut self.drivers {
            rule.step(meter, now_ns, share);
        }
    }

    /// What the run may use now.
    fn share(&mut self) -> Share {
        let mut wants = Share { cores: 0, threads: 0 };
        for (meter, rule) in &self.drivers {
            // Nothing is known of a driver that is new: it wants what it has.
            let or_now = |wants: usize| if wants > 0 { wants } else { meter.workers.now() };
            match rule {
                Rule::Cores(rule) => wants.cores = wants.cores.max(or_now(rule.wants)),
                Rule::Climb(rule) | Rule::Group(rule, _) => {
                    wants.threads = wants.threads.max(or_now(rule.wants))
                }
                Rule::Buffer(_) => {}
            }
        }
        let all = Share { cores: pool::parallelism(), threads: pool::blocking_limit() };
        if self.seat.is_none() {
            self.seat = Seat::take(wants);
        }
        self.seat.as_ref().and_then(|seat| seat.share(wants, all)).unwrap_or(all)
    }
}

impl Rule {
    fn step(&mut self, meter: &Meter, now_ns: u64, share: Share) {
        let counts = meter.counts(now_ns);
        let within = |knob: &Knob, share: usize| {
            let most = knob.most().min(share).max(knob.least());
            Bounds { least: knob.least(), most }
        };
        let workers = &meter.workers;
        match self {
            Rule::Cores(cores) => {
                workers.set(cores.step(counts, workers.now(), within(workers, share.cores)));
            }
            Rule::Climb(climb) => {
                workers.set(climb.step(counts, workers.now(), within(workers, share.threads)));
            }
            Rule::Group(climb, depth) => {
                workers.set(climb.step(counts, workers.now(), within(workers, share.threads)));
                if let Window::Chunks(chunks) = &meter.window {
                    chunks.set(depth.step(counts, chunks.now(), within(chunks, usize::MAX)));
                }
            }
            Rule::Buffer(buffer) => {
                if let Window::Chunks(chunks) = &meter.window {
                    chunks.set(buffer.step(counts, chunks.now(), within(chunks, usize::MAX)));
                }
            }
        }
    }
}
