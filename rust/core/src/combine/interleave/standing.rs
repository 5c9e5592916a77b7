//! Where the cycle of an `interleave` stands, as the numbers of a mark.
//!
//! Each open dataset is told by which element of the input it was made of, and by how many of its own
//! were taken. The input is opened before the element of the oldest; of those that follow, the ones
//! whose datasets have ended are passed over.

use crate::combine::plans::Before;
use crate::data::Mark;
use crate::data::mark::MarkBody;

/// Numbers of a mark before those of its slots.
const HEAD: usize = 3;

/// A dataset in its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    /// How many elements of the input come between that of the oldest dataset and its own.
    pub(super) offset: u64,
    /// Outcomes of it that were taken.
    pub(super) passed: u64,
}

/// Where a cycle stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    /// The slot whose turn it is.
    pub(super) turn: usize,
    /// Outcomes taken in this turn.
    pub(super) taken: usize,
    /// The slots that were filled once.
    pub(super) slots: Vec<Option<Open>>,
}

impl Standing {
    /// That of a mark; `None` at the start.
    pub(super) fn of(mark: &Mark) -> Option<Self> {
        let body = mark.0.as_ref()?;
        let numbers = body.own.get(HEAD..).unwrap_or_default();
        let slot = |pair: &[u64]| match *pair {
            [after, passed] => after.checked_sub(1).map(|offset| Open { offset, passed }),
            _ => None,
        };
        Some(Standing {
            turn: mark.own(1) as usize,
            taken: mark.own(2) as usize,
            slots: numbers.chunks(2).map(slot).collect(),
        })
    }

    /// The mark of a stage with this slot among those of the run, where its plans stand so before
    /// the oldest dataset.
    pub(super) fn mark(&self, slot: usize, before: Before) -> Mark {
        let pair = |open: &Option<Open>| match open {
            Some(Open { offset, passed }) => [offset + 1, *passed],
            None => [0, 0],
        };
        let head = [before.taken, self.turn as u64, self.taken as u64];
        let body = MarkBody {
            own: head.into_iter().chain(self.slots.iter().flat_map(pair)).collect(),
            inputs: vec![before.position],
            draws: vec![(slot, before.openings)],
            ..MarkBody::default()
        };
        Mark(Some(std::sync::Arc::new(body)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Position;

    #[test]
    fn a_mark_tells_what_it_was_made_of() {
        let open = |offset, passed| Some(Open { offset, passed });
        for slots in [vec![], vec![None], vec![open(0, 7), None, open(9, 0), open(2, 1 << 40)]] {
            let standing = Standing { turn: 2, taken: 5, slots };
            let position = Position { mark: Mark::default(), since: 11 };
            let before = Before { openings: 10, taken: 12, position: position.clone() };
            let mark = standing.mark(3, before);
            assert_eq!(Standing::of(&mark), Some(standing));
            assert_eq!((mark.own(0), mark.input(0)), (12, position));
            assert_eq!(mark.draws().get(&3), Some(&10));
        }
        assert_eq!(Standing::of(&Mark::default()), None);
    }
}
