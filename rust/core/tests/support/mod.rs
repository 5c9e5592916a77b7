//! What the integration tests share: plans of every op, and ways to read them.

// Each test binary uses a part of it.
#![allow(dead_code)]
// Clippy's leave for tests ends at functions without #[test].
#![allow(clippy::unwrap_used, clippy::panic)]

pub mod drawing;

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};

use headrace::batching::group_by_window::{GroupByWindowNode, GroupOrder, WindowSize};
use headrace::batching::window::WindowNode;
use headrace::batching::{batch::BatchNode, padded_batch::PaddedBatchNode, unbatch::UnbatchNode};
use headrace::batching::{
    ragged_batch::RaggedBatchNode, rebatch::RebatchNode, sparse_batch::SparseBatchNode,
};
use headrace::combine::choose::ChooseNode;
use headrace::combine::selector::{SelectorNode, Weights};
use headrace::combine::{concatenate::ConcatenateNode, flat_map::FlatMapNode};
use headrace::combine::{interleave::InterleaveNode, zip::ZipNode};
use headrace::data::{
    Chunk, Column, DType, Data, ElementSpec, PartialShape, Structure, Tensor, Value,
};
use headrace::engine::apply::Parallel;
use headrace::engine::nested::{dataset_value, plan_of};
use headrace::engine::seeds::SeedGenerator;
use headrace::engine::state::State;
use headrace::engine::{Plan, Run, RunOptions};
use headrace::error::{Error, Result};
use headrace::formats::csv::Syntax;
use headrace::graph::attr::Attrs;
use headrace::graph::call::{Called, Prepared, UserFunction};
use headrace::graph::graph::{Graph, GraphBuilder};
use headrace::io::compress::Compression;
use headrace::random::Site;
use headrace::sources::counter::{CounterNode, Steps};
use headrace::sources::csv::{CsvColumn, CsvNode, CsvOptions};
use headrace::sources::fixed_length::{FixedLengthNode, Layout};
use headrace::sources::from_source::{FromSourceNode, IndexedSource};
use headrace::sources::load::LoadNode;
use headrace::sources::random::RandomNode;
use headrace::sources::text_line::TextLineNode;
use headrace::sources::{range::RangeNode, tensors::TensorsNode};
use headrace::transforms::assert_cardinality::AssertCardinalityNode;
use headrace::transforms::cache::CacheNode;
use headrace::transforms::enumerate::EnumerateNode;
use headrace::transforms::filter::FilterNode;
use headrace::transforms::global_shuffle::GlobalShuffleNode;
use headrace::transforms::ignore_errors::IgnoreErrorsNode;
use headrace::transforms::map::MapNode;
use headrace::transforms::prefetch::PrefetchNode;
use headrace::transforms::reduce::ReduceNode;
use headrace::transforms::repeat::RepeatNode;
use headrace::transforms::resample::{
    Acceptance, Classified, Estimate, EstimateNode, Keep, RejectNode,
};
use headrace::transforms::save::save;
use headrace::transforms::scan::{Carry, ScanNode};
use headrace::transforms::shard::{Equal, ShardNode};
use headrace::transforms::shuffle::ShuffleNode;
use headrace::transforms::skip::SkipNode;
use headrace::transforms::snapshot::SnapshotNode;
use headrace::transforms::take::TakeNode;
use headrace::transforms::take_while::TakeWhileNode;
use headrace::transforms::unique::UniqueNode;

/// A function of the element's first int64, as a graph and as foreign code.
pub struct Function {
    pub native: bool,
    pub calls: AtomicU64,
    graph: fn(
        &mut GraphBuilder,
        headrace::graph::graph::ValueId,
    ) -> Result<headrace::graph::graph::ValueId>,
    foreign: fn(i64) -> Result<Tensor>,
}

impl UserFunction for Function {
    fn name(&self) -> String {
        "function of the tests".into()
    }

    fn hash64(&self) -> u64 {
        1
    }

    fn prepare(&self, input: &ElementSpec) -> Result<Prepared> {
        let specs = input.specs().filter(|_| self.native);
        let Some([spec]) = specs else {
            return Ok(Prepared::Foreign {
                reason: "the test says so".into(),
                gives: ElementSpec::Unknown,
            });
        };
        let mut builder = GraphBuilder::new();
        let x = builder.input(spec.clone());
        let y = (self.graph)(&mut builder, x)?;
        let graph: Graph = builder.finish(Structure::Leaf, vec![y])?;
        Ok(Prepared::Graph(Arc::new(graph)))
    }

    fn call(&self, chunk: &Chunk, _: &Site) -> Called {
        let mut done = Vec::new();
        for row in 0..chunk.rows() {
            self.calls.fetch_add(1, SeqCst);
            let Ok(Value::Tensor(x)) = chunk.columns()[0].row(row) else { panic!("not dense") };
            match (self.foreign)(x.values::<i64>().unwrap()[0]) {
                Ok(tensor) => done.push(tensor),
                Err(error) => {
                    let done = (!done.is_empty()).then(|| collect(&done));
                    return Called { done, error: Some(error) };
                }
            }
        }
        Called::all(collect(&done))
    }
}

fn collect(tensors: &[Tensor]) -> Chunk {
    Chunk::of_column(Column::from_tensors(tensors).unwrap()).unwrap()
}

pub fn plus_one(native: bool) -> Arc<Function> {
    Arc::new(Function {
        native,
        calls: AtomicU64::new(0),
        graph: |builder, x| {
            let one = builder.constant(Tensor::scalar(1_i64)?);
            Ok(builder.add("add", Attrs::new(), &[x, one])?[0])
        },
        foreign: |x| Tensor::scalar(x + 1),
    })
}

pub fn identity_map() -> Arc<Function> {
    Arc::new(Function {
        native: false,
        calls: AtomicU64::new(0),
        graph: |_, x| Ok(x),
        foreign: Tensor::scalar,
    })
}

/// True for multiples of three.
pub fn thirds(native: bool) -> Arc<Function> {
    Arc::new(Function {
        native,
        calls: AtomicU64::new(0),
        graph: |builder, x| {
            let three = builder.constant(Tensor::scalar(3_i64)?);
            let zero = builder.constant(Tensor::scalar(0_i64)?);
            let rest = builder.add("remainder", Attrs::new(), &[x, three])?[0];
            Ok(builder.add("equal", Attrs::new(), &[rest, zero])?[0])
        },
        foreign: |x| {
            let buffer = headrace::data::Buffer::copy_from(&[u8::from(x % 3 == 0)])?;
            Tensor::fixed(DType::Bool, [][..].into(), buffer)
        },
    })
}

