//! Going on from a state is going on: on plans put together at random, whatever else changes
//! between the two parts of a run. And texts that are no states do no harm.

// Clippy's leave for tests ends at functions without #[test].
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use headrace::batching::unbatch::UnbatchNode;
use headrace::combine::concatenate::ConcatenateNode;
use headrace::data::{Chunk, ElementSpec, Tensor, Value};
use headrace::engine::node::Rewrites;
use headrace::engine::seeds::SeedGenerator;
use headrace::engine::state::State;
use headrace::engine::{Plan, Run, RunOptions};
use headrace::graph::call::{Called, Prepared, UserFunction};
use headrace::random::Site;
use headrace::transforms::enumerate::EnumerateNode;
use headrace::transforms::filter::FilterNode;
use headrace::transforms::repeat::RepeatNode;
use headrace::transforms::shard::Equal;
use headrace::transforms::shuffle::ShuffleNode;
use headrace::transforms::skip::SkipNode;
use headrace::transforms::take::TakeNode;
use proptest::prelude::*;
use serde_json::Value as Json;
use support::{
    CASES, Reader, batch, cache, drawing, failing, flat_map, from_source, global_shuffle,
    ignore_errors, interleave, map, map_any, options, plus_one, prefetch, range, residues, sample,
    scan, shard, shuffle, take_while, thirds, unique,
};

/// One step of a plan over numbers that gives numbers.
#[derive(Clone, Debug)]
enum Step {
    Map { native: bool },
    Fails,
    Filter { native: bool },
    Shuffle(i64, u64),
    Repeat(i64),
    Take(i64),
    Skip(i64),
    Batch(i64, bool),
    Shard(i64, Equal),
    Enumerate,
    Concatenate(i64),
    Sample(bool),
    Scan { native: bool },
    TakeWhile,
    Unique,
    Cache,
    IgnoreErrors,
    FlatMap(i64),
    Captured(i64),
    Interleave(i64, i64),
    Noise,
}

fn step() -> impl Strategy<Value = Step> {
    use Step::*;
    let any = any::<bool>();
    prop_oneof![
        any.prop_map(|native| Map { native }),
        Just(Fails),
        any.prop_map(|native| Filter { native }),
        (1_i64..9, 1_u64..9).prop_map(|(size, seed)| Shuffle(size, seed)),
        (1_i64..9, 1_u64..9).prop_map(|(size, seed)| Shuffle(size, seed)),
        (0_i64..4).prop_map(Repeat),
        (0_i64..30).prop_map(Take),
        (0_i64..9).prop_map(Skip),
        (1_i64..6, any).prop_map(|(size, drop)| Batch(size, drop)),
        (1_i64..4, prop_oneof![Just(Equal::No), Just(Equal::Drop), Just(Equal::Wrap)])
            .prop_map(|(shards, equal)| Shard(shards, equal)),
        Just(Enumerate),
        (1_i64..9).prop_map(Concatenate),
        any.prop_map(Sample),
        any.prop_map(|native| Scan { native }),
        Just(TakeWhile),
        Just(Unique),
        Just(Cache),
        Just(IgnoreErrors),
        (1_i64..4).prop_map(FlatMap),
        (1_i64..5).prop_map(Captured),
        (1_i64..4, 1_i64..4).prop_map(|(cycle, block)| Interleave(cycle, block)),
        Just(Noise),
    ]
}

/// What may differ between two parts of a run.
#[derive(Clone, Copy, Debug)]
struct Speed {
    calls: i64,
    ahead: i64,
    rows: usize,
    rewrites: bool,
}

fn speed() -> impl Strategy<Value = Speed> {
    let calls = prop_oneof![Just(1_i64), Just(2), Just(8), Just(-1)];
    (calls, 0_i64..4, prop_oneof![Just(1_usize), Just(3), Just(1024)], any::<bool>())
        .prop_map(|(calls, ahead, rows, rewrites)| Speed { calls, ahead, rows, rewrites })
}

impl Speed {
    fn options(self) -> RunOptions {
        let rewrites = if self.rewrites { Rewrites::ALL } else { Rewrites::NONE };
        RunOptions { rewrites, inject_prefetch: self.rewrites, ..options(self.rows) }
    }

    /// The plan of these steps.
    fn plan(self, source: i64, steps: &[Step]) -> Plan {
        let first = match source % 3 {
            0 => range(source),
            1 => global_shuffle(range(source), 3),
            _ => from_source(source as u64, false),
        };
        let plan = steps.iter().fold(first, |plan, step| self.add(plan, step));
        TakeNode::plan(plan, 60)
    }

