//! Seeds that were drawn for elements that nobody has taken yet.
//!
//! What reads ahead draws for elements that may never be asked for: those above it may stop before
//! they come. So a run keeps a journal of such draws. They go out of it when the consumer takes the
//! elements; what is left when nobody will take more is taken back. So how far something is read
//! ahead does not matter to what is drawn later, and is not in states. So it is with passes that fill
//! a cache: only what reads ahead itself sees them, until the consumer has taken their end.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Weak};

use crate::data::ForeignValue;
use crate::engine::lock;
use crate::engine::nested_log;
use crate::engine::run::RunContext;
use crate::engine::seeds::{self, SeedGenerator};
use crate::engine::sync::{Mutex, thread_local};
use crate::error::{Error, Result};

/// A draw that can be taken back.
pub(crate) enum Draw {
    /// That of a stage of the run's own plan.
    Own { slot: usize, generator: Arc<SeedGenerator>, made: seeds::Made },
    /// That of a dataset that a function has captured, by a plan that the stage with this slot has opened.
    Captured { slot: usize, path: Vec<u64>, generator: Arc<SeedGenerator>, made: nested_log::Made },
    /// That of a node which was made in the call.
    InCall { generator: Arc<SeedGenerator>, number: u64 },
    /// The number of a plan that a stage opens.
    Opening { context: Weak<RunContext>, slot: usize, number: u64 },
    /// The end of a pass that fills a cache.
    Fill(Fill),
}

/// A pass that has filled a cache.
pub(crate) struct Fill {
    /// What tells the cache from others.
    pub(crate) cache: usize,
    pub(crate) rows: ForeignValue,
    /// Called once it is known whether the pass counts.
    pub(crate) settle: Box<dyn FnOnce(bool) -> Result<()> + Send>,
}

impl Draw {
    fn keep(self) -> Result<()> {
        match self {
            Draw::Fill(fill) => (fill.settle)(true),
            _ => Ok(()),
        }
    }

    fn take_back(self, run: &RunContext) {
        match self {
            Draw::Own { slot, generator, made } => {
                let mut draws = lock(&run.draws);
                let number = draws.get_mut(&slot).and_then(|log| log.take_back(made));
                number.into_iter().for_each(|number| generator.give_back(number));
            }
            Draw::Captured { slot, path, generator, made } => {
                let number = run.nested.take_back(slot, &path, &made);
                number.into_iter().for_each(|number| generator.give_back(number));
            }
            Draw::InCall { generator, number } => generator.give_back(number),
            Draw::Opening { context, slot, number } => {
                context.upgrade().iter().for_each(|context| context.nested.close(slot, number));
            }
            // Nothing can go wrong with what is only forgotten.
            Draw::Fill(fill) => drop((fill.settle)(false)),
        }
    }
}

/// The draws of a run that were made ahead, in their order.
#[derive(Default)]
pub(crate) struct Journal(Mutex<Vec<Entry>>);

struct Entry {
    by: Arc<Lookahead>,
    /// Its number among those of `by`.
    number: u64,
    draw: Draw,
}

impl Journal {
    /// Calls `f` with the draws made ahead, the last first, while none is made or taken.
    pub(crate) fn with<T>(&self, f: impl FnOnce(&mut dyn Iterator<Item = &Draw>) -> T) -> T {
        f(&mut lock(&self.0).iter().rev().map(|entry| &entry.draw))
    }
}

/// One that reads ahead: a driver, or what takes elements before their turn.
pub(crate) struct Lookahead {
    run: Arc<RunContext>,
    /// That in whose input it stands.
    outer: Option<Arc<Lookahead>>,
    /// How many draws it has made.
    drawn: AtomicU64,
    left: AtomicBool,
}

thread_local! {
    /// Who reads ahead in this thread.
    static READER: RefCell<Option<Arc<Lookahead>>> = const { RefCell::new(None) };
}

/// Puts back who was reading before.
struct Before(Option<Arc<Lookahead>>);

impl Drop for Before {
    fn drop(&mut self) {
        READER.with(|reader| *reader.borrow_mut() = self.0.take());
    }
}

