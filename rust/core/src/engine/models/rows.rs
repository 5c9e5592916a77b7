//! The rows of a chunk are each worked on once, whoever does, and the chunk waits for all of them.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::*;
use crate::graph::rows::EachRow;

/// Work that others may take part in, row by row; it fails at one number.
struct Apart(Option<i64>);

impl Work for Apart {
    fn run(&self, input: Chunk, _first: u64, hands: &dyn Hands) -> Outcomes {
        let numbers = values(&input);
        let done: Arc<[AtomicUsize]> = numbers.iter().map(|_| AtomicUsize::new(0)).collect();
        let fails_at = self.0;
        let row: EachRow = {
            let (numbers, done) = (numbers.clone(), Arc::clone(&done));
            Arc::new(move |row| {
                thread::yield_now();
                done[row].fetch_add(1, SeqCst);
                fails_at != Some(numbers[row])
            })
        };
        hands.each(numbers.len(), row);
        let failed = numbers.iter().position(|number| fails_at == Some(*number));
        let good = failed.unwrap_or(numbers.len());
        let needed = &done[..numbers.len().min(good + 1)];
        assert!(needed.iter().all(|times| times.load(SeqCst) == 1), "each row has its turn");
        assert!(done.iter().all(|times| times.load(SeqCst) <= 1), "no row has two");
        let mut outcomes = Outcomes::from([chunk(&numbers[..good])]);
        outcomes.extend(failed.map(|row| Err(Error::data_loss(numbers[row].to_string()))));
        outcomes
    }

    fn is_heavy(&self) -> bool {
        true
    }
}

fn apart(fails_at: Option<i64>) -> How {
    How { work: Some(Arc::new(Apart(fails_at))), ..how() }
}

fn check(source: Numbers, how: How, max: usize) {
    let count = source.left.end;
    let run = context(None);
    let mut driver = driver(source, how, &run);
    assert_eq!(all(&mut driver, max), (0..count).collect::<Vec<_>>());
    drop(driver);
    assert_tasks_end(&run);
}

#[test]
fn rows_of_a_chunk_are_shared() {
    // One chunk; more of them than tasks.
    explore(Late::Never, || check(Numbers { rows: 3, ..numbers(3) }, apart(None), 4));
    explore(Late::Never, || check(Numbers { rows: 2, ..numbers(6) }, apart(None), 2));
    let three = || How { workers: Knob::fixed(3), ..apart(None) };
    explore(Late::AtAnyTime, move || check(Numbers { rows: 3, ..numbers(6) }, three(), 3));
}

#[test]
fn a_row_that_fails_ends_its_chunk() {
    let source = || Numbers { rows: 4, ..numbers(4) };
    explore(Late::Never, move || {
        let run = context(None);
        let mut driver = driver(source(), apart(Some(2)), &run);
        assert_eq!(all(&mut driver, 4), [0, 1, 2]);
        drop(driver);
        assert_tasks_end(&run);
    });
}

#[test]
fn rows_need_no_free_thread() {
    explore(Late::Never, || {
        let run = context(None);
        let source = Numbers { rows: 2, ..numbers(4) };
        let lower = Driven(driver(source, apart(None), &run));
        let middle = Driven(driver(lower, apart(None), &run));
        let mut upper = driver(middle, apart(None), &run);
        assert_eq!(all(&mut upper, 2), [0, 1, 2, 3]);
        drop(upper);
        assert_tasks_end(&run);
    });
}

#[test]
fn permits_hold_for_rows_too() {
    explore(Late::Never, || {
        let run = context(Some(1));
        let mut driver = driver(Numbers { rows: 2, ..numbers(4) }, apart(None), &run);
        assert_eq!(all(&mut driver, 2), [0, 1, 2, 3]);
        drop(driver);
        assert_tasks_end(&run);
    });
}

#[test]
fn dropping_the_consumer_ends_work_on_rows() {
    explore(Late::Never, || {
        let run = context(None);
        let mut driver = driver(Numbers { rows: 2, ..numbers(6) }, apart(None), &run);
        assert!(driver.next(2).unwrap().is_some());
        drop(driver);
        assert_tasks_end(&run);
    });
}

/// Rows that go on only beside each other.
struct Meeting(Arc<Watch>);

impl Work for Meeting {
    fn run(&self, input: Chunk, _first: u64, hands: &dyn Hands) -> Outcomes {
        let watch = Arc::clone(&self.0);
        let row: EachRow = Arc::new(move |row| {
            watch.begin(row);
            watch.wait_for(2);
            true
        });
        hands.each(input.rows(), row);
        Outcomes::from([Ok(input)])
    }

    fn is_heavy(&self) -> bool {
        true
    }
}

#[test]
fn others_are_called_to_the_rows_of_a_chunk() {
    explore(Late::Never, || {
        let run = context(None);
        let work: Option<Arc<dyn Work>> = Some(Arc::new(Meeting(Arc::default())));
        let source = Numbers { rows: 2, ..numbers(2) };
        let mut driver = driver(source, How { work, ..how() }, &run);
        assert_eq!(all(&mut driver, 2), [0, 1]);
        drop(driver);
        assert_tasks_end(&run);
    });
}