/// Fails on multiples of four plus one.
pub fn failing() -> Arc<Function> {
    Arc::new(Function {
        native: false,
        calls: AtomicU64::new(0),
        graph: |_, x| Ok(x),
        foreign: |x| match x % 4 {
            1 => Err(Error::invalid_argument(format!("no {x}"))),
            _ => Tensor::scalar(x),
        },
    })
}

/// A vector of x % 4 values.
pub fn lengths() -> Arc<Function> {
    Arc::new(Function {
        native: false,
        calls: AtomicU64::new(0),
        graph: |_, x| Ok(x),
        foreign: |x| {
            let values = vec![x; (x % 4) as usize];
            Tensor::from_values(&[values.len()], &values)
        },
    })
}

/// True below 13.
fn small(native: bool) -> Arc<Function> {
    Arc::new(Function {
        native,
        calls: AtomicU64::new(0),
        graph: |builder, x| {
            let limit = builder.constant(Tensor::scalar(13_i64)?);
            Ok(builder.add("less", Attrs::new(), &[x, limit])?[0])
        },
        foreign: |x| {
            let buffer = headrace::data::Buffer::copy_from(&[u8::from(x < 13)])?;
            Tensor::fixed(DType::Bool, [][..].into(), buffer)
        },
    })
}

/// x % 5.
fn residues() -> Arc<Function> {
    Arc::new(Function {
        native: true,
        calls: AtomicU64::new(0),
        graph: |builder, x| {
            let five = builder.constant(Tensor::scalar(5_i64)?);
            Ok(builder.add("remainder", Attrs::new(), &[x, five])?[0])
        },
        foreign: |x| Tensor::scalar(x % 5),
    })
}

/// The sum of state and element; as a pair, the state comes out as well.
struct Totals {
    native: bool,
    pair: bool,
}

impl UserFunction for Totals {
    fn name(&self) -> String {
        "totals".into()
    }

    fn hash64(&self) -> u64 {
        3
    }

    fn prepare(&self, input: &ElementSpec) -> Result<Prepared> {
        let Some([state, element]) = input.specs().filter(|_| self.native) else {
            return Ok(Prepared::Foreign {
                reason: "the test says so".into(),
                gives: ElementSpec::Unknown,
            });
        };
        let mut builder = GraphBuilder::new();
        let state = builder.input(state.clone());
        let element = builder.input(element.clone());
        let sum = builder.add("add", Attrs::new(), &[state, element])?[0];
        let (nest, outputs) = match self.pair {
            true => (Structure::Tuple(vec![Structure::Leaf; 2]), vec![sum, state]),
            false => (Structure::Leaf, vec![sum]),
        };
        Ok(Prepared::Graph(Arc::new(builder.finish(nest, outputs)?)))
    }

    fn call(&self, chunk: &Chunk, _: &Site) -> Called {
        let number = |column: &Column| match column.row(0).unwrap() {
            Value::Tensor(x) => x.values::<i64>().unwrap()[0],
            _ => panic!("not dense"),
        };
        assert_eq!(chunk.rows(), 1);
        let (state, x) = (number(&chunk.columns()[0]), number(&chunk.columns()[1]));
        let column = |x: i64| Column::Stacked(Tensor::from_values(&[1], &[x]).unwrap());
        let (nest, columns) = match self.pair {
            true => {
                let nest = Structure::Tuple(vec![Structure::Leaf; 2]);
                (nest, vec![column(state + x), column(state)])
            }
            false => (Structure::Leaf, vec![column(state + x)]),
        };
        Called::all(Chunk::new(1, Arc::new(nest), columns).unwrap())
    }
}

fn zero() -> Carry {
    let column = Column::Stacked(Tensor::from_values(&[1], &[0_i64]).unwrap());
    Carry::new(Structure::Leaf, vec![column]).unwrap()
}

fn scan(input: Plan, native: bool) -> Plan {
    ScanNode::plan(input, zero(), Arc::new(Totals { native, pair: true })).unwrap()
}

fn reduce(input: Plan, native: bool) -> Plan {
    ReduceNode::plan(input, zero(), Arc::new(Totals { native, pair: false })).unwrap()
}

fn take_while(input: Plan, native: bool) -> Plan {
    TakeWhileNode::plan(input, small(native)).unwrap()
}

fn unique(input: Plan) -> Plan {
    UniqueNode::plan(input).unwrap()
}

fn shard(input: Plan, shards: i64, index: i64, equal: Equal) -> Plan {
    ShardNode::plan(input, shards, index, equal).unwrap()
}

fn ignore_errors(input: Plan, limit: Option<u64>) -> Plan {
    IgnoreErrorsNode::plan(input, limit, None)
}

fn rebatch(input: Plan, sizes: &[i64], drop: bool) -> Plan {
    RebatchNode::plan(input, sizes, drop).unwrap()
}

/// Vectors of 0 to 3 values, known to be vectors.
fn vectors(n: i64) -> Plan {
    let spec = headrace::data::Spec::tensor(DType::Int64, [None]);
    let declared = Some(ElementSpec::leaf(spec));
    let serial = Parallel::Serial;
    MapNode::plan(range(n), lengths(), serial, None, declared).unwrap()
}

/// Makes datasets of the elements.
pub fn datasets(make: impl Fn(i64) -> Plan + Send + Sync + 'static) -> Arc<dyn UserFunction> {
    struct Datasets<F>(F);
    impl<F: Fn(i64) -> Plan + Send + Sync> UserFunction for Datasets<F> {
        fn name(&self) -> String {
            "datasets".into()
        }
        fn hash64(&self) -> u64 {
            3
        }
        fn prepare(&self, _: &ElementSpec) -> Result<Prepared> {
            Ok(Prepared::Foreign { reason: "the test says so".into(), gives: ElementSpec::Unknown })
        }
        fn call(&self, chunk: &Chunk, _: &Site) -> Called {
            let values = (0..chunk.rows()).map(|row| {
                let Ok(Value::Tensor(x)) = chunk.columns()[0].row(row) else { panic!("not dense") };
                dataset_value((self.0)(x.values::<i64>().unwrap()[0]))
            });
            Called::all(Chunk::of_column(Column::Foreign(values.collect())).unwrap())
        }
    }
    Arc::new(Datasets(make))
}

fn flat_map(input: Plan, make: impl Fn(i64) -> Plan + Send + Sync + 'static) -> Plan {
    FlatMapNode::plan(input, datasets(make)).unwrap()
}

