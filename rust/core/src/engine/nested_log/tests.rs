//! Draws that are logged, replayed and taken back.

use super::*;

fn generator(pair: SeedPair) -> SeedGenerator {
    SeedGenerator::new(Some(pair), true)
}

fn size(log: &NestedLog) -> usize {
    serde_json::to_string(&log.since(0).unwrap()).unwrap().len()
}

#[test]
fn openings_that_draw_alike_are_one_entry() {
    let (a, b) = (generator((1, 2)), generator((3, 4)));
    let mut log = NestedLog::default();
    for opening in 0..100_000 {
        log.draw(&[opening], &a);
        log.draw(&[opening], &a);
        log.draw(&[opening], &b);
        log.draw(&[opening, 5, 0], &a);
    }
    assert!(size(&log) < 500, "{}", size(&log));
    // One opening with many draws is as small.
    for _ in 0..100_000 {
        log.draw(&[100_000], &b);
    }
    assert!(size(&log) < 1000, "{}", size(&log));
    assert!(log.drawn.values().all(|openings| openings.recent.len() <= RECENT));
}

#[test]
fn a_restored_log_hands_out_the_same_draws_and_goes_on() {
    // Three open datasets that take turns, with a stray draw now and then.
    let order: Vec<u64> = (0..900).map(|i| i / 9 * 3 + i % 3 + u64::from(i % 50 == 0)).collect();
    let (a, b) = (generator((1, 2)), generator((3, 4)));
    let draw = |log: &mut NestedLog, i: usize, a: &SeedGenerator, b: &SeedGenerator| {
        log.draw(&[order[i]], if i.is_multiple_of(4) { b } else { a }).0
    };
    let mut log = NestedLog::default();
    let all: Vec<SeedPair> = (0..600).map(|i| draw(&mut log, i, &a, &b)).collect();
    let state = serde_json::to_string(&log.since(0).unwrap()).unwrap();
    let later: Vec<SeedPair> = (600..900).map(|i| draw(&mut log, i, &a, &b)).collect();

    let (a, b) = (generator((1, 2)), generator((3, 4)));
    let mut again = NestedLog::restored(&serde_json::from_str(&state).unwrap());
    for half in [0..250, 250..600] {
        for i in half {
            assert_eq!(draw(&mut again, i, &a, &b), all[i], "{i}");
        }
        // What a state tells does not depend on how much was handed out again.
        assert_eq!(again.since(0).unwrap().drawn.len(), log.since(0).unwrap().drawn.len());
        let state = serde_json::to_string(&again.since(0).unwrap()).unwrap();
        let (a, b) = (generator((1, 2)), generator((3, 4)));
        let mut third = NestedLog::restored(&serde_json::from_str(&state).unwrap());
        (0..600).for_each(|i| assert_eq!(draw(&mut third, i, &a, &b), all[i], "{i}"));
    }
    // Another run has moved the live nodes on.
    a.advance(5000);
    let rest: Vec<SeedPair> = (600..900).map(|i| draw(&mut again, i, &a, &b)).collect();
    assert_eq!(rest, later);
}

#[test]
fn draws_that_are_taken_back_leave_nothing_behind() {
    let (a, b) = (generator((1, 2)), generator((3, 4)));
    let draw = |log: &mut NestedLog, opening: u64| {
        let path = [opening / 2];
        let made = log.draw(&path, if opening.is_multiple_of(3) { &b } else { &a });
        (path, made.0, made.1.unwrap())
    };
    let mut log = NestedLog::default();
    let mut all: Vec<_> = (0..300).map(|i| draw(&mut log, i)).collect();
    let state = log.since(0).unwrap();
    let ahead: Vec<_> = (300..500).map(|i| draw(&mut log, i)).collect();
    let take_back = |log: &mut NestedLog, ahead: &[([u64; 1], SeedPair, Made)]| {
        for (path, _, made) in ahead.iter().rev() {
            let number = log.take_back(path, made);
            let node = if made.pair == a.pair() { &a } else { &b };
            number.into_iter().for_each(|number| node.give_back(number));
        }
    };
    take_back(&mut log, &ahead);
    assert_eq!(log.since(0).unwrap(), state);
    all.extend((300..500).map(|i| draw(&mut log, i)));
    assert!(all[300..].iter().zip(&ahead).all(|(again, first)| again.1 == first.1));
    // So it is where they were drawn before.
    let mut again = NestedLog::restored(&state);
    let first: Vec<_> = (0..250).map(|i| draw(&mut again, i)).collect();
    take_back(&mut again, &first[200..]);
    assert_eq!(again.since(0).unwrap().drawn, state.drawn);
    let rest: Vec<_> = (200..400).map(|i| draw(&mut again, i)).collect();
    assert!(rest.iter().zip(&all[200..]).all(|(again, first)| again.1 == first.1));
}

#[test]
fn a_state_leaves_out_the_openings_before_it() {
    let a = generator((1, 2));
    let mut log = NestedLog::default();
    let all: Vec<SeedPair> = (0..200).map(|opening| log.draw(&[opening], &a).0).collect();
    let copy = generator((1, 2));
    let mut again = NestedLog::restored(&log.since(150).unwrap());
    for opening in 150..200 {
        assert_eq!(again.draw(&[opening], &copy).0, all[opening as usize]);
    }
    assert!(again.replay.values().all(|openings| openings.blocks.is_empty()));
}

#[test]
fn a_log_of_openings_that_draw_unlike_is_bounded() {
    let a = generator((1, 2));
    let mut log = NestedLog::default();
    let mut opening = 0;
    while log.forgotten == 0 {
        // In no regular way.
        (0..=opening * opening % 7).for_each(|_| _ = log.draw(&[opening], &a));
        opening += 1;
    }
    assert!(log.since(0).is_err());
    assert!(log.since(log.forgotten).is_ok() && log.forgotten < opening);
    assert!((opening as usize) < 3 * MOST);
    // The datasets of one opening may be many, too.
    let mut log = NestedLog::default();
    let mut inner = 0;
    while log.forgotten == 0 {
        log.draw(&[3, 5, inner], &a);
        inner += 1;
    }
    assert!(log.since(3).is_err() && log.drawn.len() < 2);
    log.draw(&[4, 5, 0], &a);
    assert_eq!(log.since(4).unwrap().drawn.len(), 1);
}
