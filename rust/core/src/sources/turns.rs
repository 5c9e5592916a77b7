//! The order in which `interleave` takes elements of datasets whose lengths are known, one from each
//! in turn: where the element of a number comes from, without those before it.
//!
//! A round gives each slot of the cycle one turn. A dataset of n elements has its slot for n + 1
//! rounds, since its end is found in a turn that gives nothing; the slot's next dataset comes in the
//! round after. Between two rounds in which datasets begin or end, each round gives as many elements.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A dataset in its slot.
#[derive(Clone, Copy, Debug)]
struct Stay {
    /// The round of its first element.
    round: u64,
    count: u64,
    dataset: usize,
}

impl Stay {
    fn end(&self) -> u64 {
        self.round.saturating_add(self.count)
    }
}

/// Rounds in which the same datasets give elements.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    round: u64,
    /// Elements of the rounds before.
    before: u64,
    /// Datasets that give elements.
    active: u64,
}

/// Who has which turn.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// The datasets of each slot in their order.
    slots: Vec<Vec<Stay>>,
    stretches: Vec<Stretch>,
}

impl Turns {
    /// Of datasets with so many elements each, `cycle` of them at a time.
    pub(super) fn new(counts: impl ExactSizeIterator<Item = u64>, cycle: usize) -> Self {
        let cycle = cycle.clamp(1, counts.len().max(1));
        let mut slots = vec![Vec::new(); cycle];
        let mut free: BinaryHeap<_> = (0..cycle).map(|slot| Reverse((0, slot))).collect();
        let mut changes = Vec::with_capacity(2 * counts.len());
        for (dataset, count) in counts.enumerate() {
            let Some(Reverse((round, slot))) = free.pop() else { break };
            let stay = Stay { round, count, dataset };
            slots[slot].push(stay);
            changes.extend([(round, 1), (stay.end(), -1)]);
            free.push(Reverse((stay.end().saturating_add(1), slot)));
        }
        changes.sort_unstable_by_key(|(round, _)| *round);
        let mut stretches = Vec::new();
        let mut last = Stretch { round: 0, before: 0, active: 0 };
        for of_round in changes.chunk_by(|a, b| a.0 == b.0) {
            let Some((round, _)) = of_round.first() else { continue };
            let elements = (round - last.round).saturating_mul(last.active);
            let change: i64 = of_round.iter().map(|(_, change)| change).sum();
            last = Stretch {
                round: *round,
                before: last.before.saturating_add(elements),
                active: last.active.saturating_add_signed(change),
            };
            stretches.push(last);
        }
        Turns { slots, stretches }
    }

    /// The dataset that gives element `number`, and which of its elements it is; `None` if there
    /// are fewer.
    pub(super) fn place(&self, number: u64) -> Option<(usize, u64)> {
        let after = self.stretches.partition_point(|stretch| stretch.before <= number);
        let stretch = self.stretches.get(after.checked_sub(1)?)?;
        let beyond = number - stretch.before;
        let round = stretch.round + beyond.checked_div(stretch.active)?;
        let active = |stays: &Vec<Stay>| {
            let after = stays.partition_point(|stay| stay.round <= round);
            let stay = stays.get(after.checked_sub(1)?)?;
            (round < stay.end()).then_some((stay.dataset, round - stay.round))
        };
        self.slots.iter().filter_map(active).nth((beyond % stretch.active) as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Turn by turn, as the stage goes.
    fn plainly(counts: &[u64], cycle: usize) -> Vec<(usize, u64)> {
        let mut waiting = counts.iter().copied().enumerate();
        let mut slots: Vec<Option<(usize, u64, u64)>> = vec![None; cycle];
        let (mut order, mut turn) = (Vec::new(), 0);
        loop {
            if slots[turn].is_none() {
                slots[turn] = waiting.next().map(|(dataset, count)| (dataset, 0, count));
            }
            slots[turn] = match slots[turn] {
                Some((dataset, taken, count)) if taken < count => {
                    order.push((dataset, taken));
                    Some((dataset, taken + 1, count))
                }
                _ => None,
            };
            turn = (turn + 1) % cycle;
            if slots.iter().all(Option::is_none) && waiting.len() == 0 {
                return order;
            }
        }
    }

    proptest! {
        #[test]
        fn each_element_is_where_going_through_them_finds_it(
            counts in prop::collection::vec(0_u64..9, 0..20),
            cycle in 1_usize..9,
        ) {
            let turns = Turns::new(counts.iter().copied(), cycle);
            let order = plainly(&counts, cycle);
            let places: Vec<_> = (0..).map_while(|number| turns.place(number)).collect();
            prop_assert_eq!(places, order);
        }
    }

    #[test]
    fn long_datasets_cost_no_more_than_short_ones() {
        let turns = Turns::new([1 << 60, 3, 1 << 61].into_iter(), 2);
        assert_eq!(turns.place(6), Some((0, 3)));
        assert_eq!(turns.place(7), Some((0, 4)));
        assert_eq!(turns.place(8), Some((2, 0)));
        assert_eq!(turns.place(8 + (1 << 60)), Some((2, 1 << 59)));
        assert_eq!(turns.place(u64::MAX), None);
    }
}
