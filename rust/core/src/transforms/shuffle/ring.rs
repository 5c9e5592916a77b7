//! The buffer of a shuffle as handles, and the draws from it.
//!
//! To emit, one of the handles between start and end is drawn, the handle at the start takes its
//! place, and the one that comes in goes to the end: tf.data's order.

use crate::engine::seeds::SeedPair;
use crate::random::Philox;

/// The buffer of handles, and the draws from it.
pub(in crate::transforms) struct Ring {
    draws: Philox,
    capacity: usize,
    /// Grows while the buffer first fills.
    handles: Vec<u64>,
    /// Where the first handle is.
    first: usize,
    held: usize,
}

impl Ring {
    /// An empty buffer for `capacity` handles.
    pub(super) fn new((seed, seed2): SeedPair, capacity: usize) -> Self {
        let draws = Philox::new(seed, seed2);
        Ring { draws, capacity, handles: Vec::new(), first: 0, held: 0 }
    }

    /// A buffer that holds the numbers below `count`, all there are.
    pub(in crate::transforms) fn of_all((seed, seed2): SeedPair, count: u64) -> Self {
        let held = count as usize;
        let (draws, handles) = (Philox::new(seed, seed2), (0..count).collect());
        Ring { draws, capacity: held.max(1), handles, first: 0, held }
    }

    /// Memory of the handles.
    pub(in crate::transforms) fn bytes(&self) -> usize {
        self.handles.capacity() * size_of::<u64>()
    }

    /// How many handles more it takes.
    pub(super) fn room(&self) -> usize {
        self.capacity - self.held
    }

    /// Where the handle `offset` places behind the first is; both are at most the capacity.
    fn at(&self, offset: usize) -> usize {
        let at = self.first + offset;
        if at < self.capacity { at } else { at - self.capacity }
    }

    /// Puts a handle to the end.
    pub(super) fn push(&mut self, handle: u64) {
        let at = self.at(self.held);
        if at == self.handles.len() {
            self.handles.push(handle);
        } else {
            self.handles[at] = handle;
        }
        self.held += 1;
    }

    /// Takes one of the handles, as tf.data would.
    pub(in crate::transforms) fn draw(&mut self) -> Option<u64> {
        if self.held == 0 {
            return None;
        }
        let draw = self.draws.next_u32();
        // As in 64 bits, but in fewer steps.
        let drawn = u32::try_from(self.held).map_or(draw, |held| draw % held);
        let at = self.at(drawn as usize);
        let handle = self.handles[at];
        self.handles[at] = self.handles[self.first];
        self.first = self.at(1);
        self.held -= 1;
        Some(handle)
    }

    /// Takes up to `n` of the handles and drops them: how many.
    pub(in crate::transforms) fn pass(&mut self, n: u64) -> u64 {
        (0..n).take_while(|_| self.draw().is_some()).count() as u64
    }

    /// Number of its handles.
    pub(super) fn len(&self) -> usize {
        self.held
    }

    /// Its handles, in any order.
    pub(super) fn held(&mut self) -> impl Iterator<Item = &mut u64> {
        let (first, held, capacity) = (self.first, self.held, self.capacity);
        self.handles.iter_mut().enumerate().filter_map(move |(at, handle)| {
            // Distance of this place from the first, round the ring.
            let offset = if at >= first { at - first } else { at + (capacity - first) };
            (offset < held).then_some(handle)
        })
    }
}