fn window(
    input: Plan,
    size: i64,
    shift: Option<i64>,
    stride: i64,
    drop: bool,
    as_arrays: bool,
) -> Plan {
    WindowNode::plan(input, size, shift, stride, drop, as_arrays).unwrap()
}

/// Groups by the remainder of three, each handed on in reverse order of arrival of its halves.
fn group_by_window(input: Plan, size: i64) -> Plan {
    struct Halves;
    impl UserFunction for Halves {
        fn name(&self) -> String {
            "halves".into()
        }
        fn hash64(&self) -> u64 {
            4
        }
        fn prepare(&self, _: &ElementSpec) -> Result<Prepared> {
            Ok(Prepared::Foreign { reason: "the test says so".into(), gives: ElementSpec::Unknown })
        }
        fn call(&self, chunk: &Chunk, _: &Site) -> Called {
            let Ok(Value::Foreign(group)) = chunk.columns()[1].row(0) else { panic!("no group") };
            let group = plan_of(&group).unwrap();
            let halves = [SkipNode::plan(Arc::clone(&group), 1), TakeNode::plan(group, 1)];
            let [first, second] = halves;
            let both = ConcatenateNode::plan(first, second).unwrap();
            Called::all(Chunk::of_column(Column::Foreign([dataset_value(both)].into())).unwrap())
        }
    }
    let key = Arc::new(Function {
        native: false,
        calls: AtomicU64::new(0),
        graph: |_, x| Ok(x),
        foreign: |x| Tensor::scalar(x % 3),
    });
    let order = GroupOrder::Key;
    GroupByWindowNode::plan(input, key, Arc::new(Halves), WindowSize::Fixed(size), order).unwrap()
}

fn interleave(
    input: Plan,
    make: impl Fn(i64) -> Plan + Send + Sync + 'static,
    cycle: i64,
    block: i64,
    calls: Option<i64>,
) -> Plan {
    let parallel = Parallel::from_calls(calls).unwrap();
    let lengths = (Some(cycle), Some(block));
    InterleaveNode::plan(input, datasets(make), lengths.0, lengths.1, parallel, None).unwrap()
}

pub fn range(n: i64) -> Plan {
    RangeNode::plan(0, n, 1, DType::Int64).unwrap()
}

pub fn map(input: Plan, function: Arc<Function>, calls: Option<i64>) -> Plan {
    map_any(input, function, calls)
}

pub fn map_any(input: Plan, function: Arc<dyn UserFunction>, calls: Option<i64>) -> Plan {
    MapNode::plan(input, function, Parallel::from_calls(calls).unwrap(), None, None).unwrap()
}

pub fn shuffle(input: Plan, size: i64, seed: u64) -> Plan {
    let seeds = SeedGenerator::new(Some((87_654_321, seed)), true);
    ShuffleNode::plan(input, size, seeds).unwrap()
}

pub fn batch(input: Plan, size: i64, drop: bool) -> Plan {
    BatchNode::plan(input, size, drop, false).unwrap()
}

pub fn prefetch(input: Plan, size: i64) -> Plan {
    PrefetchNode::plan(input, size).unwrap()
}

fn zip(inputs: Vec<Plan>) -> Plan {
    let nest = Structure::Tuple(vec![Structure::Leaf; inputs.len()]);
    ZipNode::plan(nest, inputs).unwrap()
}

/// A mix of sources drawn by weight.
pub fn sample(weights: &[f64], sources: Vec<Plan>, stop: bool, again: bool) -> Plan {
    let seeds = SeedGenerator::new(Some((87_654_321, 5)), again);
    let logits = weights.iter().map(|weight| weight.ln()).collect();
    let choices = SelectorNode::plan(Weights::Logits(logits), seeds).unwrap();
    ChooseNode::plan("sample_from_datasets", choices, sources, stop).unwrap()
}

/// Numbers beside their class: odd or even.
fn classified(n: i64, native: bool) -> Plan {
    let function = Function {
        native,
        calls: AtomicU64::new(0),
        graph: |builder, x| {
            let two = builder.constant(Tensor::scalar(2_i64)?);
            Ok(builder.add("remainder", Attrs::new(), &[x, two])?[0])
        },
        foreign: |x| Tensor::scalar(x % 2),
    };
    let epochs = RepeatNode::plan(shuffle(range(n), 5, 2), 3);
    map_any(epochs, Arc::new(Classified(Arc::new(function))), None)
}

/// Classified numbers as their parts are put together by `rejection_resample`.
fn resample(n: i64, native: bool, known: bool) -> Plan {
    let seeds = SeedGenerator::new(Some((87_654_321, 5)), false);
    let all = classified(n, native);
    let target: Arc<[f32]> = [0.7, 0.3].into();
    let estimate = |yields| EstimateNode::plan(Arc::clone(&all), Arc::clone(&target), yields);
    let (weights, keep) = match Acceptance::of(&[0.4, 0.6], &target) {
        acceptance if known => {
            (Weights::Logits(acceptance.logits()), Keep::Always(acceptance.keep.into()))
        }
        _ => (Weights::Each(estimate(Estimate::Weights)), Keep::Each(estimate(Estimate::Keep))),
    };
    let choices = SelectorNode::plan(weights, seeds.alike()).unwrap();
    let kept = RejectNode::plan(Arc::clone(&all), keep, seeds);
    ChooseNode::plan("rejection_resample", choices, vec![all, kept], true).unwrap()
}

fn choose(choices: Plan, sources: Vec<Plan>, stop: bool) -> Plan {
    ChooseNode::plan("choose_from_datasets", choices, sources, stop).unwrap()
}

fn strings(n: usize) -> Plan {
    let values = (0..n).map(|i| "x".repeat(i % 5) + &i.to_string());
    let array = headrace::data::BytesArray::from_values(values).unwrap();
    let tensor = Tensor::text(DType::Bytes, [n][..].into(), array).unwrap();
    TensorsNode::slices(Structure::Leaf, vec![Column::Stacked(tensor)]).unwrap()
}

fn cache(input: Plan) -> Plan {
    CacheNode::plan(input, None)
}

/// A path in a folder that ends with the process.
fn path(name: &str) -> String {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap()).path();
    folder.join(name).to_str().unwrap().into()
}

/// A cache in a file that no other plan uses.
fn file_cache(input: Plan) -> Plan {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path(&format!("cache{}", COUNT.fetch_add(1, SeqCst)));
    CacheNode::plan(input, Some(name))
}

