//! In models: the same names, over shuttle's locks and threads.
//!
//! Time passes only when nothing else can happen, or when the model's scheduler is in a hurry: a
//! thread of each model, its clock, then ends the wait that has the earliest deadline. So a wait
//! that ends by its time-out where it should have been woken is seen, and counted.

#![allow(clippy::unwrap_used)]

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult};
use std::time::Duration;

use crossbeam_channel::{RecvError, RecvTimeoutError, SendError, TryRecvError};
use crossbeam_deque::Steal;
use shuttle::lazy_static::Lazy;
use shuttle::{sync, thread};

pub(crate) use shuttle::sync::atomic;
pub(crate) use shuttle::thread::{Builder, JoinHandle};
pub(crate) use shuttle::thread_local;

/// A value that each run of a model has one of.
pub(crate) struct PerProcess<T: Sync>(Lazy<T>);

impl<T: Sync> PerProcess<T> {
    pub(crate) const fn new(make: fn() -> T) -> Self {
        PerProcess(Lazy::new(make))
    }

    pub(crate) fn get(&'static self) -> &'static T {
        self.0.get()
    }
}

/// How long threads without work wait for some: models end when their threads do.
pub(crate) const FOR_EVER: Duration = Duration::from_secs(3600);

/// Models run on a machine of two cores.
pub(crate) fn cores() -> usize {
    2
}

// ---------------------------------------------------------------- mutex

/// Mutexes of models, and those of std around what no model goes through.
pub(crate) trait Lock {
    type Guard<'a>
    where
        Self: 'a;
    fn guard(&self) -> Self::Guard<'_>;
}

impl<T> Lock for Mutex<T> {
    type Guard<'a>
        = MutexGuard<'a, T>
    where
        T: 'a;
    fn guard(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Lock for std::sync::Mutex<T> {
    type Guard<'a>
        = std::sync::MutexGuard<'a, T>
    where
        T: 'a;
    fn guard(&self) -> std::sync::MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<L: Lock> Lock for Arc<L> {
    type Guard<'a>
        = L::Guard<'a>
    where
        L: 'a;
    fn guard(&self) -> L::Guard<'_> {
        (**self).guard()
    }
}

pub(crate) fn lock<L: Lock>(mutex: &L) -> L::Guard<'_> {
    mutex.guard()
}

/// A mutex whose guards know it, so that a wait can take it again.
#[derive(Default)]
pub(crate) struct Mutex<T>(sync::Mutex<T>);

pub(crate) struct MutexGuard<'a, T> {
    guard: sync::MutexGuard<'a, T>,
    mutex: &'a Mutex<T>,
}

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Mutex(sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        match self.0.lock() {
            Ok(guard) => Ok(MutexGuard { guard, mutex: self }),
            Err(poisoned) => {
                Err(PoisonError::new(MutexGuard { guard: poisoned.into_inner(), mutex: self }))
            }
        }
    }

    pub(crate) fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Ok(MutexGuard { guard, mutex: self }),
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
            Err(TryLockError::Poisoned(poisoned)) => {
                let guard = MutexGuard { guard: poisoned.into_inner(), mutex: self };
                Err(TryLockError::Poisoned(PoisonError::new(guard)))
            }
        }
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mutex")
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

// ---------------------------------------------------------------- time

#[derive(Clone, Copy, PartialEq)]
enum Signal {
    None,
    Woken,
    Late,
}

/// One wait of one thread.
struct Waiter {
    signal: sync::Mutex<Signal>,
    changed: sync::Condvar,
}

impl Waiter {
    /// Ends the wait; false if it has ended already.
    fn end(&self, how: Signal) -> bool {
        let mut signal = self.signal.lock().unwrap();
        let waits = *signal == Signal::None;
        if waits {
            *signal = how;
            self.changed.notify_one();
        }
        waits
    }
}

