//! Going on from a state is going on: on plans put together at random, whatever else changes
//! between the two parts of a run. And texts that are no states do no harm.

// Clippy's leave for tests ends at functions without #[test].
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use headrace::engine::Run;
use headrace::engine::state::State;
use headrace::transforms::repeat::RepeatNode;
use proptest::prelude::*;
use serde_json::Value as Json;
use support::steps::{speed, step};
use support::{CASES, Reader, global_shuffle, options, prefetch, range, shuffle};

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
