//! Plans of one op, with most arguments settled.

use super::*;

pub fn scan(input: Plan, native: bool) -> Plan {
    ScanNode::plan(input, zero(), Arc::new(Totals { native, pair: true })).unwrap()
}

pub fn reduce(input: Plan, native: bool) -> Plan {
    ReduceNode::plan(input, zero(), Arc::new(Totals { native, pair: false })).unwrap()
}

pub fn take_while(input: Plan, native: bool) -> Plan {
    TakeWhileNode::plan(input, small(native)).unwrap()
}

pub fn unique(input: Plan) -> Plan {
    UniqueNode::plan(input).unwrap()
}

pub fn shard(input: Plan, shards: i64, index: i64, equal: Equal) -> Plan {
    ShardNode::plan(input, shards, index, equal).unwrap()
}

pub fn ignore_errors(input: Plan, limit: Option<u64>) -> Plan {
    IgnoreErrorsNode::plan(input, limit, None)
}

pub fn rebatch(input: Plan, sizes: &[i64], drop: bool) -> Plan {
    RebatchNode::plan(input, sizes, drop).unwrap()
}

/// Vectors of 0 to 3 values, known to be vectors.
pub fn vectors(n: i64) -> Plan {
    let spec = headrace::data::Spec::tensor(DType::Int64, [None]);
    let declared = Some(ElementSpec::leaf(spec));
    let serial = Parallel::Serial;
    MapNode::plan(range(n), lengths(), serial, None, declared).unwrap()
}

pub fn flat_map(input: Plan, make: impl Fn(i64) -> Plan + Send + Sync + 'static) -> Plan {
    FlatMapNode::plan(input, datasets(make)).unwrap()
}

pub fn window(
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
pub fn group_by_window(input: Plan, size: i64) -> Plan {
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

pub fn interleave(
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
    BatchNode::plan(input, size, drop, Parallel::Serial, None).unwrap()
}

pub fn prefetch(input: Plan, size: i64) -> Plan {
    PrefetchNode::plan(input, size).unwrap()
}

pub fn zip(inputs: Vec<Plan>) -> Plan {
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
pub fn classified(n: i64, native: bool) -> Plan {
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
pub fn resample(n: i64, native: bool, known: bool) -> Plan {
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

pub fn choose(choices: Plan, sources: Vec<Plan>, stop: bool) -> Plan {
    ChooseNode::plan("choose_from_datasets", choices, sources, stop).unwrap()
}

pub fn strings(n: usize) -> Plan {
    let values = (0..n).map(|i| "x".repeat(i % 5) + &i.to_string());
    let array = headrace::data::BytesArray::from_values(values).unwrap();
    let tensor = Tensor::text(DType::Bytes, [n][..].into(), array).unwrap();
    TensorsNode::slices(Structure::Leaf, vec![Column::Stacked(tensor)]).unwrap()
}

pub fn cache(input: Plan) -> Plan {
    CacheNode::plan(input, None)
}

/// A path in a folder that ends with the process.
pub fn path(name: &str) -> String {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().unwrap()).path();
    folder.join(name).to_str().unwrap().into()
}

/// A cache in a file that no other plan uses.
pub fn file_cache(input: Plan) -> Plan {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path(&format!("cache{}", COUNT.fetch_add(1, SeqCst)));
    CacheNode::plan(input, Some(name))
}

/// A file of this content.
pub fn file(name: &str, content: &str) -> String {
    static WRITING: Mutex<()> = Mutex::new(());
    let path = path(name);
    let _one = WRITING.lock();
    if !std::fs::exists(&path).unwrap() {
        std::fs::write(&path, content).unwrap();
    }
    path
}

/// Two files of lines and one that is missing between them.
pub fn text_lines() -> Plan {
    let lines: String = (0..20).map(|i| format!("{}{i}\r\n", "x".repeat(i * 7 % 40))).collect();
    let files = vec![file("a.txt", &lines), path("none.txt"), file("b.txt", "a\n\nlast")];
    TextLineNode::plan(files, Compression::None, Some(64))
}

pub fn fixed_length() -> Plan {
    let layout = Layout { header: 2, record: 3, footer: 1 };
    let (good, odd) = (file("a.bin", "hhabcdefghif"), file("odd.bin", "hhabcdf"));
    let files = vec![good.clone(), odd, good];
    FixedLengthNode::plan(files, layout, Compression::None, Some(4)).unwrap()
}

pub fn csv() -> Plan {
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
pub fn load(input: Plan, name: &str, shards: Option<fn(i64) -> Result<Tensor>>) -> Plan {
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
        let target = Target { path: &path, compression: Compression::None, sharded };
        let saved = save(&plan, RunOptions::default(), None, &target, None, &|_| ()).unwrap();
        assert!(saved.spec.is_some_and(|seen| !sharded || seen == spec));
        std::fs::write(format!("{path}/snapshot.metadata"), saved.metadata).unwrap();
        return LoadNode::plan(&path, spec, None).unwrap();
    }
    LoadNode::plan(&path, input.spec().clone(), None).unwrap()
}

/// A snapshot in a folder that no other plan uses.
pub fn snapshot(input: Plan, compression: Compression) -> Plan {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let folder = path(&format!("snapshot{}", COUNT.fetch_add(1, SeqCst)));
    SnapshotNode::plan(input, folder, compression)
}

/// An object of the tests: numbers, of which some fail.
pub struct Numbers {
    pub len: u64,
    pub fails: bool,
    pub spec: ElementSpec,
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

pub fn from_source(len: u64, fails: bool) -> Plan {
    let spec = ElementSpec::leaf(headrace::data::Spec::scalar(DType::Int64));
    FromSourceNode::plan(Arc::new(Numbers { len, fails, spec }))
}

pub fn global_shuffle(input: Plan, seed: u64) -> Plan {
    let seeds = SeedGenerator::new(Some((87_654_321, seed)), true);
    GlobalShuffleNode::plan(input, seeds).unwrap()
}

pub fn random(anew: bool) -> Plan {
    RandomNode::plan(SeedGenerator::new(Some((87_654_321, 4)), anew))
}
