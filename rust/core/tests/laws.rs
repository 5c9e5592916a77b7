//! The laws that hold for every op.

mod support;

use headrace::engine::access::Access;
use headrace::engine::autotune::AutotuneOptions;
use headrace::engine::node::Rewrites;
use headrace::engine::{Cardinality, RunOptions};
use headrace::transforms::skip::SkipNode;
use support::{CASES, Case, Outcome, Reader, drawing, options, read, row_text};

/// All plans there are.
fn cases() -> impl Iterator<Item = &'static Case> {
    CASES.iter().chain(drawing::CASES)
}

fn outcomes((_, plan): &Case) -> Vec<Outcome> {
    read(&plan(), RunOptions::default())
}

fn failing(outcomes: &[Outcome]) -> bool {
    outcomes.iter().any(|outcome| outcome.starts_with("error"))
}

#[test]
fn elements_do_not_depend_on_the_size_of_chunks() {
    for case @ (name, plan) in cases() {
        let expected = outcomes(case);
        for rows in [1, 2, 7, 1024] {
            assert_eq!(read(&plan(), options(rows)), expected, "{name} in chunks of {rows}");
        }
    }
}

#[test]
fn elements_do_not_depend_on_the_number_of_threads() {
    for case @ (name, plan) in cases() {
        let one = RunOptions { private_threadpool_size: Some(1), ..RunOptions::default() };
        assert_eq!(read(&plan(), one), outcomes(case), "{name}");
    }
}

#[test]
fn elements_do_not_depend_on_the_memory_budget() {
    for case @ (name, plan) in cases() {
        let expected = outcomes(case);
        for budget in [1, 1024] {
            for rows in [2, 1024] {
                let autotune = AutotuneOptions { ram_budget: budget, ..AutotuneOptions::default() };
                let small = RunOptions { autotune, ..options(rows) };
                assert_eq!(read(&plan(), small), expected, "{name} in {budget} bytes");
            }
        }
    }
}

#[test]
fn elements_do_not_depend_on_rewrites() {
    for case @ (name, plan) in cases() {
        for options in [rewriting(Rewrites::NONE), rewriting(Rewrites::ALL)] {
            assert_eq!(read(&plan(), options), outcomes(case), "{name}");
        }
    }
}

/// Options with these rewrites, and small chunks.
fn rewriting(rewrites: Rewrites) -> RunOptions {
    RunOptions { inject_prefetch: rewrites != Rewrites::NONE, rewrites, ..options(5) }
}

#[test]
fn states_do_not_depend_on_rewrites() {
    for case @ (name, plan) in cases() {
        let all = outcomes(case);
        let both = [Rewrites::NONE, Rewrites::ALL];
        for (before, after) in [(both[0], both[1]), (both[1], both[0])] {
            let mut reader = Reader::open(&plan(), rewriting(before), None);
            for n in 0..=all.len() {
                let state = reader.state();
                let rest: Vec<_> = Reader::open(&plan(), rewriting(after), Some(&state)).collect();
                assert_eq!(rest, all[n..], "{name}, resumed at {n}: {}", state.to_json().unwrap());
                reader.next();
            }
        }
    }
}

#[test]
fn skip_equals_dropping() {
    for case @ (name, plan) in cases() {
        let all = outcomes(case);
        if failing(&all) {
            continue;
        }
        for n in 0..=all.len() + 1 {
            let rest = read(&SkipNode::plan(plan(), n as i64), options(7));
            assert_eq!(rest, all[n.min(all.len())..], "{name}, skip {n}");
        }
    }
}

#[test]
fn a_run_resumes_from_every_position() {
    for case @ (name, plan) in cases() {
        let all = outcomes(case);
        for rows in [2, 1024] {
            let mut reader = Reader::open(&plan(), options(rows), None);
            for n in 0..=all.len() {
                let state = reader.state();
                let rest: Vec<_> = Reader::open(&plan(), options(7), Some(&state)).collect();
                let text = state.to_json().unwrap();
                assert_eq!(rest, all[n..], "{name}, chunks of {rows}, resumed at {n}: {text}");
                reader.next();
            }
        }
    }
}

#[test]
fn a_resumed_run_resumes_again() {
    for case @ (name, plan) in cases() {
        let all = outcomes(case);
        for n in (0..all.len()).step_by(3) {
            let mut first = Reader::open(&plan(), options(1024), None);
            first.by_ref().take(n).for_each(drop);
            let mut second = Reader::open(&plan(), options(3), Some(&first.state()));
            let more = (all.len() - n) / 2;
            second.by_ref().take(more).for_each(drop);
            let rest: Vec<_> = Reader::open(&plan(), options(2), Some(&second.state())).collect();
            assert_eq!(rest, all[n + more..], "{name}, resumed at {n} and {more} later");
        }
    }
}

#[test]
fn cardinality_is_the_count() {
    for case @ (name, plan) in cases() {
        // Of failing elements tf.data counts what would come without errors.
        let all = outcomes(case);
        if let (Cardinality::Known(n), false) = (plan().cardinality(), failing(&all)) {
            assert_eq!(n, all.len() as u64, "{name}");
        }
    }
}

#[test]
fn random_access_gives_what_iterating_gives() {
    let mut tried = 0;
    for case @ (name, plan) in cases() {
        let Ok(access) = Access::open(&plan(), RunOptions::default()) else { continue };
        let all = outcomes(case);
        if failing(&all) {
            continue;
        }
        assert_eq!(access.count(), all.len() as u64, "{name}");
        for (n, expected) in all.iter().enumerate().rev() {
            let element = access.at(n as i64).unwrap();
            assert_eq!(row_text(&element, 0), *expected, "{name}, element {n}");
        }
        assert!(access.at(all.len() as i64).is_err() && access.at(-1).is_err());
        tried += 1;
    }
    assert!(tried > 10);
}

#[test]
fn states_stay_small() {
    for (name, plan) in cases() {
        let mut reader = Reader::open(&plan(), RunOptions::default(), None);
        while reader.next().is_some() {
            assert!(reader.state().to_json().unwrap().len() < 4096, "{name}");
        }
    }
}

#[test]
fn a_state_of_another_plan_is_refused_by_name() {
    let state =
        Reader::open(&support::batch(support::range(9), 2, false), options(2), None).state();
    let other = support::batch(support::range(9), 3, false);
    let error = state.check(&other).unwrap_err().to_string();
    assert!(error.contains("batch_size") && error.contains("batch"), "{error}");
    let error = state.check(&support::range(9)).unwrap_err().to_string();
    assert!(error.contains("batch") && error.contains("range"), "{error}");
    // Prefetching changes no element, so it leaves states valid.
    assert!(
        state.check(&support::prefetch(support::batch(support::range(9), 2, false), 1)).is_ok()
    );
}
