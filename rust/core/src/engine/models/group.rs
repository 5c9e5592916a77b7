//! Drivers that share a number of tasks all come to their end, and their consumer hears of it.

use super::*;
use crate::engine::autotune::Meter;
use crate::engine::group::Group;

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
