//! How knobs move: decisions on counters alone, with no clock and no thread.
//!
//! Tasks that may block are climbed: their number doubles while the consumer waits for them and
//! more of them bring more elements, and is halved where fewer bring as many (functions that hold
//! a lock of the caller's, or the cores, all the time). What each number brought is remembered for
//! a while, so that it need not be tried again. Tasks that compute need no trial: each has a core.
//! A source that is busy all the time, and a consumer that hardly waits, need no more tasks than
//! are in use.
//!
//! Drivers of a group, each of which reads a dataset, are one such step together: their number of
//! tasks is climbed, and their windows grow where tasks stand still although the consumer waits.

use crate::engine::autotune::meter::Counts;

/// A consumer that waits for less than this part of the time has what it needs.
const WAITS: f64 = 0.05;
/// A source from which somebody pulls for more than this part of the time is the limit.
const PULLS: f64 = 0.9;
/// Fewer tasks are as good as more if they bring this part of what those bring.
const ENOUGH: f64 = 0.92;
/// So long counters are watched at least before a decision; works that take long are not waited
/// for longer than the second.
const EVIDENCE_NS: u64 = 40_000_000;
const HASTE_NS: u64 = 100_000_000;
/// Fewer tasks would do for so long before some are taken away: those that have nothing to do cost
/// little, and are missed when the consumer is in a hurry again.
const CALM_NS: u64 = 2_000_000_000;
/// So often in a row fewer tasks must look good enough: what a busy machine does meanwhile is no
/// reason.
const SURE: u32 = 2;
/// What a number of tasks brought is known for so long.
const KNOWN_NS: u64 = 30_000_000_000;
/// Of works shorter than this the number tells how many elements come in a time; of longer ones,
/// of which few are done, the time of each tells it better.
const SHORT_NS: u64 = 2_000_000;

/// Bounds of a knob at the moment.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// At least so many.
    pub least: usize,
    /// At most so many: the knob's own bound, or the share of the run.
    pub most: usize,
}

/// What a driver that has `n` tasks could use, as far as it can know.
fn wanted(n: usize, bounds: Bounds) -> usize {
    if n < bounds.most { n } else { n.saturating_mul(2) }
}

/// Elements in a time, where `workers` tasks are busy all the time, and the consumer beside them
/// while it works itself.
fn rate(since: Counts, workers: usize) -> f64 {
    let rows = since.rows as f64;
    if since.busy_ns / since.works.max(1) < SHORT_NS {
        rows / since.at_ns.max(1) as f64
    } else {
        rows * (workers as f64 + since.helps()) / since.busy_ns.max(1) as f64
    }
}

impl Bounds {
    fn clamp(self, n: usize) -> usize {
        n.clamp(self.least.min(self.most), self.most)
    }
}

/// Since when fewer tasks than there are would do, and how many were in use at most.
#[derive(Debug, Default)]
struct Calm {
    since_ns: Option<u64>,
    most: usize,
}

impl Calm {
    /// How many tasks to have, where `used` of `now` were in use.
    fn step(&mut self, at_ns: u64, now: usize, used: usize) -> usize {
        if used >= now {
            *self = Calm::default();
            return now;
        }
        self.most = self.most.max(used);
        let since = *self.since_ns.get_or_insert(at_ns);
        if at_ns.saturating_sub(since) < CALM_NS {
            return now;
        }
        std::mem::take(self).most.min(now)
    }
}

/// Tasks that compute.
#[derive(Debug, Default)]
pub struct Cores {
    last: Counts,
    calm: Calm,
    /// How many it could use.
    pub wants: usize,
}

impl Cores {
    /// How many tasks there should be, where there are `now`.
    pub fn step(&mut self, counts: Counts, now: usize, bounds: Bounds) -> usize {
        let since = counts.since(&self.last);
        if since.at_ns < EVIDENCE_NS {
            return bounds.clamp(now);
        }
        self.last = counts;
        if since.waits() > WAITS && since.pulls() < PULLS {
            self.calm = Calm::default();
            self.wants = wanted(bounds.most, bounds);
            return bounds.most;
        }
        if since.works == 0 {
            return bounds.clamp(now);
        }
        let used = since.in_use();
        self.wants = used;
        bounds.clamp(self.calm.step(counts.at_ns, now, used))
    }
}

#[derive(Clone, Copy, Debug)]
struct Known {
    workers: usize,
    /// Elements in a time.
    rate: f64,
    at_ns: u64,
}

/// Tasks that may block.
#[derive(Debug, Default)]
pub struct Climb {
    /// Since when the counters tell of the present number.
    last: Counts,
    /// Works that must be done before they do: those that had begun when it changed.
    begun: u64,
    known: Vec<Known>,
    /// Fewer than the number it began with, or went to in haste, have been tried.
    tried: bool,
    /// How often in a row fewer tasks looked good enough.
    sure: u32,
    calm: Calm,
    /// How many it could use.
    pub wants: usize,
}

impl Climb {
    /// How many tasks there should be, where there are `now`.
    pub fn step(&mut self, counts: Counts, now: usize, bounds: Bounds) -> usize {
        let next = bounds.clamp(self.decide(counts, now, bounds));
        if self.calm.since_ns.is_none() {
            self.wants = wanted(next, bounds);
        }
        if next != now {
            self.last = counts;
            self.begun = counts.works.saturating_add(now as u64);
        }
        next
    }

