//! The memory budget of an iterator: what waits, what is counted, what is told.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use headrace::data::{Column, Structure, Tensor};
use headrace::engine::autotune::AutotuneOptions;
use headrace::engine::budget::Account;
use headrace::engine::{Plan, RunOptions, notices};
use headrace::graph::attr::Attrs;
use headrace::sources::tensors::TensorsNode;
use headrace::transforms::cache::CacheNode;
use headrace::transforms::repeat::RepeatNode;
use headrace::transforms::take::TakeNode;
use headrace::transforms::unique::UniqueNode;
use support::{
    CASES, Function, Reader, batch, drawing, interleave, map, prefetch, range, shuffle, zip,
};

const MB: u64 = 1 << 20;
const VALUES: usize = (MB / 8) as usize;

/// Arrays of a megabyte.
fn large(native: bool) -> Arc<Function> {
    Arc::new(Function {
        native,
        calls: AtomicU64::new(0),
        graph: |builder, x| {
            let ones = builder.constant(Tensor::from_values(&[VALUES], &vec![1_i64; VALUES])?);
            Ok(builder.add("add", Attrs::new(), &[x, ones])?[0])
        },
        foreign: |x| Tensor::from_values(&[VALUES], &vec![x + 1; VALUES]),
    })
}

fn budget(bytes: u64) -> RunOptions {
    let autotune = AutotuneOptions { ram_budget: bytes as usize, ..AutotuneOptions::default() };
    RunOptions { autotune, ..RunOptions::default() }
}

/// Reads one element and then leaves the run alone until nothing changes any more; returns the
/// most that its buffers took, and took at the end.
fn left_alone(plan: &Plan, options: RunOptions) -> (u64, u64) {
    let mut reader = Reader::open(plan, options, None);
    assert!(reader.next().is_some());
    let account = Arc::clone(reader.run.context().account());
    let mut last = (u64::MAX, Instant::now());
    let began = Instant::now();
    while last.1.elapsed() < Duration::from_millis(300) {
        if account.total() != last.0 {
            last = (account.total(), Instant::now());
        }
        assert!(began.elapsed() < Duration::from_secs(100), "never comes to rest");
        std::thread::sleep(Duration::from_millis(5));
    }
    (account.peak(), account.total())
}

/// Waits until nothing is on the account: tasks may still be about to end.
fn is_settled(account: &Account) -> bool {
    let began = Instant::now();
    while account.total() > 0 && began.elapsed() < Duration::from_secs(100) {
        std::thread::sleep(Duration::from_millis(1));
    }
    account.total() == 0
}

#[test]
fn what_runs_ahead_waits_when_the_budget_is_used_up() {
    let plans: [(&str, Plan); 7] = [
        ("foreign", prefetch(map(range(1000), large(false), None), 1000)),
        ("foreign in parallel", map(range(1000), large(false), Some(100))),
        ("native", prefetch(map(range(1000), large(true), None), 1000)),
        ("native in parallel", prefetch(map(range(1000), large(true), Some(2)), 1000)),
        ("batches", prefetch(batch(map(range(1000), large(false), Some(8)), 1, false), 1000)),
        (
            "one above the other",
            prefetch(prefetch(map(range(1000), large(false), Some(8)), 1000), 1000),
        ),
        ("nested", interleave(range(8), |_| map(range(100), large(false), Some(4)), 8, 1, Some(8))),
    ];
    for (name, plan) in plans {
        let (peak, rest) = left_alone(&plan, budget(16 * MB));
        // Blocks are rounded up, and the first elements are of a size that nobody knows.
        assert!(peak <= 24 * MB, "{name}: {peak}");
        assert!(rest <= 17 * MB, "{name}: {rest}");
        // What may be used is used.
        assert!(rest >= 3 * MB, "{name}: {rest}");
    }
}

#[test]
fn the_element_that_the_consumer_waits_for_is_always_admitted() {
    // Each is larger than the budget.
    for native in [false, true] {
        let plan = || {
            let large = |calls| map(range(6), large(native), calls);
            let nested = move |_| map(range(2), self::large(native), Some(2));
            zip(vec![
                prefetch(batch(large(Some(3)), 2, false), 2),
                prefetch(interleave(range(3), nested, 2, 1, Some(2)), 3),
            ])
        };
        let expected = support::read(&plan(), RunOptions::default());
        assert_eq!(expected.len(), 3);
        assert!(support::read(&plan(), budget(MB / 2)) == expected);
    }
}

