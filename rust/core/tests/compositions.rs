//! Plans put together at random give what plain iterators give, however they run.

// Clippy's leave for tests ends at functions without #[test].
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use headrace::data::Tensor;
use proptest::prelude::*;
use support::reference::{Number, expected, is_known};
use support::steps::{Step, speed, step};
use support::{Outcome, collect, read, row_text};

/// Steps that the reference has.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(step(), 1..7).prop_map(|steps| {
        let known = |mut kept: Vec<Step>, step| {
            if is_known(&step, &kept) {
                kept.push(step);
            }
            kept
        };
        steps.into_iter().fold(Vec::new(), known)
    })
}

fn text(number: &Number) -> Outcome {
    match number {
        Ok(x) => row_text(&collect(&[Tensor::scalar(*x).unwrap()]), 0),
        Err(error) => error.clone(),
    }
}

fn is_alike(seen: &Outcome, expected: &Number) -> bool {
    match expected {
        Ok(_) => *seen == text(expected),
        Err(error) => seen.starts_with("error: ") && seen.contains(error),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_plans_give_what_plain_iterators_give(
        source in 0_i64..12,
        steps in steps(),
        speed in speed(),
    ) {
        let expected = expected(speed, source, &steps);
        let seen = read(&speed.plan(source, &steps), speed.options());
        let alike = seen.len() == expected.len()
            && seen.iter().zip(&expected).all(|(seen, expected)| is_alike(seen, expected));
        let expected: Vec<_> = expected.iter().map(text).collect();
        prop_assert!(alike, "gives {seen:#?}, expected {expected:#?}");
    }
}
