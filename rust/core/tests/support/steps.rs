//! Plans over numbers, put together at random.

use headrace::combine::concatenate::ConcatenateNode;
use headrace::engine::node::Rewrites;
use headrace::transforms::enumerate::EnumerateNode;
use proptest::prelude::*;

use super::*;

/// One step of a plan over numbers that gives numbers.
#[derive(Clone, Debug)]
pub enum Step {
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
    Zip(i64),
    Window { size: i64, shift: i64, stride: i64, drop: bool },
    Group(i64),
    Rebatch(i64, [i64; 2], bool),
    Noise,
}

pub fn step() -> impl Strategy<Value = Step> {
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
        (1_i64..30).prop_map(Zip),
        (1_i64..5, 1_i64..6, 1_i64..3, any)
            .prop_map(|(size, shift, stride, drop)| { Window { size, shift, stride, drop } }),
        (1_i64..4).prop_map(Group),
        (1_i64..6, [1_i64..4, 1_i64..4], any)
            .prop_map(|(size, sizes, drop)| Rebatch(size, sizes, drop)),
        Just(Noise),
    ]
}

/// What may differ between two parts of a run.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    pub calls: Option<i64>,
    pub ahead: i64,
    pub rows: usize,
    pub rewrites: bool,
}

pub fn speed() -> impl Strategy<Value = Speed> {
    let calls = prop_oneof![Just(1_i64), Just(2), Just(8), Just(-1)];
    (calls, 0_i64..4, prop_oneof![Just(1_usize), Just(3), Just(1024)], any::<bool>()).prop_map(
        |(calls, ahead, rows, rewrites)| Speed { calls: Some(calls), ahead, rows, rewrites },
    )
}

impl Speed {
    pub fn options(self) -> RunOptions {
        let rewrites = if self.rewrites { Rewrites::ALL } else { Rewrites::NONE };
        RunOptions { rewrites, inject_prefetch: self.rewrites, ..options(self.rows) }
    }

    /// The plan of these steps.
    pub fn plan(self, source: i64, steps: &[Step]) -> Plan {
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
            (0, _) | (_, Step::Batch(..) | Step::Rebatch(..)) => input,
            (ahead, _) => prefetch(input, ahead),
        };
        let calls = self.calls;
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
            Step::Zip(n) => part(zip(vec![input, range(*n)]), 0),
            Step::Window { size, shift, stride, drop } => {
                let windows = window(input, *size, Some(*shift), *stride, *drop, false);
                FlatMapNode::plan(windows, identity_map_of_anything()).unwrap()
            }
            Step::Group(size) => group_by_window(input, *size),
            Step::Rebatch(size, sizes, drop) => {
                let batches = rebatch(batch(input, *size, false), sizes, *drop);
                UnbatchNode::plan(batches).unwrap()
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

    fn prepare(&self, _: &ElementSpec) -> Result<Prepared> {
        Ok(Prepared::Foreign { reason: "as ever".into(), gives: ElementSpec::Unknown })
    }

    fn call(&self, chunk: &Chunk, _: &Site) -> Called {
        let parts = (0..chunk.rows()).map(|row| {
            let Value::Tensor(x) = chunk.columns()[self.0].row(row).unwrap() else {
                panic!("not dense")
            };
            Tensor::scalar(x.values::<i64>().unwrap()[0] & 63).unwrap()
        });
        Called::all(collect(&parts.collect::<Vec<_>>()))
    }
}

fn part(input: Plan, which: usize) -> Plan {
    map_any(input, Arc::new(Part(which)), None)
}
