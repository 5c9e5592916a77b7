//! How fast a run goes of late, and which stage holds it up.
//!
//! A stage's load is the part of the time in which it was busy, for each task that it may have. In
//! a pipeline that runs evenly the stage of the largest load is the limit; if the consumer does
//! other things for a larger part of the time, the limit is the consumer.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::engine::stats::{StageReport, StageStats};

/// Of late: since one or two of these.
const SPAN_NS: u64 = 1_000_000_000;

#[derive(Debug, Default)]
struct Snapshot {
    at_ns: u64,
    /// Time that the consumer had spent in the run.
    inside_ns: u64,
    /// Elements and busy time of each stage that there was.
    stages: Vec<(Arc<StageStats>, u64, u64)>,
}

/// What is known of the last second or two of a run.
#[derive(Debug, Default)]
pub struct Pace {
    older: Snapshot,
    recent: Snapshot,
    inside_ns: u64,
    /// When the consumer last left the run; 0 before it was there.
    left_ns: u64,
}

impl Pace {
    /// The consumer was in the run from `from_ns` to `to_ns`; true if it is time for a snapshot.
    pub fn passed(&mut self, from_ns: u64, to_ns: u64) -> bool {
        if self.left_ns == 0 {
            (self.older.at_ns, self.recent.at_ns) = (from_ns, from_ns);
        }
        self.inside_ns += to_ns.saturating_sub(from_ns);
        self.left_ns = to_ns;
        to_ns.saturating_sub(self.recent.at_ns) >= SPAN_NS
    }

    /// Keeps what the stages did so far.
    pub fn snapshot(&mut self, reports: &[StageReport]) {
        let stage = |report: &StageReport| {
            let (elements, busy_ns) = done(report);
            (Arc::clone(&report.stats), elements, busy_ns)
        };
        let stages = reports.iter().map(stage).collect();
        let (at_ns, inside_ns) = (self.left_ns, self.inside_ns);
        let recent = Snapshot { at_ns, inside_ns, stages };
        self.older = std::mem::replace(&mut self.recent, recent);
    }

    /// Puts into the reports how fast the stages were of late, and which was the limit.
    pub fn fill(&self, reports: &mut [StageReport]) {
        let span = self.left_ns.saturating_sub(self.older.at_ns).max(1) as f64;
        for report in &mut *reports {
            let (elements, busy_ns) = done(report);
            let same = |stage: &&(Arc<StageStats>, u64, u64)| Arc::ptr_eq(&stage.0, &report.stats);
            let before =
                self.older.stages.iter().find(same).map_or((0, 0), |stage| (stage.1, stage.2));
            let tasks =
                report.stats.meters().iter().map(|meter| meter.workers.now()).sum::<usize>();
            report.per_second = elements.saturating_sub(before.0) as f64 / span * 1e9;
            report.load = busy_ns.saturating_sub(before.1) as f64 / span / tasks.max(1) as f64;
        }
        let outside = 1.0 - self.inside_ns.saturating_sub(self.older.inside_ns) as f64 / span;
        let busiest = reports.iter_mut().max_by(|one, other| one.load.total_cmp(&other.load));
        if let Some(busiest) = busiest {
            busiest.limiting = busiest.load > outside.max(0.0);
        }
    }
}

fn done(report: &StageReport) -> (u64, u64) {
    (report.stats.elements.load(Relaxed), report.stats.busy_ns.load(Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn reports(busy: &[u64]) -> Vec<StageReport> {
        let reports: Vec<_> =
            busy.iter().map(|_| StageReport::new("stage", 0, Arc::default())).collect();
        add(&reports, busy);
        reports
    }

    fn add(reports: &[StageReport], busy: &[u64]) {
        for (report, busy) in reports.iter().zip(busy) {
            report.stats.busy_ns.fetch_add(*busy, Relaxed);
            report.stats.elements.fetch_add(100, Relaxed);
        }
    }

    fn limits(pace: &Pace, reports: &mut [StageReport]) -> Vec<bool> {
        pace.fill(reports);
        reports.iter().map(|report| report.limiting).collect()
    }

    #[test]
    fn the_busiest_stage_is_the_limit() {
        let mut pace = Pace::default();
        let mut reports = reports(&[SECOND / 10, SECOND / 2, SECOND / 5]);
        pace.passed(5, SECOND + 5);
        assert_eq!(limits(&pace, &mut reports), [false, true, false]);
        assert!((reports[0].per_second - 100.0).abs() < 1e-6);
        assert!((reports[1].load - 0.5).abs() < 1e-6);
    }

    #[test]
    fn a_consumer_that_does_more_elsewhere_is_the_limit() {
        let mut pace = Pace::default();
        let mut reports = reports(&[SECOND / 10, SECOND / 5]);
        pace.passed(0, SECOND / 10);
        pace.passed(9 * SECOND / 10, SECOND);
        assert_eq!(limits(&pace, &mut reports), [false, false]);
    }

    #[test]
    fn only_the_last_seconds_count() {
        let mut pace = Pace::default();
        let mut reports = reports(&[SECOND, 0]);
        assert!(pace.passed(0, SECOND));
        pace.snapshot(&reports);
        assert!(pace.passed(SECOND, 2 * SECOND));
        pace.snapshot(&reports);
        add(&reports, &[0, SECOND]);
        assert!(!pace.passed(2 * SECOND, 2 * SECOND + 1));
        assert_eq!(limits(&pace, &mut reports), [false, true]);
    }

    #[test]
    fn a_run_of_which_nothing_was_asked_has_no_limit() {
        assert_eq!(limits(&Pace::default(), &mut reports(&[0, 0])), [false, false]);
    }
}
