//! The threads of the process: a work pool of the size of the machine, and blocking threads.
//!
//! Tasks of the work pool compute; what may block (foreign functions, generators) goes to the
//! blocking threads, which come and go with demand. Nothing here waits for a task, and a consumer
//! whose task has not started does the work itself, so a busy pool is never a deadlock.
//!
//! A forked child has none of its parent's threads: it starts a pool of its own. The parent's pool
//! is left alone there, for its locks may be held by threads that no longer exist.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crossbeam_deque::Steal;

use crate::engine::lock;
use crate::engine::sync::{Builder, Condvar, FOR_EVER, Injector, Mutex, PerProcess, cores};

/// A piece of work; it reports its result by itself.
pub type Task = Box<dyn FnOnce() + Send>;

/// Which threads run a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It computes.
    Work,
    /// It may block.
    Blocking,
}

/// How long blocking threads wait for work: soon after the last iterator they are gone.
const KEEP_ALIVE: Duration = Duration::from_millis(250);

/// The threads of one kind.
struct Crew {
    name: &'static str,
    limit: usize,
    /// Threads end after being idle this long.
    keep_alive: Duration,
    tasks: Injector<Task>,
    state: Mutex<CrewState>,
    wake: Condvar,
}

#[derive(Default)]
struct CrewState {
    threads: usize,
    /// Threads that wait and were not woken yet.
    idle: usize,
    /// Threads that were woken and do not know it yet.
    woken: usize,
}

impl Crew {
    fn new(name: &'static str, limit: usize, keep_alive: Duration) -> Self {
        let (tasks, state, wake) = (Injector::new(), Mutex::default(), Condvar::new());
        Crew { name, limit, keep_alive, tasks, state, wake }
    }

    fn spawn(&'static self, task: Task) {
        self.tasks.push(task);
        let mut state = lock(&self.state);
        if state.idle > 0 {
            // Each task wakes a thread of its own, however soon one comes after the other.
            state.idle -= 1;
            state.woken += 1;
            self.wake.notify_one();
        } else if state.threads < self.limit {
            let builder = Builder::new().name(self.name.into());
            // Without another thread the task waits for one, or for its consumer.
            if builder.spawn(|| self.work()).is_ok() {
                state.threads += 1;
            }
        }
    }

    fn work(&self) {
        loop {
            match self.tasks.steal() {
                Steal::Success(task) => {
                    // A panic is reported by what the task drops: its end of a channel.
                    let _ = catch_unwind(AssertUnwindSafe(task));
                }
                Steal::Retry => {}
                Steal::Empty => {
                    if !self.rest() {
                        return;
                    }
                }
            }
        }
    }

    /// Waits for a task; false if the thread is to end.
    fn rest(&self) -> bool {
        let mut state = lock(&self.state);
        // Tasks are pushed before the lock is taken, so none can slip by between here and sleep.
        if !self.tasks.is_empty() {
            return true;
        }
        state.idle += 1;
        let (mut state, waited) = match self.wake.wait_timeout(state, self.keep_alive) {
            Ok(woken) => woken,
            Err(poisoned) => poisoned.into_inner(),
        };
        if state.woken > 0 {
            state.woken -= 1;
            return true;
        }
        state.idle -= 1;
        if waited.timed_out() && self.tasks.is_empty() {
            state.threads -= 1;
            return false;
        }
        true
    }
}

struct Pool {
    work: Crew,
    blocking: Crew,
    /// The pool of a forked child.
    child: OnceLock<Box<Pool>>,
}

impl Pool {
    fn new() -> Self {
        Pool {
            work: Crew::new("headrace-work", parallelism(), FOR_EVER),
            blocking: Crew::new("headrace-blocking", blocking_limit(), KEEP_ALIVE),
            child: OnceLock::new(),
        }
    }
}

static POOL: PerProcess<Pool> = PerProcess::new(Pool::new);
/// How many forks lie between the first process and this one.
static GENERATION: AtomicUsize = AtomicUsize::new(0);

/// Number of cores this process may use.
pub fn parallelism() -> usize {
    // Honours affinity and cgroups, but reads files to do so: asked once.
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(cores)
}

/// Number of blocking threads there may be.
pub fn blocking_limit() -> usize {
    2 * parallelism() + 12
}

fn pool() -> &'static Pool {
    let mut pool = POOL.get();
    for _ in 0..generation() {
        pool = pool.child.get_or_init(|| Box::new(Pool::new()));
    }
    pool
}

/// Runs `task` on a thread of `kind`.
pub fn spawn(kind: Kind, task: Task) {
    let pool = pool();
    match kind {
        Kind::Work => pool.work.spawn(task),
        Kind::Blocking => pool.blocking.spawn(task),
    }
}

/// To be called in a forked child, from `pthread_atfork`: it only stores a number.
pub fn after_fork() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Number of forks behind this process: an iterator of another generation is not usable here.
pub fn generation() -> usize {
    GENERATION.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use super::*;
    use crossbeam_channel::bounded;

    #[test]
    fn a_panicking_task_leaves_the_pool_alive() {
        let (tx, rx) = bounded(1);
        spawn(Kind::Work, Box::new(|| panic!("expected in this test")));
        spawn(Kind::Work, Box::new(move || tx.send(1).unwrap()));
        assert_eq!(rx.recv_timeout(Duration::from_secs(100)), Ok(1));
    }

    #[test]
    fn blocking_tasks_run_beside_each_other() {
        let (tx, rx) = bounded::<()>(0);
        let (done, all) = bounded(8);
        for _ in 0..4 {
            let (rx, done) = (rx.clone(), done.clone());
            spawn(Kind::Blocking, Box::new(move || done.send(rx.recv().is_ok()).unwrap()));
        }
        for _ in 0..4 {
            tx.send_timeout((), Duration::from_secs(100)).unwrap();
        }
        assert_eq!(all.iter().take(4).filter(|ok| *ok).count(), 4);
    }

    #[test]
    fn tasks_that_come_at_once_wake_a_thread_each() {
        for _ in 0..50 {
            let (done, all) = bounded(4);
            let here = Arc::new(AtomicUsize::new(0));
            for _ in 0..4 {
                let (here, done) = (Arc::clone(&here), done.clone());
                let task = move || {
                    here.fetch_add(1, Ordering::SeqCst);
                    let deadline = Instant::now() + Duration::from_secs(100);
                    let met = || here.load(Ordering::SeqCst) == 4;
                    while !met() && Instant::now() < deadline {
                        std::thread::sleep(Duration::from_micros(100));
                    }
                    done.send(met()).unwrap();
                };
                spawn(Kind::Blocking, Box::new(task));
            }
            assert!(all.iter().take(4).all(|met| met));
        }
    }
}