/// The waits that have a deadline, and what time it is. All threads of a model are played on one.
#[derive(Default)]
struct Time {
    now: Duration,
    waits: Vec<(Duration, Arc<Waiter>)>,
    /// Waits of this length and more are counted if they end by their time-out.
    counted: Duration,
    late: usize,
}

std::thread_local! {
    static TIME: RefCell<Time> = RefCell::default();
    /// Nothing but the clock can run.
    static STANDSTILL: Cell<bool> = const { Cell::new(false) };
}

/// Starts the clock of a run of a model; to be called first, so that it is thread number 1.
/// Waits of length `counted` and more that end by their time-out are counted.
pub(crate) fn start_clock(counted: Duration) {
    TIME.set(Time { counted, ..Time::default() });
    // A run does not wait for tasks of this sort to end.
    drop(shuttle::future::spawn(async {
        while pass_time() {
            thread::yield_now();
        }
    }));
}

/// Tells the clock, whose turn it is, whether nothing else can run.
pub(crate) fn set_standstill(standstill: bool) {
    STANDSTILL.set(standstill);
}

/// Ends the wait with the earliest deadline; false if nobody will ever go on.
fn pass_time() -> bool {
    let waiter = TIME.with_borrow_mut(|time| {
        let waits = time.waits.iter().enumerate();
        let (at, _) = waits.min_by_key(|(_, (deadline, _))| *deadline)?;
        let (deadline, waiter) = time.waits.swap_remove(at);
        time.now = time.now.max(deadline);
        Some(waiter)
    });
    match waiter {
        Some(waiter) => {
            waiter.end(Signal::Late);
            true
        }
        None => !STANDSTILL.get(),
    }
}

/// How many of the counted waits ended by a time-out.
pub(crate) fn late_waits() -> usize {
    TIME.with_borrow(|time| time.late)
}

pub(crate) struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    pub(crate) fn timed_out(&self) -> bool {
        self.0
    }
}

#[derive(Default)]
pub(crate) struct Condvar(sync::Mutex<VecDeque<Arc<Waiter>>>);

type Waited<'a, T> = LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>;

impl Condvar {
    pub(crate) fn new() -> Self {
        Condvar::default()
    }

    pub(crate) fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> Waited<'a, T> {
        let waiter = Arc::new(Waiter {
            signal: sync::Mutex::new(Signal::None),
            changed: sync::Condvar::new(),
        });
        self.0.lock().unwrap().push_back(Arc::clone(&waiter));
        if time < Duration::MAX {
            TIME.with_borrow_mut(|all| all.waits.push((all.now + time, Arc::clone(&waiter))));
        }
        let mutex = guard.mutex;
        drop(guard);
        let mut signal = waiter.signal.lock().unwrap();
        while *signal == Signal::None {
            signal = waiter.changed.wait(signal).unwrap();
        }
        let late = *signal == Signal::Late;
        drop(signal);
        TIME.with_borrow_mut(|all| {
            all.waits.retain(|(_, other)| !Arc::ptr_eq(other, &waiter));
            all.late += usize::from(late && time >= all.counted);
        });
        match mutex.lock() {
            Ok(guard) => Ok((guard, WaitTimeoutResult(late))),
            Err(poisoned) => {
                Err(PoisonError::new((poisoned.into_inner(), WaitTimeoutResult(late))))
            }
        }
    }

    pub(crate) fn notify_one(&self) {
        loop {
            let waiter = self.0.lock().unwrap().pop_front();
            if waiter.is_none_or(|waiter| waiter.end(Signal::Woken)) {
                return;
            }
        }
    }

    pub(crate) fn notify_all(&self) {
        let waiters = std::mem::take(&mut *self.0.lock().unwrap());
        for waiter in waiters {
            waiter.end(Signal::Woken);
        }
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Condvar")
    }
}

// ---------------------------------------------------------------- queues

/// A queue that threads steal from.
pub(crate) struct Injector<T>(sync::Mutex<VecDeque<T>>);

