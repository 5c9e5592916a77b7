//! What can be seen of the engine from outside: demand, threads, ends.

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

use headrace::combine::zip::ZipNode;
use headrace::data::Structure;
use headrace::engine::node::Rewrites;
use headrace::engine::pool::parallelism;
use headrace::engine::{Run, RunOptions};
use headrace::formats::tfrecord::{ReadOptions, Writer, WriterOptions};
use headrace::io::compress::Compression;
use headrace::sources::tfrecord::TfRecordNode;
use headrace::transforms::repeat::RepeatNode;
use headrace::transforms::shuffle::ShuffleNode;
use support::{Reader, batch, map, options, plus_one, prefetch, range, shuffle};

/// Waits until the function was called so often (other tests may hold the threads for a while), and
/// then long enough for calls too many.
fn settle(function: &support::Function, calls: u64) -> u64 {
    let start = Instant::now();
    while function.calls.load(SeqCst) < calls && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(100));
    function.calls.load(SeqCst)
}

#[test]
fn foreign_functions_run_on_demand() {
    let function = plus_one(false);
    let plan = map(range(100), Arc::clone(&function), None);
    let mut reader = Reader::open(&plan, RunOptions::default(), None);
    reader.next();
    reader.next();
    assert_eq!(function.calls.load(SeqCst), 2);
    let plan = batch(map(range(100), Arc::clone(&function), None), 40, false);
    Reader::open(&plan, RunOptions::default(), None).next();
    assert_eq!(function.calls.load(SeqCst), 42);
}

#[test]
fn the_next_epoch_fills_the_buffer_that_this_one_leaves() {
    let plan = RepeatNode::plan(shuffle(range(20), 6, 3), 3);
    let taken_in = |fused, taken| {
        let rewrites = Rewrites { shuffle_and_repeat_fusion: fused, ..Rewrites::NONE };
        let mut reader = Reader::open(&plan, RunOptions { rewrites, ..options(1) }, None);
        reader.by_ref().take(taken).for_each(drop);
        let reports = reader.run.reports();
        reports.last().unwrap().stats.elements.load(Relaxed)
    };
    assert_eq!([16, 18, 20, 21].map(|taken| taken_in(true, taken)), [20, 23, 25, 26]);
    assert_eq!([16, 18, 20, 21].map(|taken| taken_in(false, taken)), [20, 20, 20, 26]);
}

#[test]
fn foreign_functions_below_a_repeated_shuffle_run_on_demand() {
    let function = plus_one(false);
    let numbers = map(range(20), Arc::clone(&function), None);
    let plan = RepeatNode::plan(shuffle(numbers, 6, 3), 3);
    Reader::open(&plan, options(1), None).take(20).for_each(drop);
    assert_eq!(function.calls.load(SeqCst), 20);
}

#[test]
fn prefetch_runs_ahead_by_its_size_and_no_more() {
    let function = plus_one(false);
    let plan = prefetch(map(range(100), Arc::clone(&function), None), 4);
    let mut reader = Reader::open(&plan, RunOptions::default(), None);
    reader.next();
    let calls = settle(&function, 5);
    assert!((5..=6).contains(&calls), "{calls}");
}

#[test]
fn a_parallel_map_runs_ahead_by_its_calls_and_no_more() {
    let function = plus_one(false);
    let plan = map(range(100), Arc::clone(&function), Some(3));
    let mut reader = Reader::open(&plan, RunOptions::default(), None);
    reader.next();
    let calls = settle(&function, 3);
    assert!((3..=4).contains(&calls), "{calls}");
}

#[test]
fn a_shuffle_draws_no_more_inputs_than_it_needs() {
    let function = plus_one(false);
    let plan = shuffle(map(range(100), Arc::clone(&function), None), 10, 1);
    Reader::open(&plan, RunOptions::default(), None).next();
    assert!((10..=11).contains(&function.calls.load(SeqCst)));
}

#[test]
fn skipping_calls_no_function() {
    let function = plus_one(false);
    let plan = map(range(1_000_000), Arc::clone(&function), None);
    let plan = headrace::transforms::skip::SkipNode::plan(plan, 999_990);
    assert_eq!(Reader::open(&plan, RunOptions::default(), None).count(), 10);
    assert_eq!(function.calls.load(SeqCst), 10);
}