impl Lookahead {
    /// One in the input of `outer`.
    pub(crate) fn new(run: &Arc<RunContext>, outer: Option<&Arc<Lookahead>>) -> Arc<Self> {
        Arc::new(Lookahead {
            run: Arc::clone(run.root()),
            outer: outer.cloned(),
            drawn: AtomicU64::new(0),
            left: AtomicBool::new(false),
        })
    }

    /// Calls `f`, which reads ahead, and tells which draws that took: for [`Lookahead::taken`].
    pub(crate) fn read<T>(self: &Arc<Self>, f: impl FnOnce() -> T) -> (T, Range<u64>) {
        let first = self.drawn.load(SeqCst);
        let before = READER.with(|reader| reader.borrow_mut().replace(Arc::clone(self)));
        let before = Before(before);
        let out = f();
        drop(before);
        (out, first..self.drawn.load(SeqCst))
    }

    /// The elements of these draws are taken: by who reads ahead in this thread, or for good.
    ///
    /// # Errors
    /// What keeps the rows of a pass from being kept.
    pub(crate) fn taken(&self, draws: Range<u64>) -> Result<()> {
        if draws.is_empty() {
            return Ok(());
        }
        let reader = READER.with(|reader| reader.borrow().clone());
        let mut entries = lock(&self.run.journal.0);
        let of_these = |entry: &Entry| {
            std::ptr::eq(&raw const *entry.by, self) && draws.contains(&entry.number)
        };
        let Some(reader) = reader else {
            let (taken, kept) = entries.drain(..).partition::<Vec<_>, _>(of_these);
            *entries = kept;
            // Under the lock: who reads ahead finds the rows of a pass here or where they are kept.
            return taken.into_iter().try_for_each(|entry| entry.draw.keep());
        };
        for entry in entries.iter_mut().filter(|entry| of_these(entry)) {
            entry.number = reader.drawn.fetch_add(1, SeqCst);
            entry.by = Arc::clone(&reader);
        }
        Ok(())
    }

    /// Nobody will take more: draws of elements that were not taken are taken back.
    pub(crate) fn leave(&self) {
        // In a forked child the locks are those of threads that it does not have.
        if !self.run.is_here() {
            return;
        }
        let mut entries = lock(&self.run.journal.0);
        self.left.store(true, SeqCst);
        let (left, kept) = entries.drain(..).partition::<Vec<_>, _>(|entry| entry.by.is_left());
        *entries = kept;
        left.into_iter().rev().for_each(|entry| entry.draw.take_back(&self.run));
    }

    /// True if what `other` has taken comes before what this one reads.
    fn sees(&self, other: &Arc<Lookahead>) -> bool {
        std::ptr::eq(self, &raw const **other)
            || self.outer.as_ref().is_some_and(|outer| outer.sees(other))
    }

    fn is_left(&self) -> bool {
        self.left.load(SeqCst) || self.outer.as_ref().is_some_and(|outer| outer.is_left())
    }
}

/// Makes a draw, and notes it if who reads ahead makes it; else it counts at once.
///
/// # Errors
/// `Cancelled` if nobody will take what is read here; what keeps the rows of a pass from being kept.
pub(crate) fn draw<T>(make: impl FnOnce() -> (T, Option<Draw>)) -> Result<T> {
    let Some(reader) = READER.with(|reader| reader.borrow().clone()) else {
        let (out, draw) = make();
        return draw.map_or(Ok(()), Draw::keep).map(|()| out);
    };
    let mut entries = lock(&reader.run.journal.0);
    if reader.is_left() {
        return Err(Error::cancelled());
    }
    let (out, draw) = make();
    if let Some(draw) = draw {
        let number = reader.drawn.fetch_add(1, SeqCst);
        entries.push(Entry { by: Arc::clone(&reader), number, draw });
    }
    drop(entries);
    Ok(out)
}

/// The rows of a pass that was made ahead, if what is read in this thread comes after it.
pub(crate) fn filled(cache: usize) -> Option<ForeignValue> {
    let reader = READER.with(|reader| reader.borrow().clone())?;
    let entries = lock(&reader.run.journal.0);
    entries.iter().find_map(|entry| match &entry.draw {
        Draw::Fill(fill) if fill.cache == cache && reader.sees(&entry.by) => {
            Some(Arc::clone(&fill.rows))
        }
        _ => None,
    })
}