/// A file of this content.
fn file(name: &str, content: &str) -> String {
    static WRITING: Mutex<()> = Mutex::new(());
    let path = path(name);
    let _one = WRITING.lock();
    if !std::fs::exists(&path).unwrap() {
        std::fs::write(&path, content).unwrap();
    }
    path
}

/// Two files of lines and one that is missing between them.
fn text_lines() -> Plan {
    let lines: String = (0..20).map(|i| format!("{}{i}\r\n", "x".repeat(i * 7 % 40))).collect();
    let files = vec![file("a.txt", &lines), path("none.txt"), file("b.txt", "a\n\nlast")];
    TextLineNode::plan(files, Compression::None, Some(64))
}

fn fixed_length() -> Plan {
    let layout = Layout { header: 2, record: 3, footer: 1 };
    let (good, odd) = (file("a.bin", "hhabcdefghif"), file("odd.bin", "hhabcdf"));
    let files = vec![good.clone(), odd, good];
    FixedLengthNode::plan(files, layout, Compression::None, Some(4)).unwrap()
}

fn csv() -> Plan {
    let content = "h,h\n1,a\n2,\"b\nc\"\n,d\nx,e\n3\n4,\"\"\n5,f";
    let files = vec![file("a.csv", content), path("none.csv"), file("b.csv", "h\n7,z\r8,y\n")];
    let zero = Tensor::scalar(0_i64).unwrap();
    let columns = vec![
        CsvColumn { dtype: DType::Int64, default: Some(zero) },
        CsvColumn { dtype: DType::Str, default: None },
    ];
    let options = CsvOptions {
        compression: Compression::None,
        buffer_size: Some(5),
        header: true,
        syntax: Syntax { delimiter: b',', quotes: true },
        na_value: Vec::new(),
        select: Vec::new(),
        exclude: Vec::new(),
    };
    CsvNode::plan(files, columns, options).unwrap()
}

/// A dataset that was saved: with `shards`, in that many.
fn load(input: Plan, name: &str, shards: Option<fn(i64) -> Result<Tensor>>) -> Plan {
    static SAVING: Mutex<()> = Mutex::new(());
    let path = path(name);
    let _one = SAVING.lock();
    if !std::fs::exists(format!("{path}/snapshot.metadata")).unwrap() {
        let spec = input.spec().clone();
        let numbers = shards.map(|foreign| {
            let function =
                Function { native: false, calls: AtomicU64::new(0), graph: |_, x| Ok(x), foreign };
            map(range(23), Arc::new(function), None)
        });
        let sharded = numbers.is_some();
        let plan = match numbers {
            Some(numbers) => zip(vec![numbers, Arc::clone(&input)]),
            None => Arc::clone(&input),
        };
        let saved =
            save(&plan, RunOptions::default(), None, &path, Compression::None, sharded).unwrap();
        assert!(saved.spec.is_some_and(|seen| !sharded || seen == spec));
        std::fs::write(format!("{path}/snapshot.metadata"), saved.metadata).unwrap();
        return LoadNode::plan(&path, spec, None).unwrap();
    }
    LoadNode::plan(&path, input.spec().clone(), None).unwrap()
}

/// A snapshot in a folder that no other plan uses.
fn snapshot(input: Plan, compression: Compression) -> Plan {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let folder = path(&format!("snapshot{}", COUNT.fetch_add(1, SeqCst)));
    SnapshotNode::plan(input, folder, compression)
}

/// An object of the tests: numbers, of which some fail.
struct Numbers {
    len: u64,
    fails: bool,
    spec: ElementSpec,
}

