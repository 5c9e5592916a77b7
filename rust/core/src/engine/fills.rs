//! What runs know of the passes that filled their caches.
//!
//! A cache freezes what is random below it: later passes read what the first one drew. So a state
//! says which draws the first pass made, and a run that is restored where there is no cache makes
//! that pass again with them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::{ForeignValue, Position};
use crate::engine::by_number;
use crate::engine::lock;
use crate::engine::lookahead::{self, Draw};
use crate::engine::nested_log::{HINT, NestedState};
use crate::engine::node::Plan;
use crate::engine::opening::OwnedPlace;
use crate::engine::run::RunContext;
use crate::engine::seeds::{DrawLog, SeedPair};
use crate::engine::stage::Input;
use crate::engine::sync::Mutex;
use crate::error::{Error, Result};
use crate::random::site::RunKey;

/// The draws of one pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fill {
    /// Of the seeded stages below the cache, by their slots, counted from its own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", with = "by_number")]
    draws: BTreeMap<usize, DrawLog>,
    /// What the functions below draw by, counted in the same way.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", with = "by_number")]
    functions: BTreeMap<usize, RunKey>,
    /// The epochs that the pass was in.
    #[serde(skip_serializing_if = "is_zero")]
    epochs: u64,
    /// What the datasets drew that stages below opened, by slot, counted in the same way.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", with = "by_number")]
    nested: BTreeMap<usize, NestedState>,
    /// Where those get the seeds from that nobody gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    entropy: Option<SeedPair>,
    /// They drew too much for it to be told.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lost: bool,
}

impl Fill {
    /// True if it can be of a run.
    pub(crate) fn is_sound(&self) -> bool {
        self.draws.values().all(DrawLog::is_sound)
            && self.nested.values().all(NestedState::is_sound)
    }