#[test]
fn endless_epochs_are_skipped_by_counting() {
    let endless = RepeatNode::plan(range(7), -1);
    let plan = headrace::transforms::skip::SkipNode::plan(endless, 7_000_000_000_001);
    let mut run = Run::open(&plan, RunOptions::default(), None).unwrap();
    assert!(run.next_chunk().unwrap().is_some());
}

#[test]
fn closing_ends_every_task() {
    let plan =
        prefetch(map(map(range(1 << 40), plus_one(false), Some(4)), plus_one(true), Some(2)), 3);
    let mut reader = Reader::open(&plan, RunOptions::default(), None);
    for _ in 0..100 {
        reader.next();
    }
    assert!(reader.run.close(Duration::from_secs(60)));
}

/// Threads of this process, other tests' included.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

#[test]
fn forty_sources_share_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let file = |i: usize| folder.path().join(format!("{i}.tfrecord")).to_str().unwrap().to_string();
    let sources = (0..40).map(|i| {
        let mut writer = Writer::create(&file(i), WriterOptions::default()).unwrap();
        (0..2000).for_each(|k| writer.write(format!("{i} {k}").as_bytes()).unwrap());
        writer.close().unwrap();
        let records = TfRecordNode::plan(vec![file(i)], Compression::None, ReadOptions::default());
        prefetch(support::map_any(records, support::identity_map_of_anything(), Some(2)), 2)
    });
    let sources: Vec<_> = sources.collect();
    let nest = Structure::Tuple(vec![Structure::Leaf; sources.len()]);
    let plan = ZipNode::plan(nest, sources).unwrap();
    let before = threads();
    let mut most = 0;
    let mut reader = Reader::open(&plan, RunOptions::default(), None);
    let mut count = 0;
    while reader.next().is_some() {
        count += 1;
        if count % 100 == 0 {
            most = most.max(threads());
        }
    }
    assert_eq!(count, 2000);
    assert!(
        most.saturating_sub(before) < 4 * parallelism() + 16,
        "{most} threads, {before} before"
    );
}

#[test]
fn long_records_are_read_beside_each_other_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<String> = (0..2)
        .map(|i| folder.path().join(format!("{i}.tfrecord")).to_str().unwrap().to_string())
        .collect();
    for (i, path) in paths.iter().enumerate() {
        let mut writer = Writer::create(path, WriterOptions::default()).unwrap();
        for k in 0..9_usize {
            // One short record among the long ones.
            let len = if k == 4 { 10 } else { 300_000 + k };
            writer.write(&vec![(i * 9 + k) as u8; len]).unwrap();
        }
        writer.close().unwrap();
    }
    // The payload of the third record of the first file is damaged.
    let mut bytes = std::fs::read(&paths[0]).unwrap();
    bytes[2 * 300_000 + 1000] ^= 1;
    std::fs::write(&paths[0], bytes).unwrap();
    let plan = || TfRecordNode::plan(paths.clone(), Compression::None, ReadOptions::default());
    let ahead = support::read(&prefetch(plan(), 2), RunOptions::default());
    let plain = RunOptions { inject_prefetch: false, ..RunOptions::default() };
    assert_eq!(ahead, support::read(&plan(), plain));
    assert_eq!(ahead.len(), 18);
    assert!(ahead[2].starts_with("error"));
    let mut reader = Reader::open(&prefetch(plan(), 2), RunOptions::default(), None);
    reader.by_ref().take(7).for_each(drop);
    let state = reader.state();
    let rest: Vec<_> =
        Reader::open(&prefetch(plan(), 2), RunOptions::default(), Some(&state)).collect();
    assert!(rest == ahead[7..]);
}

#[test]
fn a_shuffle_buffer_larger_than_its_input_costs_nothing() {
    let seeds = headrace::engine::seeds::SeedGenerator::new(Some((1, 1)), true);
    let plan = ShuffleNode::plan(range(10), i64::MAX, seeds).unwrap();
    assert_eq!(Reader::open(&plan, RunOptions::default(), None).count(), 10);
}

#[test]
fn stages_count_what_they_do() {
    let plan = prefetch(batch(map(range(100), plus_one(true), None), 10, false), 2);
    let mut reader = Reader::open(&plan, RunOptions::default(), None);
    reader.by_ref().for_each(drop);
    let reports = reader.run.reports();
    let counts: Vec<_> = reports.iter().map(|r| (r.name, r.stats.elements.load(SeqCst))).collect();
    assert_eq!(counts, [("prefetch", 10), ("batch", 10), ("map", 100), ("range", 100)]);
}
