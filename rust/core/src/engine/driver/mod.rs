//! A driver pulls ahead of its consumer and works on several chunks at once.
//!
//! It is a set of tasks, not a thread. Each task takes the source's lock, pulls one chunk, puts a
//! slot for its result into the channel (so slots stand in the order of the input), releases the
//! lock and does the work. Tasks end when as many slots as the window allows are not taken, and are
//! spawned again when the consumer makes room. A consumer that finds the channel empty and the source free does
//! a round itself, so it never waits for a task that has no thread yet.

mod consumer;
mod rows;
mod tasks;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::data::Chunk;
use crate::engine::autotune::{Knob, Meter, Window};
use crate::engine::budget::{Charge, Queue};
use crate::engine::group::Group;
use crate::engine::lookahead::Lookahead;
use crate::engine::pool::Kind;
use crate::engine::run::RunContext;
use crate::engine::stage::Input;
use crate::engine::stats::StageStats;
use crate::engine::sync::atomic::{AtomicBool, AtomicUsize};
use crate::engine::sync::{Mutex, Receiver, Sender};
use crate::error::Result;
use crate::graph::rows::Hands;

/// What happens to a chunk between source and consumer.
pub trait Work: Send + Sync {
    /// The outcomes for the elements of a chunk, in order; `first` is the number of its first
    /// element among the outcomes of the input. `hands` may work on elements that are much work.
    fn run(&self, chunk: Chunk, first: u64, hands: &dyn Hands) -> Outcomes;

    /// How many elements at once are best, of a driver that takes single ones.
    fn rows(&self) -> usize {
        1
    }

    /// True if it needs a core, though the thread that runs it may block.
    fn needs_cores(&self) -> bool {
        false
    }

    /// True if one element is much work, or much memory.
    fn is_heavy(&self) -> bool {
        false
    }
}

/// Outcomes in order: chunks, and errors that stand for one element each.
pub type Outcomes = VecDeque<Result<Chunk>>;

/// How a driver goes about it.
pub struct Plan {
    /// What to do with each chunk; `None` hands it on as it is.
    pub work: Option<Arc<dyn Work>>,
    /// At most so many tasks at once.
    pub workers: Arc<Knob>,
    /// At most so many chunks in work or waiting for the consumer.
    pub window: Window,
    /// One element at a time, for foreign functions: each worker has one.
    pub single: bool,
    /// Whether what the input hands on at a time stays together, and becomes one outcome.
    pub whole: bool,
    /// Whether small chunks of the input are joined up to the consumer's demand.
    pub fill: bool,
    /// Whether results keep the order of the input.
    pub ordered: bool,
    /// How many later results may overtake one that keeps its order otherwise; for single elements.
    pub reorder: usize,
    /// Which threads run the tasks.
    pub kind: Kind,
    /// Drivers of the same consumer with which it shares a number of tasks.
    pub group: Option<Arc<Group>>,
}

impl Plan {
    /// Hands the chunks of the input on as they are, in their order.
    pub fn new(workers: Arc<Knob>, window: Window, kind: Kind) -> Self {
        Plan {
            work: None,
            workers,
            window,
            single: false,
            whole: false,
            fill: false,
            ordered: true,
            reorder: 0,
            kind,
            group: None,
        }
    }
}

/// What goes with outcomes from the source to the consumer.
struct Ticket {
    charge: Charge,
    /// Numbers of the draws that were made for them.
    draws: Range<u64>,
    /// More than is needed may be asked for after them.
    quiet: bool,
}

enum Slot {
    Done(Result<Chunk>, Ticket),
    Working(Receiver<Worked>),
    /// Nothing but a sign that the source is free, to a consumer that found a task there.
    Nudge,
}

/// What became of a chunk.
type Worked = (Outcomes, Ticket);

struct Source {
    input: Input,
    /// The number of the next outcome.
    pulled: u64,
    /// `None` once the input has ended.
    slots: Option<Sender<Slot>>,
}

/// What a driver's consumer and its tasks share.
pub(super) struct Shared {
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    /// Its knobs and counters.
    meter: Arc<Meter>,
    /// What its chunks take.
    queue: Arc<Queue>,
    plan: Plan,
    /// Who draws for it.
    lookahead: Arc<Lookahead>,
    /// Numbers of the draws on the way to the end of the input. Not with the source, whose lock is
    /// held by tasks that wait for permits, of which the consumer may have the last.
    last_draws: OnceLock<Range<u64>>,
    source: Mutex<Source>,
    /// What the consumer last asked for: chunks of that size reach it without being cut or joined.
    demand: AtomicUsize,
    /// Rows of chunks in work that any task may take.
    open: rows::Open,
    /// Whether the input may be asked for more than is needed, as far as is known.
    quiet: AtomicBool,
    /// Tasks that are spawned and have not ended.
    tasks: AtomicUsize,
    /// Tasks that have a thread.
    running: AtomicUsize,
    /// The consumer waits, or is about to: what comes next is admitted whatever the budget.
    hungry: AtomicBool,
    /// A nudge is on its way.
    nudged: AtomicBool,
    dropped: AtomicBool,
    /// Since when, in nanoseconds of the run, the driver has stood still because its channel is
    /// full; 0 if it does not.
    stalled: AtomicU64,
}

/// The consumer's end of a driver.
pub struct Driver {
    shared: Arc<Shared>,
    slots: Receiver<Slot>,
    /// Slots that were taken from the channel before their turn, and how many have overtaken them.
    held: VecDeque<(Slot, usize)>,
    /// Outcomes of the slot taken last.
    ready: Outcomes,
    /// What they take, if the consumer has left some.
    charge: Option<Charge>,
    /// How many elements the consumer takes at once.
    max: usize,
    /// How long it waits for a task to start.
    patience: Duration,
    /// The consumer has waited for a task to start.
    waited: bool,
    /// More than is needed may be asked for after what was taken last.
    quiet: bool,
}

enum Round {
    Pulled(Chunk, u64, Ticket),
    Outcome(Result<Chunk>, Ticket),
    End,
    Full,
}