    /// Fails if the pass cannot be made again.
    ///
    /// # Errors
    /// `ResourceExhausted`.
    pub(crate) fn check(&self) -> Result<()> {
        let text = "the state would hold what more datasets drew than can be told, in a pass that \
                    filled a cache";
        if self.lost { Err(Error::resource_exhausted(text).with_hint(HINT)) } else { Ok(()) }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A pass that a cache holds.
#[derive(Clone)]
pub(crate) struct Adopted {
    fill: Fill,
    /// The run itself has made it.
    own: bool,
}

/// The caches of a run, by their number in the plan.
#[derive(Default)]
pub(crate) struct Fills {
    /// The passes that the caches of the run hold.
    adopted: Mutex<BTreeMap<usize, Adopted>>,
    /// Rows that only this run may use: those in the dataset are of another pass.
    private: Mutex<BTreeMap<usize, ForeignValue>>,
    restored: bool,
}

impl Fills {
    /// Those of a state.
    pub(crate) fn restored(state: Option<&BTreeMap<usize, Fill>>) -> Self {
        let adopted = state.cloned().unwrap_or_default().into_iter();
        let adopted =
            adopted.map(|(number, fill)| (number, Adopted { fill, own: false })).collect();
        Fills { adopted: Mutex::new(adopted), private: Mutex::default(), restored: state.is_some() }
    }

    /// For a state at `position`. A pass of the run itself is made again where it was not over
    /// before the mark: a driver may have ended the pass that the consumer is still in, and
    /// elements that failed are outcomes of that pass alone.
    pub(crate) fn adopted_at(&self, position: &Position) -> BTreeMap<usize, Fill> {
        let adopted = lock(&self.adopted);
        let over = |number: &usize, own: bool| !own || position.mark.is_filled(*number);
        let held = adopted.iter().filter(|(number, adopted)| over(number, adopted.own));
        held.map(|(number, adopted)| (*number, adopted.fill.clone())).collect()
    }

    /// Those of these caches from which the run's elements come by now.
    pub(crate) fn filled(&self, numbers: Range<usize>) -> Vec<usize> {
        lock(&self.adopted).range(numbers).map(|(number, _)| *number).collect()
    }
}

/// Where in a run a cache stands, with the seeded stages below it.
#[derive(Clone)]
pub struct CachePlace {
    pub(crate) run: Arc<RunContext>,
    pub(crate) place: OwnedPlace,
    pub(crate) number: usize,
    pub(crate) slots: Range<usize>,
    pub(crate) functions: Range<usize>,
}

impl CachePlace {
    /// Opens the input at its start; its seeds are drawn now.
    ///
    /// # Errors
    /// Those of the nodes.
    pub fn open(&self, input: &Plan) -> Result<Input> {
        self.place.open(input, Position::default())
    }

    /// As [`CachePlace::open`] for the pass that would fill the cache: the first of the run.
    ///
    /// # Errors
    /// Those of the nodes.
    pub fn open_first(&self, input: &Plan) -> Result<Input> {
        self.place.in_first_epochs().open(input, Position::default())
    }

    /// What the stages below have drawn so far.
    pub fn counts(&self) -> Vec<(usize, u64)> {
        self.run.draw_counts(self.slots.clone())
    }

    /// What they have drawn since `counts`.
    pub fn pass_since(&self, counts: &[(usize, u64)]) -> Fill {
        let count = |slot| counts.iter().find(|(at, _)| *at == slot).map_or(0, |(_, n)| *n);
        let draws = lock(&self.run.draws);
        let logs = draws.range(self.slots.clone());
        let logs = logs.map(|(slot, log)| (slot - self.slots.start, log.pass_from(count(*slot))));
        let (first, functions) = (self.functions.start, self.functions.clone());
        let functions = self.run.drawing_keys(functions).into_iter();
        let functions: BTreeMap<_, _> = functions.map(|(id, key)| (id - first, key)).collect();
        let epochs = if functions.is_empty() { 0 } else { self.place.epochs() };
        let nested = self.run.nested.pass_since(self.slots.clone(), count);
        let (nested, lost) = nested.map_or_else(|_| Default::default(), |nested| (nested, false));
        let own = |pass: &BTreeMap<usize, NestedState>| !pass.is_empty();
        let entropy = self.run.nested.entropy().filter(|_| own(&nested));
        Fill { draws: logs.collect(), functions, epochs, nested, entropy, lost }
    }

    /// The pass that the cache is known to hold in this run.
    pub fn adopted(&self) -> Option<Fill> {
        lock(&self.run.fills.adopted).get(&self.number).map(|adopted| adopted.fill.clone())
    }

    /// From now on the run's elements come from a cache that this pass has filled, the run's own
    /// or an earlier one.
    ///
    /// # Errors
    /// `Cancelled` if nobody will take what it gives.
    pub fn adopt(&self, fill: &Fill, own: bool) -> Result<()> {
        lookahead::draw(|| (self.note(fill, own), None))
    }

    /// Ends the run's own pass: `rows` are those of the cache at this address. `settle` is called once
    /// it is known whether the pass counts, for which somebody must take its end.
    ///
    /// # Errors
    /// As [`CachePlace::adopt`], and those of `settle`.
    pub(crate) fn fill(
        &self,
        fill: &Fill,
        own: bool,
        (cache, rows): (usize, ForeignValue),
        settle: impl FnOnce(bool) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        lookahead::draw(|| {
            let (run, number) = (Arc::clone(&self.run), self.number);
            let before = lock(&run.fills.adopted).get(&number).cloned();
            self.note(fill, own);
            let settle = move |counts: bool| {
                if !counts {
                    let mut adopted = lock(&run.fills.adopted);
                    adopted.remove(&number);
                    adopted.extend(before.map(|before| (number, before)));
                }
                settle(counts)
            };
            ((), Some(Draw::Fill(lookahead::Fill { cache, rows, settle: Box::new(settle) })))
        })
    }

    fn note(&self, fill: &Fill, own: bool) {
        let mut adopted = lock(&self.run.fills.adopted);
        let own = own || adopted.get(&self.number).is_some_and(|known| known.own);
        adopted.insert(self.number, Adopted { fill: fill.clone(), own });
    }

    /// The next draws below are those of `fill`.
    pub fn replay(&mut self, fill: &Fill) {
        if !fill.functions.is_empty() {
            self.place.set_epochs(fill.epochs);
        }
        for (id, key) in &fill.functions {
            lock(&self.run.keys).insert(id + self.functions.start, *key);
        }
        for (slot, pass) in &fill.nested {
            self.run.nested.replay(slot + self.slots.start, pass, fill.entropy);
        }
        let (mut draws, mut restored) = (lock(&self.run.draws), lock(&self.run.restored));
        for (slot, log) in &fill.draws {
            draws.remove(&(slot + self.slots.start));
            restored.insert(slot + self.slots.start, log.clone());
        }
    }

    /// True if the run was restored and some draws below are still to be made again.
    pub fn replays(&self) -> bool {
        let (draws, restored) = (lock(&self.run.draws), lock(&self.run.restored));
        let mut logs = draws.range(self.slots.clone()).chain(restored.range(self.slots.clone()));
        logs.any(|(_, log)| log.replays()) || self.run.nested.replays(self.slots.clone())
    }

    /// True if a pass that began now would draw as `fill` did, as far as that is settled.
    pub fn would_draw(&self, fill: &Fill) -> bool {
        let (draws, restored) = (lock(&self.run.draws), lock(&self.run.restored));
        let mut logs = draws.range(self.slots.clone()).chain(restored.range(self.slots.clone()));
        logs.all(|(slot, log)| {
            !log.replays()
                || fill
                    .draws
                    .get(&(slot - self.slots.start))
                    .is_some_and(|pass| log.begins_as(pass))
        }) && (!self.is_restored() || self.has_keys_of(fill) && !self.opens_anew(fill))
    }

    /// True if datasets that stages below open may draw otherwise in this run than in `fill`.
    fn opens_anew(&self, fill: &Fill) -> bool {
        !fill.nested.is_empty()
            && (self.run.nested.replays(self.slots.clone())
                || fill.entropy.is_some() && self.run.nested.entropy() != fill.entropy)
    }

    /// True if the functions below draw in this run by what they drew by in `fill`.
    fn has_keys_of(&self, fill: &Fill) -> bool {
        let keys = lock(&self.run.keys);
        let first = self.functions.start;
        fill.functions.iter().all(|(id, key)| keys.get(&(id + first)) == Some(key))
    }

    /// True if the run goes on from a state.
    pub fn is_restored(&self) -> bool {
        self.run.fills.restored
    }

    /// What [`CachePlace::keep`] kept.
    pub fn kept(&self) -> Option<ForeignValue> {
        lock(&self.run.fills.private).get(&self.number).cloned()
    }

    /// Keeps the filled cache for this run alone.
    pub fn keep(&self, rows: ForeignValue) {
        lock(&self.run.fills.private).insert(self.number, rows);
    }
}
