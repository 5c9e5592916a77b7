//! At most so many of an iterator's tasks at once (`Options.threading.private_threadpool_size`).
//!
//! A thread holds a permit while it works for the iterator and gives it back while it waits for
//! another of its threads, so a limit of 1 cannot deadlock.

use std::cell::RefCell;
use std::sync::Arc;

use crate::engine::lock;
use crate::engine::sync::{Condvar, Mutex, thread_local};
use crate::engine::wait::{POLL, poll};
use crate::error::{Error, Result};

/// Permits of one iterator.
#[derive(Debug)]
pub struct Limit {
    permits: Mutex<Permits>,
    freed: Condvar,
}

#[derive(Debug)]
struct Permits {
    free: usize,
    /// The iterator is closed: who holds a permit may be long in giving it back.
    over: bool,
}

thread_local! {
    static HELD: RefCell<Vec<Arc<Limit>>> = const { RefCell::new(Vec::new()) };
}

impl Limit {
    /// A limit of `size` tasks, at least one.
    pub fn new(size: usize) -> Self {
        let permits = Permits { free: size.max(1), over: false };
        Limit { permits: Mutex::new(permits), freed: Condvar::new() }
    }

    /// Ends all waits for a permit.
    pub fn close(&self) {
        lock(&self.permits).over = true;
        self.freed.notify_all();
    }

    fn acquire(&self) -> Result<()> {
        let mut permits = lock(&self.permits);
        while permits.free == 0 {
            if permits.over {
                return Err(Error::cancelled());
            }
            permits = match self.freed.wait_timeout(permits, POLL) {
                Ok((permits, _)) => permits,
                Err(poisoned) => poisoned.into_inner().0,
            };
            if permits.free == 0 {
                drop(permits);
                poll()?;
                permits = lock(&self.permits);
            }
        }
        permits.free -= 1;
        Ok(())
    }

    fn release(&self) {
        lock(&self.permits).free += 1;
        self.freed.notify_one();
    }
}

/// Runs `work` with a permit of `limit`; nested calls need none.
///
/// # Errors
/// That of an interrupt, or the end of the iterator, while waiting for the permit.
pub fn limited<T>(limit: Option<&Arc<Limit>>, work: impl FnOnce() -> T) -> Result<T> {
    let Some(limit) = limit else { return Ok(work()) };
    let held = HELD.with(|held| held.borrow().iter().any(|other| Arc::ptr_eq(other, limit)));
    if held {
        return Ok(work());
    }
    struct Permit<'a>(&'a Arc<Limit>);
    impl Drop for Permit<'_> {
        fn drop(&mut self) {
            // A wait that was interrupted has lost it.
            let held = HELD.with(|held| {
                let mut held = held.borrow_mut();
                let count = held.len();
                held.retain(|other| !Arc::ptr_eq(other, self.0));
                held.len() < count
            });
            if held {
                self.0.release();
            }
        }
    }
    limit.acquire()?;
    HELD.with(|held| held.borrow_mut().push(Arc::clone(limit)));
    let _permit = Permit(limit);
    Ok(work())
}

/// Runs a wait, with this thread's permits given back for its duration.
///
/// # Errors
/// That of an interrupt, or the end of the iterator, while waiting for the permits.
pub fn unlimited<T>(wait: impl FnOnce() -> T) -> Result<T> {
    let held = HELD.with(|held| held.borrow().clone());
    held.iter().for_each(|limit| limit.release());
    let result = wait();
    for (regained, limit) in held.iter().enumerate() {
        if let Err(error) = limit.acquire() {
            // Who is interrupted goes on without the permits, to leave at once.
            HELD.with(|now| now.borrow_mut().truncate(regained));
            return Err(error);
        }
    }
    Ok(result)
}
