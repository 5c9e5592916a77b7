//! Shuffle orders, equal to TensorFlow's.

// Clippy's leave for tests ends at functions without #[test].
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use headrace::data::{Column, Value};
use headrace::engine::seeds::SeedGenerator;
use headrace::engine::{Plan, Run, RunOptions};
use headrace::transforms::repeat::RepeatNode;
use headrace::transforms::shuffle::ShuffleNode;
use serde_json::Value as Json;

const MODULUS: i64 = (1 << 31) - 1;

fn numbers(plan: &Plan) -> Vec<i64> {
    let mut run = Run::open(plan, RunOptions::default(), None).unwrap();
    let mut numbers = Vec::new();
    while let Some(chunk) = run.next_chunk().unwrap() {
        let Column::Stacked(tensor) = &chunk.columns()[0] else { panic!("not stacked") };
        numbers.extend_from_slice(tensor.values::<i64>().unwrap());
        assert!(matches!(chunk.columns()[0].row(0).unwrap(), Value::Tensor(_)));
    }
    numbers
}

fn shuffled(input: Plan, case: &Json) -> Plan {
    // Without a global seed the first word is TensorFlow's default, the second the op's seed.
    let seed = case["seed"].as_i64().unwrap().rem_euclid(MODULUS) as u64;
    let reshuffle = case["reshuffle_each_iteration"].as_bool().unwrap_or(true);
    let seeds = SeedGenerator::new(Some((87_654_321, seed)), reshuffle);
    ShuffleNode::plan(input, case["buffer_size"].as_i64().unwrap(), seeds).unwrap()
}

fn plan(case: &Json) -> Option<Plan> {
    let range = support::range(case["n"].as_i64()?);
    let count = case["count"].as_i64().unwrap_or(1);
    Some(match case["op"].as_str()? {
        "shuffle" => shuffled(range, case),
        "shuffle.repeat" => RepeatNode::plan(shuffled(range, case), count),
        "repeat.shuffle" => shuffled(RepeatNode::plan(range, count), case),
        "shuffle.map(x*1+0).repeat" => {
            // Any map between the two keeps TensorFlow from fusing them.
            let mapped = support::map(shuffled(range, case), support::identity_map(), None);
            RepeatNode::plan(mapped, count)
        }
        _ => return None,
    })
}

#[test]
fn orders_are_tensorflows() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/random_orders.json");
    let golden: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut checked = 0;
    for case in golden["cases"].as_array().unwrap() {
        let Some(plan) = plan(case) else { continue };
        for (epoch, expected) in case["epochs"].as_array().unwrap().iter().enumerate() {
            let expected: Vec<i64> = serde_json::from_value(expected.clone()).unwrap();
            assert_eq!(numbers(&plan), expected, "epoch {epoch} of {case}");
        }
        checked += 1;
    }
    assert_eq!(checked, 96);
}
