//! Random numbers inside functions: those of an element depend on op, run and place alone.

// Clippy's leave for tests ends at functions without #[test].
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::collections::BTreeSet;

use headrace::engine::access::Access;
use headrace::engine::{Run, RunOptions};
use headrace::transforms::repeat::RepeatNode;
use support::drawing::{first_number, noise};
use support::{Reader, options, range, read};

fn numbers(plan: &headrace::engine::Plan) -> Vec<i64> {
    let mut run = Run::open(plan, options(1), None).unwrap();
    std::iter::from_fn(|| run.next_chunk().unwrap()).map(|row| first_number(&row)).collect()
}

#[test]
fn graphs_and_foreign_code_draw_the_same() {
    let plan = |native| RepeatNode::plan(noise(range(9), native, None), 3);
    assert_eq!(numbers(&plan(true)), numbers(&plan(false)));
}

#[test]
fn elements_epochs_and_runs_differ() {
    let plan = RepeatNode::plan(noise(range(50), true, None), 3);
    let all: Vec<i64> = (0..3).flat_map(|_| numbers(&plan)).collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 450);
}

#[test]
fn how_far_a_run_comes_changes_no_later_run() {
    let plan = || RepeatNode::plan(noise(range(50), true, Some(2)), -1);
    let third = |taken: [usize; 2]| {
        let plan = plan();
        for count in taken {
            Reader::open(&plan, RunOptions::default(), None).take(count).for_each(drop);
        }
        Reader::open(&plan, RunOptions::default(), None).take(120).collect::<Vec<_>>()
    };
    assert_eq!(third([0, 3]), third([200, 70]));
}

#[test]
fn elements_by_number_are_those_of_the_next_run() {
    let plan = noise(range(9), true, None);
    let at = |n| support::row_text(&Access::open(&plan, options(1)).unwrap().at(n).unwrap(), 0);
    let picked = [at(3), at(3), at(8)];
    let all = read(&plan, options(4));
    assert_eq!(picked, [all[3].clone(), all[3].clone(), all[8].clone()]);
    assert_ne!(at(3), all[3]);
}

#[test]
fn a_run_resumed_beside_the_first_draws_as_it_would_have() {
    let plan = RepeatNode::plan(noise(range(9), false, None), 3);
    read(&plan, options(4));
    let mut first = Reader::open(&plan, options(4), None);
    first.by_ref().take(13).for_each(drop);
    let state = first.state();
    let rest: Vec<_> = first.collect();
    read(&plan, options(4));
    assert_eq!(Reader::open(&plan, options(2), Some(&state)).collect::<Vec<_>>(), rest);
    let elsewhere = RepeatNode::plan(noise(range(9), false, None), 3);
    assert_eq!(Reader::open(&elsewhere, options(7), Some(&state)).collect::<Vec<_>>(), rest);
}
