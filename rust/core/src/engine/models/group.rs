//! Drivers that share a number of tasks all come to their end, and their consumer hears of it.

use super::*;
use crate::engine::autotune::Meter;
use crate::engine::group::Group;
use crate::engine::skipping::Skipped;

fn drivers(run: &Arc<RunContext>, most: usize, how: fn() -> How) -> (Vec<Driver>, Arc<Group>) {
    let group = Group::new(Knob::fixed(most));
    let one = || {
        let how = How { workers: Knob::fixed(1), group: Some(Arc::clone(&group)), ..how() };
        driver(numbers(3), how, run)
    };
    ((0..3).map(|_| one()).collect(), group)
}

/// Takes from the drivers in turn, as an interleave that keeps the order.
fn in_turn(most: usize, how: fn() -> How) {
    let run = context(None);
    let (mut drivers, _group) = drivers(&run, most, how);
    drivers.iter().for_each(Driver::start);
    for expected in 0..3 {
        for driver in &mut drivers {
            assert_eq!(values(&driver.next(1).unwrap().unwrap()), [expected]);
        }
    }
    assert!(drivers.iter_mut().all(|driver| driver.next(1).unwrap().is_none()));
    drop(drivers);
    assert_tasks_end(&run);
}

/// Takes from whichever has something, and waits for any of them otherwise.
fn as_they_come(most: usize, how: fn() -> How) {
    let run = context(None);
    let (mut drivers, group) = drivers(&run, most, how);
    drivers.iter().for_each(Driver::start);
    let mut seen = Vec::new();
    while !drivers.is_empty() {
        let arrivals = group.arrivals();
        if let Some(at) = drivers.iter().position(Driver::is_ready) {
            match drivers[at].next(1).unwrap() {
                Some(chunk) => seen.extend(values(&chunk)),
                None => drop(drivers.remove(at)),
            }
            continue;
        }
        drivers[0].wait_for_group(arrivals, POLL).unwrap();
    }
    seen.sort_unstable();
    assert_eq!(seen, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    assert_tasks_end(&run);
}

#[test]
fn drivers_that_share_a_task_are_read_in_turn() {
    explore(Late::Never, || in_turn(1, how));
    explore(Late::Never, || in_turn(2, foreign));
    explore(Late::AtAnyTime, || in_turn(1, foreign));
}

#[test]
fn a_consumer_hears_of_whichever_driver_has_something() {
    explore(Late::Never, || as_they_come(1, how));
    explore(Late::Never, || as_they_come(2, foreign));
}

#[test]
fn dropping_drivers_of_a_group_ends_their_tasks() {
    explore(Late::Never, || {
        let run = context(None);
        let (mut drivers, _group) = drivers(&run, 1, how);
        drivers.iter().for_each(Driver::start);
        drivers[1].next(1).unwrap().unwrap();
        // The one that has the task goes first, or last.
        drivers.pop();
        assert_eq!(values(&drivers[0].next(1).unwrap().unwrap()), [0]);
        drop(drivers);
        assert_tasks_end(&run);
    });
}

#[test]
fn numbers_of_tasks_that_move_lose_nothing() {
    explore(Late::Never, || {
        let run = context(None);
        let (workers, window) = (Knob::between(1, 2, 3), Knob::between(1, 1, 2));
        let meter = Meter::new(Arc::clone(&workers), Window::Chunks(Arc::clone(&window)), true);
        let meter = Arc::new(meter);
        let group = Group::metered(Arc::clone(&meter));
        let one = || {
            let group = Some(Arc::clone(&group));
            let how = How { work: None, workers: Knob::fixed(1), group, ..how() };
            driver(numbers(3), How { window: meter.window.clone(), ..how }, &run)
        };
        let mut drivers: Vec<_> = (0..3).map(|_| one()).collect();
        drivers.iter().for_each(Driver::start);
        let mover = moving(workers, window);
        for expected in 0..3 {
            for driver in &mut drivers {
                assert_eq!(values(&driver.next(1).unwrap().unwrap()), [expected]);
            }
        }
        drop(drivers);
        mover.join().unwrap();
        assert_tasks_end(&run);
        assert_eq!(meter.counts(0).rows, 9);
        assert_eq!(meter.counts(0).in_flight, 0);
    });
}

/// Drivers of a group over watched sources, which nobody reads.
fn unread(count: usize, how: impl Fn() -> How) -> (Arc<RunContext>, Vec<Driver>, Arc<Watch>) {
    let run = context(None);
    let watch = Arc::new(Watch::default());
    let one = |number| driver(Watched(numbers(20), number, Arc::clone(&watch)), how(), &run);
    let drivers = (0..count).map(one).collect();
    (run, drivers, watch)
}

/// However often they are asked to start.
#[test]
fn each_driver_of_a_group_has_its_turn_though_nobody_waits() {
    fn check(most: usize, how: fn() -> How) {
        let group = Group::new(Knob::fixed(most));
        let one = || How { workers: Knob::fixed(1), group: Some(Arc::clone(&group)), ..how() };
        let (run, drivers, watch) = unread(3, one);
        for _ in 0..2 {
            drivers.iter().for_each(Driver::start);
        }
        // Windows are of two each.
        watch.wait_for(6);
        drop(drivers);
        assert_tasks_end(&run);
        let most_at_once = lock(&watch.seen).most;
        assert!(most_at_once <= most, "{most_at_once} ran at once");
    }
    explore(Late::Never, || check(1, how));
    explore(Late::Never, || check(1, foreign));
    explore(Late::Never, || check(2, foreign));
}

#[test]
fn drivers_of_a_group_have_their_turns_in_the_order_in_which_they_asked() {
    explore(Late::Never, || {
        let group = Group::new(Knob::fixed(1));
        let (workers, window) = (|| Knob::fixed(1), || Window::fixed(1));
        let one = || How {
            workers: workers(),
            window: window(),
            group: Some(Arc::clone(&group)),
            ..how()
        };
        let (run, drivers, watch) = unread(4, one);
        drivers.iter().for_each(Driver::start);
        watch.wait_for(4);
        drop(drivers);
        assert_tasks_end(&run);
        assert_eq!(lock(&watch.seen).begun, [0, 1, 2, 3]);
    });
}

/// Gives one element, and the next when it was told to.
struct OneAtATime(Numbers, Arc<Gate>);

impl Stage for OneAtATime {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if self.0.left.start > 0 {
            self.1.pass();
        }
        self.0.next(max)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        self.0.skip(n)
    }

    fn quiet(&self) -> bool {
        false
    }
}

