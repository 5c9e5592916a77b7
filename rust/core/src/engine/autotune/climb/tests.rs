use super::*;

const MS: u64 = 1_000_000;
const STEP: u64 = 20 * MS;
const BOUNDS: Bounds = Bounds { least: 1, most: 16 };

/// A pipeline of which the times are known.
struct Model {
    /// How long a call takes while this many run.
    call_ns: fn(u64) -> u64,
    /// What the consumer does with an element, and the source for one.
    consumer_ns: u64,
    source_ns: u64,
    counts: Counts,
    /// What was not whole works yet.
    part: f64,
}

impl Model {
    fn new(call_ns: fn(u64) -> u64) -> Self {
        Model { call_ns, consumer_ns: 0, source_ns: 0, counts: Counts::default(), part: 0.0 }
    }

    /// One step's time with so many tasks.
    fn pass(&mut self, workers: usize) -> Counts {
        let call = (self.call_ns)(workers as u64) as f64;
        let able = workers as f64 / call;
        let asked = 1.0 / (self.consumer_ns.max(1) as f64);
        let given = 1.0 / (self.source_ns.max(1) as f64);
        let rate = able.min(asked).min(given);
        let works = rate * STEP as f64 + self.part;
        let whole = works.floor();
        self.part = works - whole;
        self.counts.at_ns += STEP;
        self.counts.works += whole as u64;
        self.counts.rows += whole as u64;
        self.counts.busy_ns += (whole * call) as u64;
        self.counts.pull_ns += (rate / given * STEP as f64) as u64;
        self.counts.starved_ns += ((1.0 - rate / asked) * STEP as f64) as u64;
        self.counts.full_ns += if asked < able { STEP / 2 } else { 0 };
        self.counts.in_flight = if asked < able { workers * 2 } else { workers };
        self.counts
    }

    fn climb(&mut self, climb: &mut Climb, start: usize, ms: u64) -> usize {
        self.climb_within(climb, start, ms, BOUNDS)
    }

    fn climb_within(&mut self, climb: &mut Climb, start: usize, ms: u64, bounds: Bounds) -> usize {
        let mut workers = start;
        for _ in 0..ms * MS / STEP {
            workers = climb.step(self.pass(workers), workers, bounds);
        }
        workers
    }
}

fn sleeps(_: u64) -> u64 {
    30 * MS
}

/// Calls that hold a lock all the time.
fn takes_turns(running: u64) -> u64 {
    5 * MS * running
}

/// Calls that compute, on four cores.
fn computes(running: u64) -> u64 {
    10 * MS * running.max(4) / 4
}

#[test]
fn calls_that_wait_get_all_threads() {
    assert_eq!(Model::new(sleeps).climb(&mut Climb::default(), 2, 1000), 16);
}

#[test]
fn a_busy_machine_takes_no_threads_away() {
    let (mut climb, mut model) = (Climb::default(), Model::new(sleeps));
    let (mut workers, mut fewer, mut seed) = (2, 0, 7_u64);
    for step in 0..1000 {
        let busy_ns = model.counts.busy_ns;
        let counts = model.pass(workers);
        // Calls take up to 40 % longer, or less long, now and then.
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let percent = 60 + (seed >> 33) % 81;
        model.counts.busy_ns = busy_ns + (counts.busy_ns - busy_ns) * percent / 100;
        workers = climb.step(model.counts, workers, BOUNDS);
        fewer += usize::from(step > 100 && workers < 8);
    }
    assert!(fewer < 50, "{fewer} of 900 steps with few tasks");
}

#[test]
fn calls_that_wait_for_long_get_them_without_waiting_for_evidence() {
    let (mut climb, mut model) = (Climb::default(), Model::new(|_| 700 * MS));
    assert_eq!(model.climb(&mut climb, 2, 1000), 16);
    // Fewer are tried once, since nobody knows what they bring.
    assert_eq!(model.climb(&mut climb, 16, 4000), 16);
}

#[test]
fn calls_that_take_turns_get_one() {
    let mut climb = Climb::default();
    let mut model = Model::new(takes_turns);
    assert_eq!(model.climb(&mut climb, 2, 2000), 1);
    assert_eq!(model.climb(&mut climb, 1, 5000), 1);
}

#[test]
fn long_calls_that_take_turns_are_found_out_after_haste() {
    let mut model = Model::new(|running| 300 * MS * running);
    assert!(model.climb(&mut Climb::default(), 2, 60_000) <= 2);
}

#[test]
fn a_start_with_too_many_is_found_out() {
    assert_eq!(Model::new(takes_turns).climb(&mut Climb::default(), 16, 20_000), 1);
    assert_eq!(Model::new(sleeps).climb(&mut Climb::default(), 16, 4000), 16);
}

#[test]
fn short_calls_that_take_turns_get_one() {
    let mut model = Model::new(|running| MS / 20 * running);
    assert_eq!(model.climb(&mut Climb::default(), 4, 2000), 1);
}

#[test]
fn calls_that_compute_get_the_cores() {
    assert_eq!(Model::new(computes).climb(&mut Climb::default(), 2, 3000), 4);
    assert_eq!(Model::new(computes).climb(&mut Climb::default(), 16, 8000), 4);
}

