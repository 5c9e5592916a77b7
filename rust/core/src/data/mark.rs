//! Where a run stands, in numbers small enough to store.
//!
//! A [`Mark`] is what a stage needs, beside plan and seeds, to be opened in the middle: a tree
//! with the numbers of each stage. It travels with the chunk whose first element it stands
//! before. A [`Position`] is a mark and the number of outcomes taken since.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// No run counts as far: numbers up to here can be added.
const MOST: u64 = u64::MAX / 4;

/// A point at which a stage can be opened; the default is the start of the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mark(pub Option<Arc<MarkBody>>);

/// The numbers behind a mark that is not the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarkBody {
    /// Numbers of the stage itself: an epoch, a counter.
    pub own: SmallVec<[u64; 2]>,
    /// Where its inputs stand.
    pub inputs: Vec<Position>,
    /// How many seed pairs each seeded stage below had drawn: slot and count.
    pub draws: Vec<(usize, u64)>,
    /// Which caches below were filled: their numbers.
    pub filled: Vec<usize>,
}

impl Mark {
    /// A mark with the stage's own numbers and its inputs' positions.
    pub fn new(own: impl IntoIterator<Item = u64>, inputs: Vec<Position>) -> Self {
        let own = own.into_iter().collect();
        Mark(Some(Arc::new(MarkBody { own, inputs, ..MarkBody::default() })))
    }

    /// Own number `index` of the stage, a count, 0 at the start of the run. Of a state that is no
    /// run's it may be any, but can be added to.
    pub fn own(&self, index: usize) -> u64 {
        self.word(index).min(MOST)
    }

    /// Own number `index` of the stage, whatever it means, 0 at the start of the run.
    pub fn word(&self, index: usize) -> u64 {
        self.0.as_ref().and_then(|body| body.own.get(index).copied()).unwrap_or(0)
    }

    /// Where input `index` stands.
    pub fn input(&self, index: usize) -> Position {
        self.0.as_ref().and_then(|body| body.inputs.get(index).cloned()).unwrap_or_default()
    }

    /// True for the start of the run.
    pub fn is_start(&self) -> bool {
        self.0.is_none()
    }

    /// The seed pairs drawn before this mark: the latest count of each slot in the tree.
    pub fn draws(&self) -> BTreeMap<usize, u64> {
        let mut draws = BTreeMap::new();
        self.collect_draws(&mut draws);
        draws
    }

    /// True if cache `number` was filled before this mark.
    pub fn is_filled(&self, number: usize) -> bool {
        self.0.as_ref().is_some_and(|body| {
            body.filled.contains(&number)
                || body.inputs.iter().any(|input| input.mark.is_filled(number))
        })
    }

    fn collect_draws(&self, draws: &mut BTreeMap<usize, u64>) {
        let Some(body) = &self.0 else { return };
        for &(slot, count) in &body.draws {
            let known = draws.entry(slot).or_default();
            *known = count.max(*known);
        }
        body.inputs.iter().for_each(|input| input.mark.collect_draws(draws));
    }
}

/// A mark and the number of outcomes taken since.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(into = "Vec<Flat>", try_from = "Vec<Flat>")]
pub struct Position {
    /// Where the stage can be opened.
    pub mark: Mark,
    /// Outcomes to skip from there.
    pub since: u64,
}

impl Position {
    /// True if it can be stored: its marks do not lie too deep in each other.
    pub fn is_storable(&self) -> bool {
        fn fits(position: &Position, depth: usize) -> bool {
            let inputs = position.mark.0.iter().flat_map(|body| &body.inputs);
            depth <= DEPTH && inputs.into_iter().all(|input| fits(input, depth + 1))
        }
        fits(self, 0)
    }
}

impl Position {
    /// True if its counts can be of a run: they can be added.
    pub fn is_sound(&self) -> bool {
        let mut sum = self.since;
        let inner = self.mark.0.as_ref().is_none_or(|body| {
            body.inputs.iter().for_each(|input| sum = sum.saturating_add(input.since));
            body.inputs.iter().all(Position::is_sound)
                && body.draws.iter().all(|(_, count)| *count < MOST)
        });
        inner && sum < MOST
    }
}

/// A position as it is stored: those of its inputs follow it in a list, so that however deep a plan
/// is its text is not.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Flat {
    #[serde(default, skip_serializing_if = "is_zero")]
    since: u64,
    /// How many positions of inputs follow; without, the mark is the start of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    inputs: Option<usize>,
    #[serde(default, skip_serializing_if = "SmallVec::is_empty")]
    own: SmallVec<[u64; 2]>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    draws: Vec<(usize, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    filled: Vec<usize>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How many marks may lie in each other: many times the steps of a usual plan, and few enough for
/// any thread's stack.
const DEPTH: usize = 500;

impl From<Position> for Vec<Flat> {
    fn from(position: Position) -> Self {
        fn flatten(Position { mark, since }: &Position, list: &mut Vec<Flat>) {
            let Some(body) = &mark.0 else {
                return list.push(Flat { since: *since, ..Flat::default() });
            };
            let MarkBody { own, inputs, draws, filled } = MarkBody::clone(body);
            list.push(Flat { since: *since, inputs: Some(inputs.len()), own, draws, filled });
            body.inputs.iter().for_each(|input| flatten(input, list));
        }
        let mut list = Vec::new();
        flatten(&position, &mut list);
        list
    }
}

impl TryFrom<Vec<Flat>> for Position {
    type Error = &'static str;

    fn try_from(list: Vec<Flat>) -> Result<Self, Self::Error> {
        // From the last to the first: the inputs of a position are there before it.
        let mut made: Vec<(Position, usize)> = Vec::new();
        for Flat { since, inputs, own, draws, filled } in list.into_iter().rev() {
            let Some(count) = inputs else {
                made.push((Position { mark: Mark::default(), since }, 0));
                continue;
            };
            let rest = made.len().checked_sub(count).ok_or("a position is missing")?;
            let (inputs, depths): (Vec<_>, Vec<_>) = made.drain(rest..).rev().unzip();
            let depth = depths.iter().max().map_or(1, |depth| depth + 1);
            if depth > DEPTH {
                return Err("positions lie too deep in each other");
            }
            let mark = Mark(Some(Arc::new(MarkBody { own, inputs, draws, filled })));
            made.push((Position { mark, since }, depth));
        }
        match (made.pop(), made.is_empty()) {
            (Some((position, _)), true) => Ok(position),
            (None, _) => Err("a position is missing"),
            _ => Err("there are positions of no input"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_stored_flat() {
        let deep = (0..DEPTH).fold(Position::default(), |input, n| {
            let (mark, since) = (Mark::new([n as u64], vec![input]), 1);
            Position { mark, since }
        });
        let two = Mark::new([], vec![deep, Position { since: 7, ..Position::default() }]);
        let whole = Position { mark: two, since: 3 };
        let text = serde_json::to_string(&whole.mark.input(1)).unwrap();
        assert_eq!(text, r#"[{"since":7}]"#);
        let inner = whole.mark.input(0);
        let text = serde_json::to_string(&inner).unwrap();
        assert_eq!(serde_json::from_str::<Position>(&text).unwrap(), inner);
        // Deeper than any plan.
        assert!(inner.is_storable() && !whole.is_storable());
        let text = serde_json::to_string(&whole).unwrap();
        assert!(serde_json::from_str::<Position>(&text).is_err());
        for wrong in ["[]", r#"[{"inputs":1}]"#, r#"[{"since":1},{"since":2}]"#] {
            assert!(serde_json::from_str::<Position>(wrong).is_err(), "{wrong}");
        }
    }
}
