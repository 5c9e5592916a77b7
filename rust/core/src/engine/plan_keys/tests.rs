use super::*;

fn text(keys: &PlanKeys) -> String {
    serde_json::to_string(keys).unwrap()
}

/// The keys as text gives them back.
fn again(keys: &PlanKeys) -> PlanKeys {
    let read: PlanKeys = serde_json::from_str(&text(keys)).unwrap();
    assert_eq!(&read, keys);
    assert_eq!(text(&read), text(keys));
    read
}

/// Keys of `sources` stages, of as many sources, each with arguments of its own.
fn mix(sources: usize, arguments: usize, hash: impl Fn(usize, usize) -> u64) -> PlanKeys {
    let mut stages = Stages::default();
    for source in 0..sources {
        let args = (0..arguments).map(|i| (format!("argument {i:02}").into(), hash(source, i)));
        stages.push("source".into(), args.collect());
    }
    stages.columns().for_each(Column::fold);
    stages.fit(sources);
    PlanKeys(Arc::new(stages))
}

/// A hash of two numbers that looks like none other.
fn scattered(source: usize, argument: usize) -> u64 {
    let mut hash = Fnv::default();
    hash.number(source as u64);
    hash.number(argument as u64);
    hash.finish()
}

#[test]
fn few_stages_are_a_list_to_be_read() {
    let mut stages = Stages::default();
    for (name, count) in [("take", 5), ("skip", 2), ("take", 6)] {
        stages.push(name.into(), vec![("count".into(), count)]);
    }
    let keys = again(&PlanKeys(Arc::new(stages)));
    let names: Vec<_> = keys.iter().map(Key::name).collect();
    assert_eq!(names, ["take", "skip", "take"]);
    let start = r#"[["take",{"count":"0000000000000005"}],["skip",{"#;
    assert!(text(&keys).starts_with(start), "{}", text(&keys));
    assert!(keys.iter().last().unwrap().has("count", 6));
}

#[test]
fn what_all_sources_have_stands_once() {
    let keys = again(&mix(1000, 3, |source, i| if i == 1 { source as u64 } else { 7 }));
    assert!(text(&keys).len() < 1000 * (16 + 2) + 200);
    assert!(keys.iter().enumerate().all(|(i, key)| key.has("argument 01", i as u64)));
}

#[test]
fn arguments_of_many_sources_are_cut_to_what_each_may_take() {
    for arguments in [2, 4, 10, 40] {
        let keys = again(&mix(1000, arguments, scattered));
        let digits = keys.0.kinds[0].args[0].digits;
        assert!(digits * arguments * 4 <= SOURCE_BITS || digits == SHORTEST, "{digits}");
        assert_eq!(keys.0.whole.is_some(), arguments > 3);
        let other = mix(1000, arguments, |source, i| {
            scattered(source, i) ^ u64::from((source, i) == (900, 1))
        });
        let differing = keys.iter().zip(other.iter()).find_map(|(a, b)| a.difference(b));
        assert_eq!(differing, Some("argument 01"));
        // What is cut off is in the hash of all.
        assert_eq!(keys.is_cut_from_same(&other), arguments <= 3);
        assert_ne!(keys, other);
    }
}

#[test]
fn a_kind_of_few_stages_is_never_cut() {
    let mut stages = Stages::default();
    for stage in 0..3 {
        stages.push("few".into(), vec![("a".into(), scattered(stage, 1))]);
    }
    for source in 0..100 {
        let args = (0..9).map(|i| (format!("{i}").into(), scattered(source, i)));
        stages.push("many".into(), args.collect());
    }
    stages.columns().for_each(Column::fold);
    stages.fit(100);
    let keys = again(&PlanKeys(Arc::new(stages)));
    assert!(keys.0.whole.is_some());
    assert!(keys.iter().take(3).enumerate().all(|(i, key)| key.has("a", scattered(i, 1))));
}

#[test]
fn what_are_no_keys_is_refused() {
    for wrong in [
        r#"[["a",{"b":"12"}]]"#,
        r#"[["a",{"b":"+123456789abcdef"}]]"#,
        r#"{"kinds":[["a",[["b","0123456789abcdeg"]]]],"order":[0]}"#,
        r#"{"kinds":[["a",[]]],"order":[0,1]}"#,
        r#"{"kinds":[],"order":[],"hash":"12345678123456781"}"#,
        r#"{"kinds":[],"order":[-1]}"#,
    ] {
        assert!(serde_json::from_str::<PlanKeys>(wrong).is_err(), "{wrong}");
    }
    // Numbers that fit nothing are keys of no plan, and no harm.
    for odd in [
        r#"{"kinds":[["a",[["b",""]]]],"order":[0,0]}"#,
        r#"{"kinds":[["a",[["b","0123456789abcdef01"]]]],"order":[0],"digits":0}"#,
    ] {
        let keys: PlanKeys = serde_json::from_str(odd).unwrap();
        let own = mix(1, 1, scattered);
        assert!(keys.iter().next().unwrap().difference(own.iter().next().unwrap()).is_some());
    }
}