impl<T> Injector<T> {
    pub(crate) fn new() -> Self {
        Injector(sync::Mutex::new(VecDeque::new()))
    }

    pub(crate) fn push(&self, task: T) {
        self.0.lock().unwrap().push_back(task);
    }

    pub(crate) fn steal(&self) -> Steal<T> {
        self.0.lock().unwrap().pop_front().map_or(Steal::Empty, Steal::Success)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }
}

struct Channel<T> {
    queue: Mutex<Queue<T>>,
    capacity: usize,
    filled: Condvar,
    emptied: Condvar,
}

struct Queue<T> {
    items: VecDeque<T>,
    senders: usize,
    receivers: usize,
}

pub(crate) struct Sender<T>(Arc<Channel<T>>);
pub(crate) struct Receiver<T>(Arc<Channel<T>>);

/// A channel that is never full.
pub(crate) fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    bounded(usize::MAX)
}

/// A channel that holds up to `capacity` items, at least one.
pub(crate) fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let queue = Queue { items: VecDeque::new(), senders: 1, receivers: 1 };
    let (filled, emptied) = (Condvar::new(), Condvar::new());
    let channel = Channel { queue: Mutex::new(queue), capacity: capacity.max(1), filled, emptied };
    let channel = Arc::new(channel);
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

impl<T> Channel<T> {
    fn lock(&self) -> MutexGuard<'_, Queue<T>> {
        lock(&self.queue)
    }
}

impl<T> Sender<T> {
    pub(crate) fn send(&self, item: T) -> Result<(), SendError<T>> {
        let mut queue = self.0.lock();
        while queue.receivers > 0 && queue.items.len() >= self.0.capacity {
            queue = self.0.emptied.wait_timeout(queue, Duration::MAX).unwrap().0;
        }
        if queue.receivers == 0 {
            return Err(SendError(item));
        }
        queue.items.push_back(item);
        drop(queue);
        self.0.filled.notify_one();
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.lock().senders += 1;
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.senders -= 1;
        let last = queue.senders == 0;
        drop(queue);
        if last {
            self.0.filled.notify_all();
        }
    }
}

impl<T> Receiver<T> {
    pub(crate) fn try_recv(&self) -> Result<T, TryRecvError> {
        let mut queue = self.0.lock();
        let item = queue.items.pop_front();
        let senders = queue.senders;
        drop(queue);
        match item {
            Some(item) => {
                self.0.emptied.notify_one();
                Ok(item)
            }
            None if senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        }
    }

    pub(crate) fn recv_timeout(&self, time: Duration) -> Result<T, RecvTimeoutError> {
        let mut queue = self.0.lock();
        loop {
            if let Some(item) = queue.items.pop_front() {
                drop(queue);
                self.0.emptied.notify_one();
                return Ok(item);
            }
            if queue.senders == 0 {
                return Err(RecvTimeoutError::Disconnected);
            }
            let (again, waited) = self.0.filled.wait_timeout(queue, time).unwrap();
            queue = again;
            if waited.timed_out() && queue.items.is_empty() && queue.senders > 0 {
                return Err(RecvTimeoutError::Timeout);
            }
        }
    }

    pub(crate) fn recv(&self) -> Result<T, RecvError> {
        self.recv_timeout(Duration::MAX).map_err(|_| RecvError)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().items.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().items.len()
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.0.lock().receivers += 1;
        Receiver(Arc::clone(&self.0))
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.receivers -= 1;
        let last = queue.receivers == 0;
        // What nobody will take is dropped with the lock free.
        let items = if last { std::mem::take(&mut queue.items) } else { VecDeque::new() };
        drop(queue);
        drop(items);
        if last {
            self.0.emptied.notify_all();
        }
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = std::iter::FromFn<Box<dyn FnMut() -> Option<T> + 'a>>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::from_fn(Box::new(|| self.recv().ok()))
    }
}