    fn decide(&mut self, counts: Counts, now: usize, bounds: Bounds) -> usize {
        let since = counts.since(&self.last);
        if since.at_ns < EVIDENCE_NS {
            return now;
        }
        let hungry = since.waits() > WAITS && since.pulls() < PULLS;
        if !hungry {
            return self.rest(counts, since, now);
        }
        self.calm = Calm::default();
        if self.begun > 0 && counts.works >= self.begun {
            (self.begun, self.last) = (0, counts);
            return now;
        }
        if self.begun > 0 || since.works < (now as u64).max(4) {
            // Works take long: that is waiting rather than computing. Only at first: later there
            // is something to lose.
            let up = self.up(now, bounds);
            if since.at_ns > HASTE_NS && since.waits() > 0.5 && up > now && self.known.is_empty() {
                self.tried = false;
                return up;
            }
            return now;
        }
        self.last = counts;
        self.learn(Known { workers: now, rate: rate(since, now), at_ns: counts.at_ns });
        self.climb(now, bounds)
    }

    /// For a driver whose consumer has what it needs, or whose source has no more to give.
    fn rest(&mut self, counts: Counts, since: Counts, now: usize) -> usize {
        (self.last, self.begun) = (counts, 0);
        if since.works == 0 {
            return now;
        }
        // One more than are busy, so that the next element is never late.
        let used = since.in_use().max(2);
        self.wants = used;
        self.calm.step(counts.at_ns, now, used)
    }

    fn learn(&mut self, new: Known) {
        self.known.retain(|old| new.at_ns.saturating_sub(old.at_ns) < KNOWN_NS);
        match self.known.iter_mut().find(|old| old.workers == new.workers) {
            Some(old) => *old = Known { rate: (old.rate + new.rate) / 2.0, ..new },
            None => self.known.push(new),
        }
    }

    fn knows(&self, workers: usize) -> bool {
        self.known.iter().any(|known| known.workers == workers)
    }

    fn up(&self, now: usize, bounds: Bounds) -> usize {
        bounds.clamp(now.saturating_mul(2))
    }

    /// The least number that brings enough of what the best brings; or one beside it, if what that
    /// brings is not known.
    fn climb(&mut self, now: usize, bounds: Bounds) -> usize {
        let within = |known: &&Known| (bounds.least..=bounds.most).contains(&known.workers);
        let known = || self.known.iter().filter(within);
        let best = known().map(|known| known.rate).fold(0.0, f64::max);
        let enough = known().filter(|known| known.rate >= best * ENOUGH);
        let target = enough.map(|known| known.workers).min().unwrap_or(now);
        self.sure = if target < now { self.sure + 1 } else { 0 };
        if target > now || self.sure >= SURE {
            self.sure = 0;
            return target;
        }
        if self.sure > 0 {
            return now;
        }
        let up = self.up(now, bounds);
        if up > now && !self.knows(up) {
            return up;
        }
        let down = now / 2;
        // Without a larger number that is no better, nothing says that fewer would do.
        let saturated = self.known.iter().any(|known| known.workers > now) || !self.tried;
        if saturated && down >= bounds.least.max(1) && !self.knows(down) {
            self.tried |= up == now;
            return down;
        }
        now
    }
}

/// The window of a driver that hands elements on as they are.
#[derive(Debug, Default)]
pub struct Buffer {
    last: Counts,
    /// It was full once since it last grew.
    was_full: bool,
    spare: Spare,
}

/// A window that was more than half full for so long is larger than need be.
const HALF_FULL_NS: u64 = 5_000_000_000;

/// Whether a window is larger than need be.
#[derive(Debug, Default)]
struct Spare {
    /// Since when it has been more than half full.
    half_full_since_ns: Option<u64>,
}

impl Spare {
    /// It was too small, or empty.
    fn forget(&mut self) {
        self.half_full_since_ns = None;
    }

    /// True if a window of `size` chunks has been more than half full for long, once each time.
    fn is_known(&mut self, counts: &Counts, size: usize) -> bool {
        if counts.in_flight * 2 <= size {
            self.forget();
            return false;
        }
        let since = *self.half_full_since_ns.get_or_insert(counts.at_ns);
        let known = counts.at_ns.saturating_sub(since) >= HALF_FULL_NS;
        if known {
            self.forget();
        }
        known
    }
}

impl Buffer {
    /// How large the window should be, where it is `now`.
    pub fn step(&mut self, counts: Counts, now: usize, bounds: Bounds) -> usize {
        let since = counts.since(&self.last);
        if since.at_ns < EVIDENCE_NS {
            return now;
        }
        self.last = counts;
        let had_been_full = self.was_full;
        self.was_full |= since.full_ns > 0;
        if since.waits() > WAITS {
            self.spare.forget();
            // Full at times and empty at others: a larger one would have evened that out. One that
            // is never full is empty because its source is slow.
            if had_been_full && now < bounds.most {
                self.was_full = false;
                return bounds.clamp(now.saturating_mul(2));
            }
            return now;
        }
        if self.spare.is_known(&counts, now) { bounds.clamp(now / 2) } else { now }
    }
}

/// The windows of the drivers of a group.
#[derive(Debug, Default)]
pub struct Depth {
    last: Counts,
    spare: Spare,
}

impl Depth {
    /// How large each window should be, where it is `now`.
    pub fn step(&mut self, counts: Counts, now: usize, bounds: Bounds) -> usize {
        let since = counts.since(&self.last);
        if since.at_ns < EVIDENCE_NS {
            return now;
        }
        self.last = counts;
        // Tasks that stand still while the consumer waits for another one would have gone on with
        // larger windows: elements take longer at some times than at others.
        if since.stands() > WAITS {
            self.spare.forget();
            return bounds.clamp(now.saturating_mul(2));
        }
        if since.waits() > WAITS {
            self.spare.forget();
            return now;
        }
        if self.spare.is_known(&counts, counts.window) { bounds.clamp(now / 2) } else { now }
    }
}

#[cfg(test)]
mod tests;
