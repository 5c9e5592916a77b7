//! Plans of every op, for the laws.

use super::*;

/// A name and a plan, made anew at each call so that its seeds start anew.
pub type Case = (&'static str, fn() -> Plan);

/// Plans of every op, alone and in the combinations that meet in practice.
pub const CASES: &[Case] = &[
    ("range", || range(23)),
    ("range down", || RangeNode::plan(10, -5, -3, DType::Float32).unwrap()),
    ("range of floats", || RangeNode::plan(0, 9, 2, DType::Float16).unwrap()),
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
    ("enumerate of epochs from below", || {
        EnumerateNode::plan(RepeatNode::plan(shuffle(range(4), 3, 2), 3), -5)
    }),
    ("two shuffles", || shuffle(shuffle(range(23), 7, 3), 4, 9)),
    ("repeat", || RepeatNode::plan(range(5), 4)),
    ("repeat of shuffle", || RepeatNode::plan(shuffle(range(7), 4, 3), 4)),
    ("repeat of shuffle of little", || {
        TakeNode::plan(RepeatNode::plan(shuffle(range(3), 7, 3), -1), 25)
    }),
    ("repeat of whole shuffle", || RepeatNode::plan(shuffle(range(7), -2, 3), 3)),
    ("repeat of shuffle of nothing", || RepeatNode::plan(shuffle(range(0), 7, 3), -1)),
    ("repeat of shuffle of filtered", || {
        let filtered = FilterNode::plan(range(50), thirds(true)).unwrap();
        batch(RepeatNode::plan(shuffle(filtered, 5, 3), 3), 4, false)
    }),
    ("repeat of shuffle of files", || RepeatNode::plan(shuffle(text_lines(), 4, 3), 3)),
    ("repeat of shuffle of files with faults", || RepeatNode::plan(shuffle(csv(), 3, 3), 4)),
    ("repeat of shuffle of maps in parallel", || {
        RepeatNode::plan(shuffle(map(range(30), plus_one(true), Some(3)), 8, 3), 3)
    }),
    ("repeat of the same shuffled, in a zip", || {
        let one = RepeatNode::plan(shuffle(range(6), 3, 1), 3);
        zip(vec![Arc::clone(&one), one])
    }),
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
        BatchNode::plan(map(range(23), failing(), None), 3, false, Parallel::Calls(2), None)
            .unwrap()
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
    ("padded batch of equal lengths", || {
        PaddedBatchNode::plan(batch(range(24), 4, true), 4, None, None, false).unwrap()
    }),
    ("padded batch of repeat", || {
        let rows = RepeatNode::plan(batch(shuffle(range(8), 3, 1), 2, true), 3);
        let shapes = Some(vec![PartialShape::new([Some(5)])]);
        PaddedBatchNode::plan(rows, 5, shapes, None, true).unwrap()
    }),
    ("unbatch of failing", || {
        UnbatchNode::plan(batch(map(range(23), failing(), None), 3, false)).unwrap()
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
    ("concatenate of failing", || {
        ConcatenateNode::plan(map(range(9), failing(), None), range(4)).unwrap()
    }),
    ("repeat of concatenate", || {
        let both = ConcatenateNode::plan(shuffle(range(5), 3, 1), shuffle(range(4), 2, 2));
        RepeatNode::plan(both.unwrap(), 3)
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
    ("cache of captured shuffles", || {
        let inner = shuffle(range(4), 3, 7);
        RepeatNode::plan(cache(flat_map(range(3), move |_| Arc::clone(&inner))), 3)
    }),
    ("cache of captured shuffles in epochs", || {
        let inner = shuffle(range(4), 3, 7);
        let opened = flat_map(range(2), move |_| Arc::clone(&inner));
        shuffle(RepeatNode::plan(cache(RepeatNode::plan(opened, 2)), 3), 2, 5)
    }),
    ("cache of interleaved captured shuffles", || {
        let inner = RepeatNode::plan(shuffle(range(3), 3, 7), 2);
        let opened = interleave(range(3), move |_| Arc::clone(&inner), 2, 1, None);
        RepeatNode::plan(cache(opened), 3)
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
    ("ragged batch in parallel", || {
        let plan = RaggedBatchNode::plan(vectors(23), 4, false, DType::Int64).unwrap();
        RaggedBatchNode::in_parallel(&plan, Parallel::Calls(3), None).unwrap()
    }),
    ("padded batch in parallel", || {
        let rows = RepeatNode::plan(vectors(11), 3);
        let plan = PaddedBatchNode::plan(rows, 4, None, None, false).unwrap();
        PaddedBatchNode::in_parallel(&plan, Parallel::Autotune, None).unwrap()
    }),
    ("batch of rows in parallel", || {
        let rows = ConcatenateNode::plan(vectors(2), vectors(12)).unwrap();
        BatchNode::plan(rows, 2, false, Parallel::Calls(2), None).unwrap()
    }),
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
