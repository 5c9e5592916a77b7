//! No more tasks of an iterator run than it has permits, and none waits for one in vain.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::*;
use crate::engine::limit::{Limit, limited, unlimited};

/// Work that counts how many threads are in it.
struct Counted {
    running: Arc<AtomicUsize>,
    most: usize,
}

impl Work for Counted {
    fn run(&self, input: Chunk, first: u64, hands: &dyn Hands) -> Outcomes {
        let running = self.running.fetch_add(1, SeqCst) + 1;
        assert!(running <= self.most, "{running} run at once");
        let outcomes = Add(0).run(input, first, hands);
        self.running.fetch_sub(1, SeqCst);
        outcomes
    }
}

fn two_drivers(permits: usize, lower: fn() -> How, upper: fn() -> How) {
    let run = context(Some(permits));
    let running = Arc::new(AtomicUsize::new(0));
    let counted = |how: How| {
        let work = Counted { running: Arc::clone(&running), most: permits };
        How { work: Some(Arc::new(work)), ..how }
    };
    let lower = Driven(driver(numbers(4), counted(lower()), &run));
    let mut upper = driver(lower, counted(upper()), &run);
    // As `Run::next_chunk` does.
    let seen = limited(run.limit(), || all(&mut upper, 1)).unwrap();
    assert_eq!(seen, [0, 1, 2, 3]);
    drop(upper);
    assert_tasks_end(&run);
}

#[test]
fn one_permit_is_enough_for_drivers_above_each_other() {
    explore(Late::Never, || two_drivers(1, how, how));
    explore(Late::AtAnyTime, || two_drivers(1, foreign, how));
    explore(Late::AtAnyTime, || two_drivers(1, foreign, foreign));
}

#[test]
fn two_permits_let_two_work() {
    explore(Late::Never, || two_drivers(2, how, how));
}

#[test]
fn a_permit_that_is_given_back_reaches_who_waits() {
    explore(Late::Never, || {
        let limit = Arc::new(Limit::new(1));
        let running = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (limit, running) = (Arc::clone(&limit), Arc::clone(&running));
                thread::spawn(move || {
                    let enter = || {
                        assert_eq!(running.fetch_add(1, SeqCst), 0);
                        thread::yield_now();
                        running.fetch_sub(1, SeqCst);
                    };
                    limited(Some(&limit), || {
                        enter();
                        unlimited(thread::yield_now).unwrap();
                        enter();
                    })
                    .unwrap();
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn closing_ends_waits_for_a_permit_at_once() {
    explore(Late::Never, || {
        let limit = Arc::new(Limit::new(1));
        limited(Some(&limit), || {
            let waiters: Vec<_> = (0..2)
                .map(|_| {
                    let limit = Arc::clone(&limit);
                    thread::spawn(move || limited(Some(&limit), || ()))
                })
                .collect();
            thread::yield_now();
            limit.close();
            for waiter in waiters {
                let error = waiter.join().unwrap().unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Cancelled);
            }
        })
        .unwrap();
    });
}
