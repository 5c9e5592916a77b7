//! Rows that are much work each, shared by the tasks of a driver.
//!
//! A task opens the rows of its chunk to the others and works on them itself, but first on those of
//! chunks before it: the consumer waits for the oldest. Others take part instead of waiting for the
//! source or ending, and so does a consumer whose chunk is not done. So one chunk keeps all tasks
//! busy, and nobody waits for a thread: only who has begun a row is waited for.

use std::sync::Arc;

use crate::engine::driver::Shared;
use crate::engine::lock;
use crate::engine::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use crate::engine::sync::{Condvar, Mutex};
use crate::engine::wait::POLL;
use crate::graph::rows::{Alone, EachRow, Hands};

/// The rows of one chunk.
pub(super) struct Rows {
    row: EachRow,
    turns: Mutex<Turns>,
    ended: Condvar,
}

struct Turns {
    next: usize,
    end: usize,
    /// Rows that somebody works on.
    begun: usize,
}

impl Rows {
    fn new(count: usize, row: EachRow) -> Self {
        let turns = Turns { next: 0, end: count, begun: 0 };
        Rows { row, turns: Mutex::new(turns), ended: Condvar::new() }
    }

    fn are_left(&self) -> bool {
        let turns = lock(&self.turns);
        turns.next < turns.end
    }

    /// Works on the next row; false if none is left.
    fn work(&self) -> bool {
        let mut turns = lock(&self.turns);
        if turns.next >= turns.end {
            return false;
        }
        let number = turns.next;
        turns.next += 1;
        turns.begun += 1;
        drop(turns);
        let mut turn = Turn { rows: self, goes_on: false };
        turn.goes_on = (self.row)(number);
        true
    }

    /// Waits until nobody works on a row any more.
    fn wait(&self) {
        let mut turns = lock(&self.turns);
        while turns.begun > 0 {
            turns = match self.ended.wait_timeout(turns, POLL) {
                Ok((turns, _)) => turns,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }
}

/// A row that is worked on. After a panic, as after a failure, no others are begun.
struct Turn<'a> {
    rows: &'a Rows,
    goes_on: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut turns = lock(&self.rows.turns);
        turns.begun -= 1;
        if !self.goes_on {
            turns.end = 0;
        }
        if turns.begun == 0 {
            self.rows.ended.notify_all();
        }
    }
}

/// The chunks whose rows are worked on, the oldest first.
#[derive(Default)]
pub(super) struct Open {
    rows: Mutex<Vec<Arc<Rows>>>,
    /// How many they are: most drivers have none.
    count: AtomicUsize,
}

impl Open {
    fn oldest(&self) -> Option<Arc<Rows>> {
        if self.count.load(SeqCst) == 0 {
            return None;
        }
        lock(&self.rows).iter().find(|rows| rows.are_left()).cloned()
    }

    fn add(&self, rows: &Arc<Rows>) -> Opened<'_> {
        lock(&self.rows).push(Arc::clone(rows));
        self.count.fetch_add(1, SeqCst);
        Opened { open: self, rows: Arc::clone(rows) }
    }
}

struct Opened<'a> {
    open: &'a Open,
    rows: Arc<Rows>,
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        lock(&self.open.rows).retain(|other| !Arc::ptr_eq(other, &self.rows));
        self.open.count.fetch_sub(1, SeqCst);
    }
}

impl Shared {
    /// True if there is a row that nobody works on.
    pub(super) fn has_rows(&self) -> bool {
        self.open.oldest().is_some()
    }

    /// Works on one row of the oldest chunk that has some left; false if none has.
    pub(super) fn work_on_row(&self) -> bool {
        while let Some(rows) = self.open.oldest() {
            // Another may just have taken its last row.
            if rows.work() {
                return true;
            }
        }
        false
    }
}

/// The tasks of a driver.
pub(super) struct Crew<'a>(pub(super) &'a Arc<Shared>);

impl Hands for Crew<'_> {
    fn each(&self, count: usize, row: EachRow) {
        let Crew(shared) = self;
        let tasks = count.min(shared.plan.workers.now());
        if tasks < 2 {
            return Alone.each(count, row);
        }
        let rows = Arc::new(Rows::new(count, row));
        let opened = shared.open.add(&rows);
        (1..tasks).for_each(|_| Shared::wake(shared));
        while rows.are_left() {
            shared.work_on_row();
        }
        rows.wait();
        drop(opened);
    }
}
