//! Dropping or cancelling a run at any moment ends its tasks and every wait for it.

use super::*;

fn leave_after(taken: usize, source: Numbers, how: How) {
    let run = context(None);
    let mut driver = driver(source, how, &run);
    for _ in 0..taken {
        driver.next(1).unwrap().unwrap();
    }
    drop(driver);
    assert_tasks_end(&run);
}

#[test]
fn dropping_a_driver_ends_its_tasks() {
    explore(Late::Never, || leave_after(2, numbers(1000), how()));
    explore(Late::Never, || leave_after(1, numbers(1000), foreign()));
    explore(Late::Never, || leave_after(1, numbers(1000), How { ordered: false, ..how() }));
    explore(Late::Never, || leave_after(1, Numbers { quiet: false, ..numbers(1000) }, how()));
}

#[test]
fn a_driver_that_was_started_and_never_read_ends() {
    explore(Late::Never, || {
        let run = context(None);
        let driver = driver(numbers(1000), how(), &run);
        driver.start();
        drop(driver);
        assert_tasks_end(&run);
    });
}

#[test]
fn dropping_drivers_above_each_other_ends_all_tasks() {
    explore(Late::Never, || {
        let run = context(None);
        let lower = Driven(driver(numbers(1000), how(), &run));
        let mut upper = driver(lower, how(), &run);
        upper.next(1).unwrap().unwrap();
        drop(upper);
        assert_tasks_end(&run);
    });
}

#[test]
fn cancelling_ends_the_wait_of_the_consumer() {
    fn check(how: How) {
        let run = context(None);
        let other = Arc::clone(&run);
        let mut driver = driver(numbers(1000), how, &run);
        let canceller = thread::spawn(move || {
            thread::yield_now();
            other.cancel();
            assert_tasks_end(&other);
        });
        let mut next = 0;
        // All that comes before the end of the run is right.
        let end = loop {
            match driver.next(1) {
                Ok(Some(chunk)) => assert_eq!(values(&chunk), [next]),
                Ok(None) => break None,
                Err(error) => break Some(error.kind()),
            }
            next += 1;
            if next == 20 {
                break Some(ErrorKind::Cancelled);
            }
        };
        assert_eq!(end, Some(ErrorKind::Cancelled));
        canceller.join().unwrap();
        assert_tasks_end(&run);
    }
    // A wait notices by and by that the run is over: time may pass.
    explore(Late::AtAnyTime, || check(how()));
    explore(Late::AtAnyTime, || check(foreign()));
}
