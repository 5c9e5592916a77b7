//! A dataset that is made, and opened, when it is first asked for an element: by a driver, beside
//! others.
//!
//! What captured datasets draw when they are opened comes from one generator for all openings, so
//! those that draw are opened in the order of their elements, whichever is made first.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex};

use super::slot::Length;
use crate::combine::plans::{Seedling, draws_outside};
use crate::data::Chunk;
use crate::engine::limit::unlimited;
use crate::engine::lock;
use crate::engine::node::fixed_length;
use crate::engine::run::RunContext;
use crate::engine::skipping::SkipError;
use crate::engine::wait::{POLL, poll};
use crate::engine::{Input, Skipped, Stage};
use crate::error::Result;

/// Openings in the order of their numbers.
#[derive(Default)]
pub(super) struct Turnstile {
    passed: Mutex<Passed>,
    moved: Condvar,
}

#[derive(Default)]
struct Passed {
    /// All before this one are through.
    next: u64,
    /// Those of the others that are through.
    early: BTreeSet<u64>,
}

impl Turnstile {
    fn pass(&self, number: u64) {
        let mut passed = lock(&self.passed);
        if number < passed.next {
            return;
        }
        passed.early.insert(number);
        let mut next = passed.next;
        while passed.early.remove(&next) {
            next += 1;
        }
        passed.next = next;
        drop(passed);
        self.moved.notify_all();
    }

    /// Waits until all before `number` are through. Those have threads, or are in front of it in the
    /// queue for one: tasks start in the order of their elements.
    fn wait(&self, number: u64, run: &RunContext) -> Result<()> {
        loop {
            let passed = lock(&self.passed);
            if passed.next >= number {
                return Ok(());
            }
            drop(self.moved.wait_timeout(passed, POLL));
            run.check()?;
            poll()?;
        }
    }
}

/// A dataset before and after it is opened.
pub(super) struct OpeningStage {
    /// What it is made of, until it is.
    seedling: Option<Seedling>,
    inner: Option<Input>,
    number: u64,
    turnstile: Arc<Turnstile>,
    run: Arc<RunContext>,
    length: Arc<Length>,
}

impl OpeningStage {
    /// Opening number `number` of its stage.
    pub(super) fn new(
        seedling: Seedling,
        number: u64,
        turnstile: &Arc<Turnstile>,
        run: &Arc<RunContext>,
    ) -> Self {
        let (turnstile, run) = (Arc::clone(turnstile), Arc::clone(run));
        let (seedling, length) = (Some(seedling), Arc::default());
        OpeningStage { seedling, inner: None, number, turnstile, run, length }
    }

    /// What tells how long the dataset is, once it is there.
    pub(super) fn length(&self) -> Arc<Length> {
        Arc::clone(&self.length)
    }

    /// The dataset; `None` if it could not be made, which was its only outcome.
    fn inner(&mut self) -> Result<Option<&mut Input>> {
        if let Some(seedling) = self.seedling.take() {
            let opened = self.open(&seedling);
            self.turnstile.pass(self.number);
            self.inner = Some(opened?);
        }
        Ok(self.inner.as_mut())
    }

    fn open(&self, seedling: &Seedling) -> Result<Input> {
        let plan = seedling.plan()?;
        let _ = self.length.set(fixed_length(&plan));
        if draws_outside(&plan) {
            unlimited(|| self.turnstile.wait(self.number, &self.run))??;
        }
        seedling.open(&plan)
    }
}

impl Drop for OpeningStage {
    fn drop(&mut self) {
        self.turnstile.pass(self.number);
    }
}

impl Stage for OpeningStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        match self.inner()? {
            Some(inner) => inner.next(max),
            None => Ok(None),
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        if n == 0 {
            return Ok(0);
        }
        match self.inner() {
            Ok(Some(inner)) => inner.skip(n),
            Ok(None) => Ok(0),
            Err(error) => Err(SkipError::behind(0, error)),
        }
    }

    fn quiet(&self) -> bool {
        self.inner.as_ref().is_some_and(Input::quiet)
    }
}