#[test]
fn a_slow_consumer_needs_few() {
    let mut model = Model::new(sleeps);
    model.consumer_ns = 30 * MS;
    assert_eq!(model.climb(&mut Climb::default(), 2, 3000), 2);
    assert_eq!(model.climb(&mut Climb::default(), 16, 3000), 2);
}

#[test]
fn a_slow_source_needs_few() {
    let mut model = Model::new(sleeps);
    model.source_ns = 20 * MS;
    assert!(model.climb(&mut Climb::default(), 16, 3000) <= 3);
}

#[test]
fn a_consumer_that_becomes_fast_gets_more_again() {
    let (mut climb, mut model) = (Climb::default(), Model::new(sleeps));
    model.consumer_ns = 30 * MS;
    let few = model.climb(&mut climb, 2, 2000);
    model.consumer_ns = 0;
    assert_eq!(model.climb(&mut climb, few, 2000), 16);
}

#[test]
fn a_function_that_changes_is_found_out() {
    let (mut climb, mut model) = (Climb::default(), Model::new(takes_turns));
    assert_eq!(model.climb(&mut climb, 2, 5000), 1);
    model.call_ns = sleeps;
    assert_eq!(model.climb(&mut climb, 1, 60_000), 16);
}

#[test]
fn bounds_hold() {
    let bounds = Bounds { least: 2, most: 3 };
    let (mut climb, mut model) = (Climb::default(), Model::new(sleeps));
    assert_eq!(model.climb_within(&mut climb, 2, 2000, bounds), 3);
    assert!(climb.wants > 3);
    let mut model = Model::new(takes_turns);
    assert_eq!(model.climb_within(&mut Climb::default(), 2, 2000, bounds), 2);
}

#[test]
fn tasks_that_compute_get_their_share_while_they_are_waited_for() {
    let (mut cores, mut model) = (Cores::default(), Model::new(computes));
    let bounds = Bounds { least: 1, most: 4 };
    let mut workers = 1;
    for _ in 0..10 {
        workers = cores.step(model.pass(workers), workers, bounds);
    }
    assert_eq!((workers, cores.wants), (4, 8));
    // Another run has come.
    for _ in 0..10 {
        workers = cores.step(model.pass(workers), workers, Bounds { least: 1, most: 2 });
    }
    assert_eq!(workers, 2);
}

#[test]
fn tasks_that_compute_for_a_slow_consumer_leave_cores_to_others() {
    let (mut cores, mut model) = (Cores::default(), Model::new(computes));
    model.consumer_ns = 20 * MS;
    let mut workers = 4;
    for _ in 0..200 {
        workers = cores.step(model.pass(workers), workers, Bounds { least: 1, most: 4 });
    }
    assert_eq!((workers, cores.wants), (1, 1));
}

/// Counters of a window: full and empty for these parts of each step.
fn buffer(parts: &[(f64, f64)], start: usize) -> usize {
    let bounds = Bounds { least: 4, most: 64 };
    let (mut buffer, mut counts, mut size) = (Buffer::default(), Counts::default(), start);
    for (full, empty) in parts {
        counts.at_ns += 50 * MS;
        counts.full_ns += (full * 50e6) as u64;
        counts.starved_ns += (empty * 50e6) as u64;
        counts.in_flight = if *empty > 0.0 { 0 } else { size };
        size = buffer.step(counts, size, bounds);
    }
    size
}

#[test]
fn a_window_grows_where_it_is_full_and_empty_by_turns() {
    assert_eq!(buffer(&[(0.5, 0.0), (0.0, 0.5)].repeat(10), 4), 64);
}

#[test]
fn a_window_that_is_never_full_does_not_grow() {
    assert_eq!(buffer(&[(0.0, 0.9)].repeat(20), 4), 4);
}

#[test]
fn a_window_that_is_never_empty_does_not_grow_and_shrinks_in_the_end() {
    assert_eq!(buffer(&[(0.9, 0.0)].repeat(20), 16), 16);
    assert_eq!(buffer(&[(0.9, 0.0)].repeat(1000), 16), 4);
}

/// Counters of the windows of four drivers: full, and with tasks that stand still while the consumer
/// waits, for these parts of each step.
fn depth(parts: &[(f64, f64)], start: usize) -> usize {
    let bounds = Bounds { least: 2, most: 16 };
    let (mut depth, mut counts, mut size) = (Depth::default(), Counts::default(), start);
    for (full, idle) in parts {
        counts.at_ns += 50 * MS;
        counts.full_ns += (idle * 50e6) as u64;
        counts.starved_ns += ((1.0 - full) * 50e6) as u64;
        counts.window = size * 4;
        counts.in_flight = (*full * counts.window as f64) as usize;
        size = depth.step(counts, size, bounds);
    }
    size
}

#[test]
fn windows_of_a_group_grow_while_tasks_stand_still_and_the_consumer_waits() {
    assert_eq!(depth(&[(0.0, 0.5)].repeat(10), 2), 16);
    assert_eq!(depth(&[(0.0, 0.02)].repeat(20), 2), 2);
}

#[test]
fn windows_of_a_group_that_stay_full_shrink_in_the_end() {
    assert_eq!(depth(&[(1.0, 0.0)].repeat(20), 16), 16);
    assert_eq!(depth(&[(1.0, 0.0)].repeat(1000), 16), 2);
    assert_eq!(depth(&[(0.2, 0.0)].repeat(1000), 16), 16);
}
