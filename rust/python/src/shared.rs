//! A run that several Python threads may share.
//!
//! The lock is held for moments only. Whoever needs more elements checks the run out and advances
//! it without the lock; others wait for it to come back, polling for signals. Nobody waits here
//! with the GIL held.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use headrace::data::Chunk;
use headrace::engine::run::{Caller, Run, RunContext};
use headrace::engine::stage::is_final;
use headrace::engine::state::State;
use headrace::engine::stats::StageReport;
use headrace::engine::wait::{POLL, is_interrupted, poll};
use headrace::engine::{Plan, RunOptions};
use headrace::{Error, Result};

use crate::enter::catch;
use crate::process::is_ending;

/// An element that was taken.
pub(crate) enum Taken {
    /// A row of a chunk that others read too.
    Row(Arc<Chunk>, usize),
    /// The only row of a chunk of its own.
    Only(Chunk),
}

#[derive(Default)]
struct Inner {
    /// `None` while checked out, and once closed.
    run: Option<Box<Run>>,
    /// Who has the run checked out.
    holder: Option<ThreadId>,
    /// What is left of the last chunk, from `next` on.
    chunk: Option<Arc<Chunk>>,
    next: usize,
    over: bool,
    closed: bool,
}

impl Inner {
    fn take(&mut self) -> Option<Taken> {
        let chunk = self.chunk.as_ref()?;
        let row = self.next;
        self.next += 1;
        if self.next < chunk.rows() {
            return Some(Taken::Row(Arc::clone(chunk), row));
        }
        Some(Taken::Row(self.chunk.take()?, row))
    }

    fn unread(&self) -> usize {
        self.chunk.as_ref().map_or(0, |chunk| chunk.rows() - self.next)
    }
}

/// A run with the chunk that is being handed out.
pub(crate) struct SharedRun {
    inner: Mutex<Inner>,
    returned: Condvar,
    context: Arc<RunContext>,
}

