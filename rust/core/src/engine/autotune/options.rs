//! What a run says about its numbers of tasks.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::engine::autotune::knob::Knob;
use crate::engine::pool::{self, Kind};

/// How the numbers are chosen that are left to the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Algorithm {
    /// By what more and fewer tasks bring. Names of other algorithms mean this one too.
    #[default]
    HillClimb,
    /// As many as are allowed, from the start.
    MaxParallelism,
}

/// `Options.autotune`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AutotuneOptions {
    /// Whether numbers move during a run.
    pub enabled: bool,
    /// How they are chosen.
    pub algorithm: Algorithm,
    /// At most so many tasks for a step that leaves their number to the engine; 0: as many as
    /// there are cores, or threads where its function may block.
    pub cpu_budget: usize,
    /// At most so many bytes in what is made ahead; 0: as the engine sees fit.
    pub ram_budget: usize,
    /// So many tasks for such a step at first; 0: as the engine sees fit.
    pub initial_parallelism: usize,
    /// At least so many tasks for such a step.
    pub min_parallelism: usize,
}

impl Default for AutotuneOptions {
    fn default() -> Self {
        AutotuneOptions {
            enabled: true,
            algorithm: Algorithm::default(),
            cpu_budget: 0,
            ram_budget: 0,
            initial_parallelism: 0,
            min_parallelism: 0,
        }
    }
}

/// Foreign functions, of which most take a lock of the caller's, begin with so many tasks at most.
const FIRST: usize = 4;

impl AutotuneOptions {
    /// The number of tasks of this kind for a step that leaves it to the engine; `limit` is how
    /// many of the iterator's tasks may run at once, if that is limited.
    pub fn workers(&self, kind: Kind, limit: Option<usize>) -> Arc<Knob> {
        let cores = pool::parallelism();
        let most = self.most(kind, limit);
        let start = match kind {
            _ if !self.enabled => said(self.cpu_budget).unwrap_or(cores),
            Kind::Work => cores,
            // Two even on one core: functions may wait for something else.
            Kind::Blocking => cores.clamp(2, FIRST),
        };
        self.knob(start, most)
    }

    /// How many of `cycle` datasets are read side by side by a step that leaves that to the engine.
    /// Most datasets wait for disks or servers.
    pub fn readers(&self, cycle: usize, limit: Option<usize>) -> Arc<Knob> {
        let most = self.most(Kind::Blocking, limit).min(cycle);
        self.knob(if self.enabled { FIRST } else { most }, most)
    }

    /// The most tasks of this kind that such a step may have.
    fn most(&self, kind: Kind, limit: Option<usize>) -> usize {
        let all = match kind {
            Kind::Work => pool::parallelism(),
            Kind::Blocking => pool::blocking_limit(),
        };
        // Tasks above the threads there are would only wait for one.
        let most = said(self.cpu_budget).unwrap_or(all).max(self.min_parallelism);
        let most = most.min(limit.unwrap_or(usize::MAX));
        if kind == Kind::Work { most.min(all.max(1)) } else { most }
    }

    /// A number that stands at `start` unless the user says otherwise, and moves up to `most`.
    fn knob(&self, start: usize, most: usize) -> Arc<Knob> {
        let least = self.min_parallelism.min(most);
        let start = said(self.initial_parallelism).unwrap_or(start);
        if !self.enabled {
            return Knob::fixed(start.clamp(least, most));
        }
        if self.algorithm == Algorithm::MaxParallelism {
            return Knob::fixed(most);
        }
        Knob::between(least, start, most)
    }
}

fn said(n: usize) -> Option<usize> {
    (n > 0).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(change: impl FnOnce(&mut AutotuneOptions)) -> AutotuneOptions {
        let mut options = AutotuneOptions::default();
        change(&mut options);
        options
    }

    #[test]
    fn tasks_that_compute_have_the_cores_and_others_the_threads() {
        let cores = pool::parallelism();
        let work = AutotuneOptions::default().workers(Kind::Work, None);
        assert_eq!((work.now(), work.most()), (cores, cores));
        let blocking = AutotuneOptions::default().workers(Kind::Blocking, None);
        assert!((2..=FIRST).contains(&blocking.now()));
        assert_eq!(blocking.most(), 2 * cores + 12);
    }

    #[test]
    fn what_the_user_says_bounds_them() {
        let budget = options(|options| options.cpu_budget = 3);
        assert_eq!(budget.workers(Kind::Blocking, None).most(), 3);
        assert_eq!(budget.workers(Kind::Blocking, Some(1)).most(), 1);
        let least = options(|options| options.min_parallelism = 5);
        assert_eq!(least.workers(Kind::Blocking, None).now(), 5);
        let first = options(|options| options.initial_parallelism = 7);
        assert_eq!(first.workers(Kind::Blocking, None).now(), 7);
        let most = options(|options| options.algorithm = Algorithm::MaxParallelism);
        assert_eq!(most.workers(Kind::Blocking, None).now(), pool::blocking_limit());
    }

    #[test]
    fn no_more_datasets_are_read_than_a_cycle_has() {
        let knob = |options: AutotuneOptions, cycle, limit| {
            let readers = options.readers(cycle, limit);
            (readers.now(), readers.most())
        };
        let most = pool::blocking_limit();
        assert_eq!(knob(AutotuneOptions::default(), 2, None), (2, 2));
        assert_eq!(knob(AutotuneOptions::default(), 1000, None), (FIRST, most));
        assert_eq!(knob(AutotuneOptions::default(), 1000, Some(3)), (3, 3));
        assert_eq!(knob(options(|options| options.cpu_budget = 2), 1000, None), (2, 2));
        assert_eq!(knob(options(|options| options.min_parallelism = 6), 8, None), (6, 8));
        assert_eq!(knob(options(|options| options.initial_parallelism = 1), 8, None), (1, 8));
        let all = options(|options| options.algorithm = Algorithm::MaxParallelism);
        assert_eq!(knob(all, 8, None), (8, 8));
    }

    #[test]
    fn without_tuning_numbers_stay() {
        let fixed = options(|options| options.enabled = false);
        let workers = fixed.workers(Kind::Blocking, None);
        assert!(workers.is_fixed());
        assert_eq!(workers.now(), pool::parallelism());
        let fixed = options(|options| (options.enabled, options.cpu_budget) = (false, 3));
        assert_eq!(fixed.workers(Kind::Blocking, None).now(), 3);
        assert_eq!(fixed.readers(8, None).now(), 3);
        assert_eq!(fixed.readers(2, None).now(), 2);
        let fixed = options(|options| options.enabled = false);
        assert!(fixed.readers(8, None).is_fixed());
        assert_eq!(fixed.readers(8, None).now(), 8.min(pool::blocking_limit()));
    }
}