    fn add(self, input: Plan, step: &Step) -> Plan {
        // Of a map that fails, a batch right above it makes other batches than one above a prefetch.
        let input = match (self.ahead, step) {
            (0, _) | (_, Step::Batch(..)) => input,
            (ahead, _) => prefetch(input, ahead),
        };
        let calls = Some(self.calls);
        match step {
            Step::Map { native } => map(input, plus_one(*native), calls),
            Step::Fails => map(input, failing(), calls),
            Step::Filter { native } => FilterNode::plan(input, thirds(*native)).unwrap(),
            Step::Shuffle(size, seed) => shuffle(input, *size, *seed),
            Step::Repeat(count) => RepeatNode::plan(input, *count),
            Step::Take(count) => TakeNode::plan(input, *count),
            Step::Skip(count) => SkipNode::plan(input, *count),
            Step::Batch(size, drop) => UnbatchNode::plan(batch(input, *size, *drop)).unwrap(),
            Step::Shard(shards, equal) => shard(input, *shards, shards - 1, *equal),
            Step::Enumerate => part(EnumerateNode::plan(input, 0), 1),
            Step::Concatenate(n) => ConcatenateNode::plan(input, range(*n)).unwrap(),
            Step::Sample(stop) => sample(&[0.6, 0.4], vec![input, range(9)], *stop, true),
            Step::Scan { native } => scan(input, *native),
            Step::TakeWhile => take_while(input, true),
            Step::Unique => unique(map(input, residues(), calls)),
            Step::Cache => cache(input),
            Step::IgnoreErrors => ignore_errors(input, None),
            Step::FlatMap(n) => {
                let n = *n;
                flat_map(input, move |x| {
                    let seeds = SeedGenerator::new(Some((1, 2)), true).made_in_call(true);
                    ShuffleNode::plan(range(x.rem_euclid(n) + 1), 2, seeds).unwrap()
                })
            }
            Step::Captured(n) => {
                let inner = shuffle(range(*n), 3, 7);
                flat_map(input, move |_| Arc::clone(&inner))
            }
            Step::Interleave(cycle, block) => {
                // Captured datasets that are read ahead draw as far as they are opened.
                let seeds = || SeedGenerator::new(Some((1, 8)), true).made_in_call(true);
                let make = move |x: i64| {
                    let inner = ShuffleNode::plan(range(4), 3, seeds()).unwrap();
                    TakeNode::plan(inner, x.rem_euclid(5))
                };
                interleave(input, make, *cycle, *block, calls)
            }
            Step::Noise => part(drawing::noise(input, true, calls), 0),
        }
    }
}

/// A small number of one part of a pair.
struct Part(usize);

impl UserFunction for Part {
    fn name(&self) -> String {
        "part".into()
    }

    fn hash64(&self) -> u64 {
        self.0 as u64
    }

    fn prepare(&self, _: &ElementSpec) -> headrace::Result<Prepared> {
        Ok(Prepared::Foreign { reason: "as ever".into(), gives: ElementSpec::Unknown })
    }

    fn call(&self, chunk: &Chunk, _: &Site) -> Called {
        let parts = (0..chunk.rows()).map(|row| {
            let Value::Tensor(x) = chunk.columns()[self.0].row(row).unwrap() else {
                panic!("not dense")
            };
            Tensor::scalar(x.values::<i64>().unwrap()[0] & 63).unwrap()
        });
        Called::all(support::collect(&parts.collect::<Vec<_>>()))
    }
}

fn part(input: Plan, which: usize) -> Plan {
    map_any(input, Arc::new(Part(which)), None)
}