impl SharedRun {
    /// Opens a run.
    pub(crate) fn open(
        caller: Caller,
        plan: &Plan,
        options: RunOptions,
        state: Option<&State>,
    ) -> Result<Self> {
        let run = Run::open_within(caller, plan, options, state)?;
        let context = Arc::clone(run.context());
        let inner = Mutex::new(Inner { run: Some(Box::new(run)), ..Inner::default() });
        Ok(SharedRun { inner, returned: Condvar::new(), context })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True in the process that opened the run: in a forked child its locks may be held for ever.
    pub(crate) fn is_here(&self) -> bool {
        self.context.is_here()
    }

    /// An element that is at hand, without waiting for anything.
    pub(crate) fn ready(&self) -> Option<Taken> {
        if !self.is_here() {
            return None;
        }
        self.inner.try_lock().ok()?.take()
    }

    /// The next element, or `None` at the end. May wait: to be called without the GIL.
    pub(crate) fn next(&self) -> Result<Option<Taken>> {
        if !self.is_here() {
            return self.context.check().map(|()| None);
        }
        let mut run = match self.check_out(Inner::take)? {
            CheckedOut::Run(run) => run,
            CheckedOut::Done(taken) => return Ok(taken),
        };
        let outcome = catch(|| run.next_chunk());
        let leave =
            matches!(&outcome, Err(error) if is_final(error) && error.foreign_ref().is_some());
        if leave || is_interrupted() {
            // The user ends the program, or so it seems: the run is closed, nothing is waited for.
            run.close(Duration::ZERO);
            self.check_in(run).closed = true;
            return outcome.map(|_| None);
        }
        let mut inner = self.check_in(run);
        match outcome {
            Ok(Some(chunk)) if inner.closed => {
                drop(chunk);
                Ok(None)
            }
            Ok(Some(chunk)) if chunk.rows() == 1 => Ok(Some(Taken::Only(chunk))),
            Ok(Some(chunk)) => {
                inner.chunk = Some(Arc::new(chunk));
                inner.next = 0;
                Ok(inner.take())
            }
            Ok(None) => {
                inner.over = true;
                drop(inner);
                self.context.release_functions();
                Ok(None)
            }
            // Closed by another thread, or at the end of the process.
            Err(_) if inner.closed || self.context.is_cancelled() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Checks the run out, unless `instead` has something or the run is over.
    fn check_out<T>(&self, instead: impl Fn(&mut Inner) -> Option<T>) -> Result<CheckedOut<T>> {
        let me = thread::current().id();
        let mut inner = self.lock();
        loop {
            if let Some(done) = instead(&mut inner) {
                return Ok(CheckedOut::Done(Some(done)));
            }
            if inner.over || inner.closed {
                return Ok(CheckedOut::Done(None));
            }
            if inner.holder == Some(me) {
                let text = "the iterator is asked for an element while it makes one";
                let hint = "a function of a pipeline cannot use the iterator that calls it";
                return Err(Error::failed_precondition(text).with_hint(hint));
            }
            if let Some(run) = inner.run.take() {
                inner.holder = Some(me);
                return Ok(CheckedOut::Run(run));
            }
            inner = match self.returned.wait_timeout(inner, POLL) {
                Ok((inner, _)) => inner,
                Err(poisoned) => poisoned.into_inner().0,
            };
            // The hook takes the GIL: not under the lock.
            drop(inner);
            poll()?;
            inner = self.lock();
        }
    }

    fn check_in(&self, run: Box<Run>) -> MutexGuard<'_, Inner> {
        let mut inner = self.lock();
        inner.holder = None;
        inner.run = Some(run);
        self.returned.notify_all();
        inner
    }

    /// Where the run stands. May wait for the run to come back.
    pub(crate) fn state(&self) -> Result<State> {
        self.context.check()?;
        let inner = self.wait_for_run(None)?;
        match &inner.run {
            Some(run) => run.state(inner.unread()),
            None => Err(Error::cancelled()),
        }
    }

    /// The counters of the stages.
    pub(crate) fn reports(&self) -> Result<Vec<StageReport>> {
        self.context.check()?;
        let inner = self.wait_for_run(None)?;
        Ok(inner.run.as_ref().map(|run| run.reports()).unwrap_or_default())
    }

    /// Waits until nobody has the run checked out, or until `deadline`.
    fn wait_for_run(&self, deadline: Option<Instant>) -> Result<MutexGuard<'_, Inner>> {
        let me = thread::current().id();
        loop {
            let inner = self.lock();
            let mine = inner.holder == Some(me);
            let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if inner.holder.is_none() || mine || late {
                return Ok(inner);
            }
            drop(self.returned.wait_timeout(inner, POLL));
            poll()?;
        }
    }

    /// Ends the run and waits for what is running, but not past `deadline`; false if something
    /// runs still. To be called without the GIL.
    pub(crate) fn close(&self, deadline: Instant) -> Result<bool> {
        if !self.is_here() {
            return Ok(true);
        }
        self.context.cancel();
        let mut inner = self.lock();
        inner.closed = true;
        let chunk = inner.chunk.take();
        drop(inner);
        drop(chunk);
        let mut inner = self.wait_for_run(Some(deadline))?;
        let held = inner.holder.is_some();
        let run = inner.run.take();
        drop(inner);
        let Some(mut run) = run else { return Ok(!held) };
        let ended = run.close(deadline.saturating_duration_since(Instant::now()));
        if !ended {
            // To be waited for again.
            self.lock().run = Some(run);
        } else if !is_ending() {
            // The iterator may live on.
            self.context.release_functions();
        }
        Ok(ended)
    }

    /// What the run's stages share.
    pub(crate) fn context(&self) -> &Arc<RunContext> {
        &self.context
    }

    /// Takes what must be dropped without the GIL.
    pub(crate) fn dismantle(&self) -> impl Send + use<> {
        self.context.cancel();
        let mut inner = self.lock();
        (inner.run.take(), inner.chunk.take())
    }
}

enum CheckedOut<T> {
    Run(Box<Run>),
    Done(Option<T>),
}
