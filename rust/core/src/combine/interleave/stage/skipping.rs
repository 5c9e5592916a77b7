//! How an `interleave` is skipped: by whole rounds where it is certain that no dataset ends in them, and
//! else turn by turn. Datasets of known lengths only owe what is skipped of them, until they are read.

use super::InterleaveStage;
use crate::engine::Skipped;
use crate::engine::skipping::{SkipError, passed};

impl InterleaveStage {
    /// Skips turn by turn, up to the first error that shows.
    pub(super) fn skip_turns(&mut self, n: u64) -> Skipped {
        let mut left = n;
        if left > 0
            && let Some(error) = self.deferred.take()
        {
            return Err(SkipError::behind(0, error));
        }
        while left > 0 {
            match self.settle() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.marks = None;
                    return Err(SkipError::behind(n - left, error));
                }
            }
            let rounds = self.skip_rounds(left).map_err(|met| met.after(n - left))?;
            if rounds > 0 {
                left -= rounds;
                continue;
            }
            let turn = left.min((self.block - self.taken) as u64);
            let Some(slot) = &mut self.slots[self.turn] else { continue };
            let skipped = slot.skip(turn);
            self.count(passed(&skipped) as usize);
            let skipped = skipped.map_err(|met| met.after(n - left))?;
            left -= skipped;
            if skipped < turn {
                self.leave();
            }
        }
        Ok(n - left)
    }

    /// Passes over as many whole rounds of at most `n` outcomes as are certain to come: all slots are
    /// taken, by datasets that are known to go on for so long.
    fn skip_rounds(&mut self, n: u64) -> Skipped {
        let (block, exhausted) = (self.block as u64, self.is_exhausted());
        let round = block.saturating_mul(self.open as u64);
        let at_start = self.turn == 0 && self.taken == 0 && round <= n;
        if !at_start || (!exhausted && self.open < self.cycle) {
            return Ok(0);
        }
        let mut rounds = n / round;
        for slot in self.slots.iter().flatten() {
            rounds = rounds.min(slot.remaining().unwrap_or(0) / block);
            if rounds == 0 {
                return Ok(0);
            }
        }
        for slot in self.slots.iter_mut().flatten() {
            slot.skip(rounds * block)?;
        }
        if let Some(marks) = &mut self.marks {
            marks.since = marks.since.saturating_add((rounds * round) as usize);
        }
        Ok(rounds * round)
    }
}