#[test]
fn a_prefetch_on_a_shuffle_leaves_states_as_they_are() {
    let plan = |ahead: bool, whole: bool| {
        let shuffled = if whole { global_shuffle(range(5), 3) } else { shuffle(range(5), 3, 1) };
        let input = if ahead { prefetch(shuffled, 1) } else { shuffled };
        RepeatNode::plan(RepeatNode::plan(input, 2), 2)
    };
    for (ahead, whole) in [(false, false), (true, false), (false, true), (true, true)] {
        let all: Vec<_> = Reader::open(&plan(ahead, whole), options(1), None).collect();
        let mut reader = Reader::open(&plan(ahead, whole), options(1), None);
        for n in 0..=all.len() {
            let state = reader.state();
            let rest: Vec<_> =
                Reader::open(&plan(!ahead, whole), options(7), Some(&state)).collect();
            assert_eq!(rest, all[n..], "{ahead}, {whole}: resumed at {n}");
            reader.next();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_plans_resume_under_another_speed(
        source in 0_i64..12,
        steps in proptest::collection::vec(step(), 1..7),
        before in speed(),
        after in speed(),
    ) {
        let all: Vec<_> = Reader::open(&before.plan(source, &steps), before.options(), None)
            .take(80).collect();
        let mut reader = Reader::open(&before.plan(source, &steps), before.options(), None);
        for n in 0..=all.len() {
            let state = reader.state();
            let plan = after.plan(source, &steps);
            let mut resumed = Reader::open(&plan, after.options(), Some(&state));
            let half = (all.len() - n) / 2;
            let mut rest: Vec<_> = resumed.by_ref().take(half).collect();
            // And once more, from where that run has come to.
            let state = resumed.state();
            let again = Reader::open(&before.plan(source, &steps), before.options(), Some(&state));
            rest.extend(again.take(80 - n - half));
            prop_assert_eq!(&rest[..], &all[n..], "resumed at {}: {}", n, state.to_json().unwrap());
            reader.next();
        }
    }

    #[test]
    fn a_text_that_was_changed_is_no_state(
        case in 0..CASES.len(),
        taken in 0_usize..20,
        at in any::<prop::sample::Index>(),
        change in prop_oneof![
            any::<u8>().prop_map(Some),
            Just(None),
        ],
        cut in any::<bool>(),
    ) {
        let mut reader = Reader::open(&CASES[case].1(), options(3), None);
        reader.by_ref().take(taken).for_each(drop);
        let state = reader.state();
        let mut text = state.to_json().unwrap().into_bytes();
        let at = at.index(text.len());
        match (cut, change) {
            (true, _) => text.truncate(at),
            (_, Some(byte)) => text[at] = byte,
            (_, None) => drop(text.remove(at)),
        }
        if let Ok(text) = String::from_utf8(text) {
            match State::from_json(&text) {
                Ok(read) => prop_assert_eq!(read, state),
                Err(error) => prop_assert!(error.to_string().contains("not the state"), "{}", error),
            }
        }
    }

    #[test]
    fn whatever_numbers_a_state_holds_a_run_ends(
        case in 0..CASES.len(),
        taken in 0_usize..20,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), number()), 1..4),
    ) {
        let (name, plan) = CASES[case];
        let mut reader = Reader::open(&plan(), options(3), None);
        reader.by_ref().take(taken).for_each(drop);
        let mut json = serde_json::to_value(reader.state()).unwrap();
        for (at, number) in changes {
            let mut places = Vec::new();
            numbers(&mut json, &mut places);
            if !places.is_empty() {
                let at = at.index(places.len());
                *places[at] = number;
            }
        }
        let Ok(state) = serde_json::from_value::<State>(json.clone()) else { return Ok(()) };
        let Ok(mut run) = Run::open(&plan(), options(3), Some(&state)) else { return Ok(()) };
        // Some ask for more than will ever come, which is as good as a hang until somebody ends it.
        let context = Arc::clone(run.context());
        let (done, ended) = std::sync::mpsc::channel::<()>();
        let watch = std::thread::spawn(move || {
            let _ = ended.recv_timeout(Duration::from_millis(300));
            context.cancel();
        });
        for _ in 0..20 {
            match run.next_chunk() {
                Ok(None) => break,
                Err(error) if error.kind() == headrace::ErrorKind::Cancelled => break,
                outcome => {
                    let text = outcome.err().map(|error| error.to_string()).unwrap_or_default();
                    prop_assert!(!text.contains("panicked"), "{}: {}", name, json);
                }
            }
            let _ = run.state(0);
        }
        drop(done);
        watch.join().unwrap();
    }
}

/// Numbers that no run comes to, and some that it does.
fn number() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::from(0)),
        Just(Json::from(1)),
        Just(Json::from(7)),
        Just(Json::from(1000)),
        Just(Json::from(1_u64 << 40)),
        Just(Json::from(i64::MAX)),
        Just(Json::from(1_u64 << 63)),
        Just(Json::from(u64::MAX)),
        Just(Json::from(u64::MAX - 1)),
        Just(Json::from(-1)),
    ]
}

/// The numbers in a state.
fn numbers<'a>(json: &'a mut Json, places: &mut Vec<&'a mut Json>) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(|item| numbers(item, places)),
        Json::Object(items) => items.values_mut().for_each(|item| numbers(item, places)),
        Json::Number(_) => places.push(json),
        _ => {}
    }
}