#[test]
fn chunks_stay_within_a_small_budget() {
    // The function has few elements to start from, but makes much of each.
    let function = large(true);
    let plan = map(range(100), function, None);
    let mut reader = Reader::open(&plan, budget(4 * MB), None);
    let rows: Vec<usize> =
        std::iter::from_fn(|| reader.run.next_chunk().unwrap()).map(|c| c.rows()).collect();
    assert!(rows.iter().all(|rows| *rows == 1), "{rows:?}");
    let small = Reader::open(&range(10_000), budget(16 << 10), None).run.next_chunk().unwrap();
    assert!(small.unwrap().rows() <= 128);
}

#[test]
fn views_of_arrays_of_the_plan_cost_nothing() {
    let tensor = Tensor::from_values(&[64, VALUES / 8], &vec![0_i64; 8 * VALUES]).unwrap();
    let slices = TensorsNode::slices(Structure::Leaf, vec![Column::Stacked(tensor)]).unwrap();
    let plan = TakeNode::plan(prefetch(batch(slices, 2, false), 8), 20);
    let mut reader = Reader::open(&plan, budget(MB), None);
    assert_eq!(reader.by_ref().count(), 20);
    for report in reader.run.reports().iter().filter(|report| report.depth > 0) {
        let peak = report.stats.peak_queued_bytes.load(SeqCst);
        assert!(peak == 0, "{}: {peak}", report.name);
    }
}

#[test]
fn each_step_tells_what_it_takes() {
    let epochs = RepeatNode::plan(CacheNode::plan(map(range(40), large(false), None), None), 2);
    let plan = prefetch(batch(shuffle(epochs, 10, 1), 4, false), 2);
    let mut reader = Reader::open(&plan, RunOptions::default(), None);
    reader.by_ref().take(12).for_each(drop);
    let reports = reader.run.reports();
    let stats = |name| {
        let report = reports.iter().find(|report| report.name == name).unwrap();
        let stats = &report.stats;
        (stats.peak_bytes.load(SeqCst), stats.peak_queued_bytes.load(SeqCst))
    };
    assert!(stats("shuffle").0 >= 10 * MB && stats("shuffle").0 < 40 * MB);
    assert!(stats("cache").0 >= 40 * MB && stats("cache").0 < 50 * MB);
    assert!(stats("batch").0 >= 3 * MB && stats("batch").0 < 6 * MB);
    assert!(stats("prefetch").1 >= 4 * MB && stats("prefetch").1 < 24 * MB);
    assert_eq!(stats("range"), (0, 0));
    let account = reader.run.context().account();
    assert!(account.peak() >= 50 * MB && account.total() > 0);
}

#[test]
fn everything_is_given_back() {
    for (name, plan) in CASES.iter().chain(drawing::CASES) {
        for leave in [None, Some(3)] {
            let mut reader = Reader::open(&plan(), RunOptions::default(), None);
            let account = Arc::clone(reader.run.context().account());
            reader.by_ref().take(leave.unwrap_or(usize::MAX)).for_each(drop);
            drop(reader);
            assert!(is_settled(&account), "{name}: {account:?}");
        }
    }
}

#[test]
fn buffers_that_must_exceed_the_budget_are_told_of_once() {
    let told = || {
        let mine = |text: &String| text.contains("memory budget of 5 MiB");
        notices::take().into_iter().filter(mine).collect::<Vec<_>>()
    };
    let plan = shuffle(map(range(30), large(false), Some(2)), 20, 1);
    for _ in 0..2 {
        assert_eq!(Reader::open(&plan, budget(5 * MB), None).count(), 30);
    }
    let texts = told();
    let [text] = &texts[..] else { panic!("{texts:?}") };
    for part in ["shuffle holds", "MiB", "buffer_size", "ram_budget"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    // Another plan is another matter.
    let plan = UniqueNode::plan(map(range(30), large(false), None)).unwrap();
    assert_eq!(Reader::open(&plan, budget(5 * MB), None).count(), 30);
    assert!(told().iter().any(|text| text.contains("unique holds")));
    // What fits is no matter at all.
    let plan = shuffle(map(range(30), large(false), None), 2, 1);
    assert_eq!(Reader::open(&plan, budget(5 * MB), None).count(), 30);
    assert!(told().is_empty());
}
