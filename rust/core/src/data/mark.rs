//! Where a run stands, in numbers small enough to store.
//!
//! A [`Mark`] is what a stage needs, beside plan and seeds, to be opened in the middle: a tree
//! with the numbers of each stage. It travels with the chunk whose first element it stands
//! before. A [`Position`] is a mark and the number of outcomes taken since.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A point at which a stage can be opened; the default is the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mark(pub Option<Arc<MarkBody>>);

/// The numbers behind a mark that is not the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MarkBody {
    /// Numbers of the stage itself: an epoch, a counter.
    #[serde(default, skip_serializing_if = "SmallVec::is_empty")]
    pub own: SmallVec<[u64; 2]>,
    /// Where its inputs stand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Position>,
    /// How many seed pairs each seeded stage below had drawn: slot and count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub draws: Vec<(usize, u64)>,
}

impl Mark {
    /// A mark with the stage's own numbers and its inputs' positions.
    pub fn new(own: impl IntoIterator<Item = u64>, inputs: Vec<Position>) -> Self {
        let own = own.into_iter().collect();
        Mark(Some(Arc::new(MarkBody { own, inputs, draws: Vec::new() })))
    }

    /// Own number `index` of the stage, 0 at the start of the run.
    pub fn own(&self, index: usize) -> u64 {
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
    pub fn draws(&self) -> Vec<(usize, u64)> {
        let mut draws: Vec<(usize, u64)> = Vec::new();
        self.collect_draws(&mut draws);
        draws
    }

    fn collect_draws(&self, draws: &mut Vec<(usize, u64)>) {
        let Some(body) = &self.0 else { return };
        for &(slot, count) in &body.draws {
            match draws.iter_mut().find(|(known, _)| *known == slot) {
                Some((_, known)) => *known = count.max(*known),
                None => draws.push((slot, count)),
            }
        }
        body.inputs.iter().for_each(|input| input.mark.collect_draws(draws));
    }
}

/// A mark and the number of outcomes taken since.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// Where the stage can be opened.
    #[serde(default)]
    pub mark: Mark,
    /// Outcomes to skip from there.
    #[serde(default)]
    pub since: u64,
}