impl IndexedSource for Numbers {
    fn name(&self) -> String {
        "numbers".into()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn fetch(&self, indices: &[u64]) -> Called {
        let good = |index: &&u64| !self.fails || **index % 4 != 1;
        let done: Vec<i64> = indices.iter().take_while(good).map(|n| *n as i64).collect();
        let failed = indices.get(done.len());
        let error = failed.map(|index| Error::invalid_argument(format!("no {index}")));
        let column = Column::Stacked(Tensor::from_values(&[done.len()], &done).unwrap());
        let chunk = Chunk::of_column(column).unwrap();
        Called { done: (!done.is_empty()).then_some(chunk), error }
    }
}

fn from_source(len: u64, fails: bool) -> Plan {
    let spec = ElementSpec::leaf(headrace::data::Spec::scalar(DType::Int64));
    FromSourceNode::plan(Arc::new(Numbers { len, fails, spec }))
}

fn global_shuffle(input: Plan, seed: u64) -> Plan {
    let seeds = SeedGenerator::new(Some((87_654_321, seed)), true);
    GlobalShuffleNode::plan(input, seeds).unwrap()
}

fn random(anew: bool) -> Plan {
    RandomNode::plan(SeedGenerator::new(Some((87_654_321, 4)), anew))
}

/// A name and a plan, made anew at each call so that its seeds start anew.
pub type Case = (&'static str, fn() -> Plan);

/// Plans of every op, alone and in the combinations that meet in practice.
pub const CASES: &[Case] = &[
    ("range", || range(23)),
    ("range down", || RangeNode::plan(10, -5, -3, DType::Float32).unwrap()),
    ("strings", || strings(19)),
    ("map native", || map(range(23), plus_one(true), None)),
    ("map native parallel", || map(range(57), plus_one(true), Some(3))),
    ("map foreign", || map(range(23), plus_one(false), None)),
    ("map foreign parallel", || map(range(23), plus_one(false), Some(4))),
    ("map failing", || map(range(23), failing(), None)),
    ("map failing parallel", || map(range(23), failing(), Some(4))),
    ("filter native", || FilterNode::plan(range(23), thirds(true)).unwrap()),
    ("filter foreign", || FilterNode::plan(range(23), thirds(false)).unwrap()),
    ("filter, failing below", || {
        FilterNode::plan(map(range(23), failing(), None), thirds(false)).unwrap()
    }),
    ("maps", || {
        map(map(map(range(57), plus_one(true), None), plus_one(true), None), failing(), None)
    }),
    ("maps in parallel", || map(map(range(57), plus_one(true), Some(3)), plus_one(true), Some(3))),
    ("maps of epochs", || {
        let epochs = RepeatNode::plan(shuffle(range(9), 5, 2), 3);
        map(map(epochs, plus_one(true), None), inverse(), None)
    }),
    ("maps in epochs", || {
        RepeatNode::plan(
            map(map(shuffle(range(9), 5, 2), inverse(), None), plus_one(true), None),
            3,
        )
    }),
    ("filter of maps", || {
        let epochs = RepeatNode::plan(shuffle(range(9), 5, 2), 3);
        let mapped = map(map(epochs, inverse(), None), plus_one(true), None);
        FilterNode::plan(mapped, thirds(true)).unwrap()
    }),
    ("filters", || {
        let filtered = FilterNode::plan(range(57), thirds(true)).unwrap();
        FilterNode::plan(map(filtered, inverse(), None), thirds(true)).unwrap()
    }),
    ("filters of filters", || {
        let filtered = FilterNode::plan(shuffle(range(57), 9, 1), thirds(true)).unwrap();
        batch(FilterNode::plan(filtered, thirds(true)).unwrap(), 2, false)
    }),
    ("filters of epochs", || {
        let epochs = RepeatNode::plan(shuffle(range(9), 5, 2), 3);
        let filtered = FilterNode::plan(epochs, thirds(true)).unwrap();
        FilterNode::plan(filtered, thirds(true)).unwrap()
    }),
    ("shuffle", || shuffle(range(23), 7, 3)),
    ("shuffle whole", || shuffle(range(23), -2, 3)),
    ("shuffle strings", || shuffle(strings(23), 5, 3)),
    ("shuffle over filter", || shuffle(FilterNode::plan(range(50), thirds(true)).unwrap(), 5, 3)),
    ("shuffle of failing", || shuffle(map(range(23), failing(), None), 5, 3)),
    ("shuffle of batches of failing", || {
        shuffle(batch(map(range(40), failing(), None), 3, false), 5, 3)
    }),
    ("enumerate failing", || EnumerateNode::plan(map(range(23), failing(), None), 0)),
    ("two shuffles", || shuffle(shuffle(range(23), 7, 3), 4, 9)),
    ("repeat", || RepeatNode::plan(range(5), 4)),
    ("repeat of shuffle", || RepeatNode::plan(shuffle(range(7), 4, 3), 4)),
    ("shuffle of repeat", || shuffle(RepeatNode::plan(range(7), 4), 5, 3)),
    ("repeat of mapped shuffle", || {
        RepeatNode::plan(map(shuffle(range(7), 4, 3), plus_one(true), Some(2)), 4)
    }),
    ("repeat of repeat", || RepeatNode::plan(RepeatNode::plan(shuffle(range(3), 2, 1), 2), 3)),
    ("repeat of failing", || RepeatNode::plan(map(range(6), failing(), None), 3)),
    ("take", || TakeNode::plan(range(23), 11)),
    ("take of failing", || TakeNode::plan(map(range(23), failing(), None), 11)),
    ("take of endless", || TakeNode::plan(RepeatNode::plan(shuffle(range(4), 3, 5), -1), 19)),
    ("take all", || TakeNode::plan(RepeatNode::plan(shuffle(range(9), 3, 1), 2), -1)),
    ("skip none", || SkipNode::plan(RepeatNode::plan(shuffle(range(9), 3, 1), 2), 0)),
    ("repeat once", || RepeatNode::plan(RepeatNode::plan(shuffle(range(9), 3, 1), 2), 1)),
    ("skip", || SkipNode::plan(range(23), 11)),
    ("skip all", || SkipNode::plan(range(5), 11)),
    ("batch", || batch(range(23), 4, false)),
    ("batch of 32", || batch(range(100), 32, false)),
    ("batch drop", || batch(range(23), 4, true)),
    ("batch of failing", || batch(map(range(23), failing(), None), 3, false)),
    ("batch of repeat", || batch(RepeatNode::plan(shuffle(range(7), 4, 3), 4), 3, false)),
    ("parallel batch of failing", || {
        BatchNode::plan(map(range(23), failing(), None), 3, false, true).unwrap()
    }),
    ("batch of batch", || batch(batch(range(23), 2, true), 3, false)),
    ("padded batch", || {
        let lengths = map(range(23), lengths(), None);
        let spec = headrace::data::Spec::tensor(DType::Int64, [None]);
        let declared = MapNode::plan(
            lengths,
            identity_map_of_anything(),
            Parallel::Serial,
            None,
            Some(ElementSpec::leaf(spec)),
        );
        PaddedBatchNode::plan(declared.unwrap(), 4, None, None, false).unwrap()
    }),
    ("unbatch", || UnbatchNode::plan(batch(range(23), 4, false)).unwrap()),
    ("unbatch of repeat", || {
        UnbatchNode::plan(RepeatNode::plan(batch(shuffle(range(9), 3, 1), 2, false), 3)).unwrap()
    }),
    ("prefetch", || prefetch(range(23), 3)),
    ("prefetch none", || prefetch(range(23), 0)),
    ("prefetch foreign", || prefetch(map(range(23), plus_one(false), None), 3)),
    ("prefetch failing", || prefetch(map(range(23), failing(), None), 3)),
    ("zip", || zip(vec![range(23), shuffle(range(9), 3, 1), strings(15)])),
    ("zip with foreign", || zip(vec![map(range(23), plus_one(false), None), range(30)])),
    ("zip of failing", || zip(vec![range(30), map(range(23), failing(), None)])),
    ("zip of repeats", || {
        let a = RepeatNode::plan(shuffle(range(3), 2, 1), 4);
        zip(vec![a, RepeatNode::plan(shuffle(range(4), 2, 2), 4)])
    }),
    ("zip of the same shuffled", || {
        let one = RepeatNode::plan(shuffle(range(4), 3, 1), 3);
        zip(vec![Arc::clone(&one), FilterNode::plan(one, thirds(true)).unwrap()])
    }),
    ("concatenate", || {
        ConcatenateNode::plan(shuffle(range(7), 3, 1), RepeatNode::plan(range(3), 3)).unwrap()
    }),
    ("choose", || choose(RepeatNode::plan(range(2), 9), vec![range(11), range(7)], true)),
    ("choose on", || choose(RepeatNode::plan(range(2), 9), vec![range(11), range(7)], false)),
    ("choose of failing", || {
        let choices = RepeatNode::plan(shuffle(range(3), 3, 1), 9);
        let sources = vec![map(range(9), failing(), None), shuffle(range(9), 4, 2)];
        choose(choices, sources, false)
    }),
    ("choose by foreign", || {
        let choices = map(RepeatNode::plan(range(2), 9), identity_map(), None);
        choose(choices, vec![range(11), RepeatNode::plan(shuffle(range(4), 3, 5), 2)], true)
    }),
    ("sample", || sample(&[0.3, 0.6, 0.1], vec![range(11), range(17), range(5)], false, false)),
    ("sample stopping", || sample(&[0.5, 0.5], vec![range(11), range(17)], true, true)),
    ("sample of repeats", || {
        let a = RepeatNode::plan(shuffle(range(4), 3, 5), 3);
        let b = RepeatNode::plan(map(range(3), plus_one(true), Some(2)), -1);
        TakeNode::plan(sample(&[0.4, 0.6], vec![a, b], false, true), 40)
    }),
    ("repeat of sample", || {
        RepeatNode::plan(
            sample(&[0.4, 0.6], vec![shuffle(range(5), 3, 5), range(4)], false, true),
            3,
        )
    }),
    ("sample by weights of each", || {
        let rows = [0.5_f32, 0.5, 1.0, 2.0, 3.0, 0.0];
        let rows = Column::Stacked(Tensor::from_values(&[3, 2], &rows).unwrap());
        let rows = TensorsNode::slices(Structure::Leaf, vec![rows]).unwrap();
        let weights = Weights::Each(RepeatNode::plan(rows, 5));
        let seeds = SeedGenerator::new(Some((87_654_321, 5)), true);
        choose(SelectorNode::plan(weights, seeds).unwrap(), vec![range(9), range(6)], false)
    }),
    ("resample", || resample(13, true, true)),
    ("resample foreign", || resample(13, false, true)),
    ("resample by estimates", || resample(13, true, false)),
    ("resample by estimates of foreign", || resample(13, false, false)),
    ("enumerate", || EnumerateNode::plan(RepeatNode::plan(shuffle(range(5), 3, 1), 3), 7)),
    ("text lines", text_lines),
    ("text lines shuffled", || RepeatNode::plan(shuffle(text_lines(), 5, 3), 2)),
    ("text lines in batches", || batch(text_lines(), 3, false)),
    ("fixed length", fixed_length),
    ("fixed length in epochs", || RepeatNode::plan(fixed_length(), 3)),
    ("fixed length taken", || TakeNode::plan(fixed_length(), 2)),
    ("csv", csv),
    ("csv in epochs", || RepeatNode::plan(csv(), 2)),
    ("csv ahead", || prefetch(shuffle(csv(), 3, 1), 2)),
    ("random", || TakeNode::plan(random(false), 23)),
    ("random in epochs", || RepeatNode::plan(TakeNode::plan(random(true), 5), 4)),
    ("random zipped", || zip(vec![random(true), range(9)])),
    ("from source", || from_source(23, false)),
    ("from source, failing", || from_source(23, true)),
    ("from source in epochs", || RepeatNode::plan(shuffle(from_source(9, true), 4, 1), 3)),
    ("global shuffle", || global_shuffle(range(23), 3)),
    ("global shuffle of strings", || RepeatNode::plan(global_shuffle(strings(9), 3), 3)),
    ("global shuffle of a source", || batch(global_shuffle(from_source(23, false), 3), 4, false)),
    ("global shuffle of failing", || global_shuffle(from_source(23, true), 3)),
    ("global shuffle of maps", || {
        global_shuffle(zip(vec![map(range(23), plus_one(true), Some(2)), strings(23)]), 3)
    }),
    ("global shuffle of failing maps", || {
        RepeatNode::plan(global_shuffle(map(range(9), failing(), None), 3), 2)
    }),
    ("load", || load(strings(23), "saved strings", None)),
    ("load of shards", || load(range(23), "saved shards", Some(|x| Tensor::scalar(x % 3)))),
    ("load in epochs", || {
        RepeatNode::plan(shuffle(load(range(23), "saved numbers", None), 5, 3), 2)
    }),
    ("snapshot", || snapshot(range(23), Compression::None)),
    ("snapshot of shuffled epochs", || {
        RepeatNode::plan(snapshot(shuffle(strings(9), 4, 3), Compression::Zlib), 3)
    }),
    ("snapshot in batches", || {
        batch(RepeatNode::plan(snapshot(shuffle(range(9), 4, 3), Compression::None), 2), 4, false)
    }),
    ("cache", || cache(range(23))),
    ("cache of shuffled epochs", || RepeatNode::plan(cache(shuffle(strings(9), 4, 3)), 3)),
    ("cache below a map", || {
        RepeatNode::plan(map(cache(shuffle(range(9), 4, 3)), plus_one(false), None), 3)
    }),
    ("cache of failing", || RepeatNode::plan(cache(map(range(9), failing(), None)), 3)),
    ("cache in a shuffle", || RepeatNode::plan(shuffle(cache(shuffle(range(9), 4, 2)), 5, 3), 3)),
    ("cache of epochs", || cache(RepeatNode::plan(shuffle(range(5), 4, 2), 3))),
    ("cache left early", || RepeatNode::plan(TakeNode::plan(cache(shuffle(range(9), 9, 2)), 4), 3)),
    ("cache of cache", || {
        let inner = RepeatNode::plan(cache(shuffle(range(4), 4, 1)), 2);
        batch(RepeatNode::plan(prefetch(cache(inner), 1), 3), 3, false)
    }),
    ("cache skipped into", || {
        RepeatNode::plan(SkipNode::plan(cache(shuffle(range(9), 9, 2)), 4), 3)
    }),
    ("cache of a file", || RepeatNode::plan(file_cache(shuffle(range(9), 4, 2)), 3)),
    ("cache of a file of failing", || {
        RepeatNode::plan(file_cache(map(range(9), failing(), None)), 3)
    }),
    ("take while", || take_while(range(23), true)),
    ("take while foreign", || take_while(range(23), false)),
    ("take while all", || take_while(range(9), true)),
    ("take while of failing", || take_while(map(range(23), failing(), None), false)),
    ("take while of repeat", || take_while(RepeatNode::plan(shuffle(range(14), 3, 1), 3), true)),
    ("repeat of take while", || RepeatNode::plan(take_while(shuffle(range(17), 3, 1), true), 3)),
    ("scan", || scan(range(23), true)),
    ("scan foreign", || scan(range(23), false)),
    ("scan of failing", || scan(map(range(23), failing(), None), false)),
    ("scan of repeat", || scan(RepeatNode::plan(shuffle(range(7), 4, 3), 4), true)),
    ("shuffle of scan of repeat", || {
        shuffle(scan(RepeatNode::plan(shuffle(range(7), 4, 3), 4), false), 3, 8)
    }),
    ("reduce", || reduce(range(23), true)),
    ("reduce foreign", || reduce(map(range(23), plus_one(false), None), false)),
    ("reduce of failing", || reduce(map(range(23), failing(), None), true)),
    ("unique", || unique(map(range(23), residues(), None))),
    ("unique strings", || unique(RepeatNode::plan(strings(7), 3))),
    ("unique of repeat", || unique(RepeatNode::plan(shuffle(range(7), 4, 3), 3))),
    ("repeat of unique", || RepeatNode::plan(unique(map(range(9), residues(), None)), 3)),
    ("shard", || shard(range(23), 3, 1, Equal::No)),
    ("shard in whole rounds", || shard(range(24), 4, 3, Equal::No)),
    ("shard of few", || shard(range(2), 5, 3, Equal::No)),
    ("shard of failing", || shard(map(range(23), failing(), None), 2, 1, Equal::No)),
    ("shard of repeat", || shard(RepeatNode::plan(shuffle(range(7), 4, 3), 4), 3, 2, Equal::No)),
    ("shard of foreign", || shard(map(range(23), plus_one(false), None), 3, 0, Equal::Drop)),
    ("shard drop", || shard(range(23), 3, 0, Equal::Drop)),
    ("shard drop of repeat", || {
        shard(RepeatNode::plan(shuffle(range(7), 4, 3), 4), 5, 1, Equal::Drop)
    }),
    ("shard wrap", || shard(range(23), 5, 4, Equal::Wrap)),
    ("shard wrap of few", || shard(range(2), 5, 4, Equal::Wrap)),
    ("shard wrap of repeat", || {
        shard(RepeatNode::plan(shuffle(range(7), 4, 3), 3), 4, 2, Equal::Wrap)
    }),
    ("ignore errors", || ignore_errors(map(range(23), failing(), None), None)),
    ("ignore three errors", || ignore_errors(map(range(23), failing(), Some(2)), Some(3))),
    ("ignore errors of repeat", || {
        ignore_errors(RepeatNode::plan(map(shuffle(range(7), 4, 3), failing(), None), 4), None)
    }),
    ("ignore errors of take of failing", || {
        ignore_errors(TakeNode::plan(map(range(23), failing(), None), 11), None)
    }),
    ("batch of ignored errors", || {
        batch(ignore_errors(map(range(23), failing(), None), None), 4, false)
    }),
    ("ragged batch", || RaggedBatchNode::plan(vectors(23), 4, false, DType::Int64).unwrap()),
    ("ragged batch drop", || RaggedBatchNode::plan(vectors(23), 4, true, DType::Int32).unwrap()),
    ("ragged batch unknown", || {
        RaggedBatchNode::plan(map(range(23), lengths(), None), 3, false, DType::Int64).unwrap()
    }),
    ("ragged batch of ragged batch", || {
        let rows = RaggedBatchNode::plan(vectors(23), 2, false, DType::Int64).unwrap();
        RaggedBatchNode::plan(rows, 3, false, DType::Int64).unwrap()
    }),
    ("sparse batch", || {
        SparseBatchNode::plan(vectors(23), 4, PartialShape::new([Some(5)])).unwrap()
    }),
    ("sparse batch of any length", || {
        SparseBatchNode::plan(vectors(23), 4, PartialShape::new([None])).unwrap()
    }),
    ("sparse batch too small", || {
        SparseBatchNode::plan(vectors(23), 2, PartialShape::new([Some(2)])).unwrap()
    }),
    ("rebatch", || rebatch(batch(range(23), 5, false), &[4], false)),
    ("rebatch drop", || rebatch(batch(range(23), 5, false), &[4], true)),
    ("rebatch in turn", || rebatch(batch(range(23), 4, false), &[2, 0, 5], false)),
    ("rebatch of repeat", || {
        rebatch(RepeatNode::plan(batch(shuffle(range(9), 3, 1), 3, false), 4), &[2, 1], false)
    }),
    ("rebatch of ragged", || {
        let rows = RaggedBatchNode::plan(vectors(23), 3, false, DType::Int64).unwrap();
        rebatch(rows, &[4], false)
    }),
    ("rebatch of failing", || {
        rebatch(batch(map(range(23), failing(), None), 1, false), &[4], false)
    }),
    ("counter", || TakeNode::plan(CounterNode::plan(Steps::Int(7, -2), DType::Int32).unwrap(), 23)),
    ("counter of floats", || {
        TakeNode::plan(CounterNode::plan(Steps::Float(0.5, 0.1), DType::Float32).unwrap(), 23)
    }),
    ("counter far away", || {
        let counter = CounterNode::plan(Steps::Float(0.5, 0.1), DType::Float32).unwrap();
        TakeNode::plan(SkipNode::plan(counter, 10_000), 9)
    }),
    ("assert cardinality", || AssertCardinalityNode::plan(range(23), 23).unwrap()),
    ("assert more", || AssertCardinalityNode::plan(range(9), 12).unwrap()),
    ("assert fewer", || AssertCardinalityNode::plan(range(9), 7).unwrap()),
    ("assert cardinality of repeat", || {
        AssertCardinalityNode::plan(RepeatNode::plan(shuffle(range(7), 4, 3), 3), 21).unwrap()
    }),
    ("flat_map", || flat_map(range(8), |x| range(x % 4))),
    ("flat_map of a failing input", || flat_map(map(range(8), failing(), None), range)),
    ("flat_map of failing datasets", || flat_map(range(8), |x| map(range(x), failing(), None))),
    ("flat_map of captured shuffles", || {
        let inner = RepeatNode::plan(shuffle(range(5), 3, 1), 2);
        flat_map(range(4), move |x| TakeNode::plan(Arc::clone(&inner), x + 3))
    }),
    ("flat_map of new shuffles", || {
        flat_map(range(4), |x| {
            let seeds = SeedGenerator::new(Some((1, 2)), true).made_in_call(true);
            RepeatNode::plan(ShuffleNode::plan(range(x + 2), 3, seeds).unwrap(), 2)
        })
    }),
    ("repeat of flat_map of captured shuffles", || {
        let inner = shuffle(range(5), 3, 1);
        let input = shuffle(range(3), 3, 4);
        RepeatNode::plan(flat_map(input, move |_| Arc::clone(&inner)), 2)
    }),
    ("flat_map in flat_map", || {
        let inner = shuffle(range(5), 3, 1);
        flat_map(range(3), move |x| {
            let inner = Arc::clone(&inner);
            flat_map(range(x + 1), move |y| TakeNode::plan(Arc::clone(&inner), x + y))
        })
    }),
    ("window of arrays", || window(range(23), 4, None, 1, false, true)),
    ("window of arrays, overlapping", || {
        window(shuffle(range(23), 5, 1), 4, Some(1), 2, true, true)
    }),
    ("window of arrays, with gaps", || window(range(23), 2, Some(5), 1, false, true)),
    ("window of failing", || window(map(range(23), failing(), None), 3, Some(2), 1, false, true)),
    ("window of datasets", || {
        let windows = window(range(23), 4, Some(3), 1, false, false);
        FlatMapNode::plan(windows, identity_map_of_anything()).unwrap()
    }),
    ("group_by_window", || group_by_window(range(23), 4)),
    ("group_by_window of failing", || group_by_window(map(range(23), failing(), None), 3)),
    ("repeat of group_by_window of a shuffle", || {
        RepeatNode::plan(group_by_window(shuffle(range(11), 4, 2), 2), 3)
    }),
    ("interleave", || interleave(range(9), |x| range(x % 4), 3, 1, None)),
    ("interleave in blocks", || interleave(range(9), range, 2, 3, None)),
    ("interleave in parallel", || interleave(range(9), range, 3, 2, Some(2))),
    ("interleave of failing", || {
        interleave(map(range(9), failing(), None), |x| map(range(x), failing(), None), 3, 2, None)
    }),
    ("interleave of failing in parallel", || {
        let input = map(range(9), failing(), None);
        interleave(input, |x| map(range(x), failing(), None), 3, 2, Some(-1))
    }),
    ("interleave of captured shuffles", || {
        let inner = shuffle(range(5), 3, 1);
        RepeatNode::plan(interleave(range(4), move |_| Arc::clone(&inner), 2, 2, Some(2)), 2)
    }),
    ("shuffle of flat_map", || shuffle(flat_map(range(8), range), 5, 3)),
    ("the main job", || {
        let epochs = RepeatNode::plan(shuffle(strings(23), 10, 7), 3);
        prefetch(batch(EnumerateNode::plan(epochs, 0), 5, false), 2)
    }),
    ("repeat outermost", || {
        RepeatNode::plan(
            prefetch(batch(map(shuffle(range(11), 4, 2), plus_one(true), Some(2)), 3, false), 2),
            3,
        )
    }),
    ("skip in repeat", || RepeatNode::plan(SkipNode::plan(shuffle(range(9), 4, 2), 3), 3)),
    ("take in repeat", || RepeatNode::plan(TakeNode::plan(shuffle(range(9), 4, 2), 3), 3)),
];

/// 100 divided by the number less four.
pub fn inverse() -> Arc<Function> {
    Arc::new(Function {
        native: true,
        calls: AtomicU64::new(0),
        graph: |builder, x| {
            let four = builder.constant(Tensor::scalar(4_i64)?);
            let hundred = builder.constant(Tensor::scalar(100_i64)?);
            let less = builder.add("subtract", Attrs::new(), &[x, four])?[0];
            Ok(builder.add("floor_divide", Attrs::new(), &[hundred, less])?[0])
        },
        foreign: |x| {
            Tensor::scalar(if x == 4 { 0 } else { (100.0 / (x - 4) as f64).floor() as i64 })
        },
    })
}

/// Hands elements of any type on, as foreign code.
pub fn identity_map_of_anything() -> Arc<dyn UserFunction> {
    struct Identity;
    impl UserFunction for Identity {
        fn name(&self) -> String {
            "identity".into()
        }
        fn hash64(&self) -> u64 {
            2
        }
        fn prepare(&self, _: &ElementSpec) -> Result<Prepared> {
            Ok(Prepared::Foreign { reason: "the test says so".into(), gives: ElementSpec::Unknown })
        }
        fn call(&self, chunk: &Chunk, _: &Site) -> Called {
            Called::all(chunk.clone())
        }
    }
    Arc::new(Identity)
}

pub fn options(chunk_rows: usize) -> RunOptions {
    RunOptions { chunk_rows, ..RunOptions::default() }
}

/// An element or an error, as text.
pub type Outcome = String;

fn tensor_text(tensor: &Tensor) -> String {
    match tensor.data() {
        Data::Fixed(bytes) => format!("{}{:?}{:?}", tensor.dtype(), tensor.dims(), &bytes[..]),
        Data::Text(values) => format!("{:?}{:?}", tensor.dims(), values.iter().collect::<Vec<_>>()),
    }
}

pub fn row_text(chunk: &Chunk, row: usize) -> Outcome {
    let columns = chunk.columns().iter().map(|column| match column.row(row).unwrap() {
        Value::Tensor(tensor) => tensor_text(&tensor),
        Value::Sparse { indices, values, dense_shape } => {
            [indices, values, dense_shape].iter().map(tensor_text).collect()
        }
        Value::Ragged { values, splits } => {
            tensor_text(&values) + &splits.iter().map(tensor_text).collect::<String>()
        }
        Value::Foreign(_) => "foreign".into(),
    });
    format!("{} {}", chunk.structure(), columns.collect::<Vec<_>>().join(" | "))
}

/// Reads outcomes one at a time, with the state between any two.
pub struct Reader {
    pub run: Run,
    chunk: Option<(Chunk, usize)>,
}

impl Reader {
    pub fn open(plan: &Plan, options: RunOptions, state: Option<&State>) -> Self {
        Reader { run: Run::open(plan, options, state).unwrap(), chunk: None }
    }

    pub fn next(&mut self) -> Option<Outcome> {
        if self.chunk.is_none() {
            match self.run.next_chunk() {
                Ok(Some(chunk)) => self.chunk = Some((chunk, 0)),
                Ok(None) => return None,
                Err(error) => return Some(format!("error: {}", error.message())),
            }
        }
        let (chunk, row) = self.chunk.take()?;
        let text = row_text(&chunk, row);
        self.chunk = (row + 1 < chunk.rows()).then_some((chunk, row + 1));
        Some(text)
    }

    pub fn state(&self) -> State {
        let unread = self.chunk.as_ref().map_or(0, |(chunk, row)| chunk.rows() - row);
        let state = self.run.state(unread).unwrap();
        State::from_json(&state.to_json().unwrap()).unwrap()
    }
}

impl Iterator for Reader {
    type Item = Outcome;

    fn next(&mut self) -> Option<Outcome> {
        Reader::next(self)
    }
}

pub fn read(plan: &Plan, options: RunOptions) -> Vec<Outcome> {
    Reader::open(plan, options, None).collect()
}
