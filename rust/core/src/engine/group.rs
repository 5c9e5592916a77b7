//! Drivers of one stage that share a number of tasks, and whose consumer waits for any of them: of
//! many inputs so many are read at a time. With a meter of all of them together that number, and how
//! far each of them reads ahead, may be left to the controller.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::engine::autotune::{Knob, Meter};
use crate::engine::driver::Shared;
use crate::engine::lock;
use crate::engine::sync::{Condvar, Mutex};

/// At most so many drivers of a group have a task; others wait for their turn.
pub struct Group {
    most: Arc<Knob>,
    meter: Option<Arc<Meter>>,
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    /// In the order in which they asked.
    waiting: VecDeque<Weak<Shared>>,
    /// How often a driver had something new for the consumer.
    arrivals: u64,
}

impl Group {
    /// A group of drivers that have as many tasks at a time as the knob says.
    pub fn new(most: Arc<Knob>) -> Arc<Self> {
        Self::of(most, None)
    }

    /// A group of drivers that have together as many tasks, and each such a window, as the meter
    /// says.
    pub fn metered(meter: Arc<Meter>) -> Arc<Self> {
        Self::of(Arc::clone(&meter.workers), Some(meter))
    }

    fn of(most: Arc<Knob>, meter: Option<Arc<Meter>>) -> Arc<Self> {
        Arc::new(Group { most, meter, state: Mutex::default(), arrived: Condvar::new() })
    }

    /// The meter of its drivers together.
    pub(super) fn meter(&self) -> Option<&Arc<Meter>> {
        self.meter.as_ref()
    }

    /// The part of its tasks that could run and do not.
    pub(super) fn idle(&self) -> f64 {
        let (running, most) = (lock(&self.state).running, self.most.now());
        most.saturating_sub(running) as f64 / most as f64
    }

    /// Counts a task of the driver in; if there are enough the driver is woken later.
    pub(super) fn enter(&self, driver: &Arc<Shared>) -> bool {
        let mut state = lock(&self.state);
        if state.running < self.most.now() {
            state.running += 1;
            return true;
        }
        let driver = Arc::downgrade(driver);
        if !state.waiting.iter().any(|other| other.ptr_eq(&driver)) {
            state.waiting.push_back(driver);
        }
        false
    }

    /// True if another driver may have a task now.
    pub(super) fn has_turn(&self) -> bool {
        lock(&self.state).running < self.most.now()
    }

    /// Counts a task out, and wakes drivers that have waited.
    pub(super) fn leave(&self) {
        lock(&self.state).running -= 1;
        // One that has no room, or is gone, needs no task.
        while let Some(driver) = self.next_waiting() {
            if let Some(driver) = driver.upgrade() {
                Shared::wake(&driver);
            }
        }
    }

    fn next_waiting(&self) -> Option<Weak<Shared>> {
        let mut state = lock(&self.state);
        if state.running < self.most.now() { state.waiting.pop_front() } else { None }
    }

    /// Tells the consumer that a driver has something new, or has ended.
    pub(super) fn ring(&self) {
        lock(&self.state).arrivals += 1;
        self.arrived.notify_all();
    }

    /// How often it was told so.
    pub fn arrivals(&self) -> u64 {
        lock(&self.state).arrivals
    }

    /// Waits until it was told so more often than `seen`; false if it was not before `time` was over.
    pub(super) fn wait(&self, seen: u64, time: Duration) -> bool {
        let state = lock(&self.state);
        if state.arrivals != seen {
            return true;
        }
        let state = match self.arrived.wait_timeout(state, time) {
            Ok((state, _)) => state,
            Err(poisoned) => poisoned.into_inner().0,
        };
        state.arrivals != seen
    }
}