#[test]
fn a_consumer_hears_of_each_result_though_the_task_goes_on() {
    explore(Late::Never, || {
        let run = context(None);
        let group = Group::new(Knob::fixed(1));
        let gate = Arc::new(Gate::default());
        let how = How { workers: Knob::fixed(1), group: Some(Arc::clone(&group)), ..foreign() };
        let mut driver = driver(OneAtATime(numbers(3), Arc::clone(&gate)), how, &run);
        let seen = group.arrivals();
        driver.start();
        while !driver.is_ready() {
            assert!(driver.wait_for_group(seen, POLL).unwrap(), "waited in vain");
        }
        gate.open();
        assert_eq!(all(&mut driver, 1), [0, 1, 2]);
        drop(driver);
        assert_tasks_end(&run);
    });
}

/// The one that the consumer waits for has room, whatever others have taken.
#[test]
fn a_group_with_no_budget_gives_what_its_consumer_waits_for() {
    explore(Late::Never, || {
        let run = context_of(RunOptions {
            autotune: AutotuneOptions { ram_budget: 1, ..AutotuneOptions::default() },
            ..RunOptions::default()
        });
        // It has all there is.
        let mut other = driver(numbers(3), how(), &run);
        other.start();
        while !other.is_ready() {
            thread::yield_now();
        }
        let (mut drivers, group) = drivers(&run, 2, foreign);
        let seen = group.arrivals();
        assert!(drivers[0].wait_for_group(seen, POLL).unwrap(), "waited in vain");
        assert_eq!(all(&mut other, 1), [0, 1, 2]);
        for driver in &mut drivers {
            assert_eq!(all(driver, 1), [0, 1, 2]);
        }
        drop(drivers);
        assert_tasks_end(&run);
    });
}
