//! The pool runs every task once, while its threads come and go.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::*;
use crate::engine::pool;
use crate::engine::sync::bounded;

fn spawn_from_two_threads(kind: Kind, each: usize) {
    let done = Arc::new(AtomicUsize::new(0));
    let (sender, ended) = bounded::<()>(16);
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (done, sender) = (Arc::clone(&done), sender.clone());
            thread::spawn(move || {
                for _ in 0..each {
                    let (done, sender) = (Arc::clone(&done), sender.clone());
                    let task = move || {
                        done.fetch_add(1, SeqCst);
                        thread::yield_now();
                        drop(sender);
                    };
                    pool::spawn(kind, Box::new(task));
                    thread::yield_now();
                }
            })
        })
        .collect();
    drop(sender);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    // All tasks have dropped their end.
    assert!(ended.recv().is_err());
    assert_eq!(done.load(SeqCst), 2 * each);
}

#[test]
fn every_task_runs_once() {
    explore(Late::Never, || spawn_from_two_threads(Kind::Work, 4));
    explore(Late::Never, || spawn_from_two_threads(Kind::Blocking, 3));
}

#[test]
fn a_task_that_comes_as_a_thread_goes_is_run() {
    // Idle threads may end at any moment.
    explore(Late::AtAnyTime, || spawn_from_two_threads(Kind::Work, 4));
    explore(Late::AtAnyTime, || spawn_from_two_threads(Kind::Blocking, 3));
}

#[test]
fn tasks_that_wait_for_each_other_have_a_thread_each() {
    explore(Late::Never, || {
        let (sender, receiver) = bounded::<()>(1);
        let (done, all) = bounded::<bool>(4);
        for _ in 0..3 {
            let (receiver, done) = (receiver.clone(), done.clone());
            let task = move || done.send(receiver.recv().is_ok()).unwrap();
            pool::spawn(Kind::Blocking, Box::new(task));
        }
        for _ in 0..3 {
            sender.send(()).unwrap();
        }
        for _ in 0..3 {
            assert!(all.recv().unwrap());
        }
    });
}

/// One thread is taken; the other must not go to rest with a task there.
#[test]
fn a_task_that_comes_as_a_thread_goes_to_rest_is_run() {
    explore(Late::Never, || {
        let (sender, receiver) = bounded::<()>(1);
        let (done, all) = bounded::<()>(2);
        pool::spawn(Kind::Work, Box::new(thread::yield_now));
        let first = done.clone();
        pool::spawn(
            Kind::Work,
            Box::new(move || {
                receiver.recv().unwrap();
                first.send(()).unwrap();
            }),
        );
        thread::yield_now();
        let second = move || {
            sender.send(()).unwrap();
            done.send(()).unwrap();
        };
        pool::spawn(Kind::Work, Box::new(second));
        assert_eq!(all.into_iter().count(), 2);
    });
}
