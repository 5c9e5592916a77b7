//! How the runs of a process share its cores and blocking threads.
//!
//! Each run with knobs has a seat on which it says how much it could use. What is there is dealt
//! out one by one: nobody gets more than it wants, and what one leaves goes to the others.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, TryLockError, Weak};
use std::time::Instant;

use crate::engine::stats::since_ns;

/// A run that nobody has asked for an element for so long leaves its share to others.
const IDLE_NS: u64 = 1_000_000_000;

/// What one run wants, for others to see.
#[derive(Debug)]
pub struct Seat {
    cores: AtomicUsize,
    threads: AtomicUsize,
    seen_ns: AtomicU64,
}

/// Cores and blocking threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// For tasks that compute.
    pub cores: usize,
    /// For tasks that may block.
    pub threads: usize,
}

static SEATS: Mutex<Vec<Weak<Seat>>> = Mutex::new(Vec::new());

fn clock_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    since_ns(*START.get_or_init(Instant::now))
}

impl Seat {
    /// One more run that wants so much; `None` if another thread is at the seats.
    pub fn take(wants: Share) -> Option<Arc<Self>> {
        // A forked child may find them locked for good: whoever has no seat takes what there is.
        let mut seats = match SEATS.try_lock() {
            Ok(seats) => seats,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let (cores, threads) = (AtomicUsize::new(wants.cores), AtomicUsize::new(wants.threads));
        let seat = Arc::new(Seat { cores, threads, seen_ns: AtomicU64::new(clock_ns()) });
        seats.retain(|seat| seat.strong_count() > 0);
        seats.push(Arc::downgrade(&seat));
        Some(seat)
    }

    /// Says what the run wants, and returns its share of `all`; `None` if another thread is at the
    /// seats.
    pub fn share(self: &Arc<Self>, wants: Share, all: Share) -> Option<Share> {
        let now = clock_ns();
        self.cores.store(wants.cores, Relaxed);
        self.threads.store(wants.threads, Relaxed);
        self.seen_ns.store(now, Relaxed);
        let seats = SEATS.try_lock().ok()?;
        let seats = seats.iter().filter_map(Weak::upgrade);
        let active = |seat: &Arc<Seat>| now.saturating_sub(seat.seen_ns.load(Relaxed)) < IDLE_NS;
        let seats: Vec<_> = seats.filter(active).collect();
        let mine = seats.iter().position(|seat| Arc::ptr_eq(seat, self))?;
        let part = |all, wants: fn(&Seat) -> &AtomicUsize| {
            let wants: Vec<_> = seats.iter().map(|seat| wants(seat).load(Relaxed)).collect();
            deal(all, &wants).get(mine).copied().unwrap_or(1).max(1)
        };
        let cores = part(all.cores, |seat| &seat.cores);
        Some(Share { cores, threads: part(all.threads, |seat| &seat.threads) })
    }
}

/// Deals `all` out to those who want so many, one each in turn until all is gone; what is left when
/// everybody has what they want is dealt out too, so that nobody need ask before using it.
fn deal(all: usize, wants: &[usize]) -> Vec<usize> {
    let mut parts = vec![0; wants.len()];
    let mut left = all;
    while left > 0 && !wants.is_empty() {
        let wanting = |parts: &[usize]| parts.iter().zip(wants).any(|(part, want)| part < want);
        let all_have = !wanting(&parts);
        for (part, want) in parts.iter_mut().zip(wants) {
            if left > 0 && (all_have || *part < *want) {
                *part += 1;
                left -= 1;
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_does_not_want_goes_to_the_others() {
        assert_eq!(deal(8, &[8]), [8]);
        assert_eq!(deal(8, &[8, 8]), [4, 4]);
        assert_eq!(deal(8, &[1, 8]), [1, 7]);
        assert_eq!(deal(8, &[1, 8, 8]), [1, 4, 3]);
        assert_eq!(deal(2, &[2, 2, 2]), [1, 1, 0]);
        assert_eq!(deal(0, &[2]), [0]);
        assert_eq!(deal(2, &[]), [0; 0]);
    }

    #[test]
    fn what_nobody_wants_is_at_hand() {
        assert_eq!(deal(8, &[1, 1]), [4, 4]);
        assert_eq!(deal(8, &[0]), [8]);
    }

    #[test]
    fn everybody_has_a_seat_and_at_least_one() {
        let wants = Share { cores: 4, threads: 4 };
        // Other tests of this process may be seated too.
        let seat = loop {
            if let Some(seat) = Seat::take(wants) {
                break seat;
            }
        };
        let share = loop {
            if let Some(share) = seat.share(wants, Share { cores: 1, threads: 1 }) {
                break share;
            }
        };
        assert_eq!(share, Share { cores: 1, threads: 1 });
    }
}
