//! Where and how stages are opened.
//!
//! A plan is opened from its root down. Each stage stands somewhere in the tree of the run, which its
//! seeds, functions, caches and counters go by, whoever opens it and how often.

use std::sync::Arc;

use crate::data::{ElementSpec, Mark, Position};
use crate::engine::fills::CachePlace;
use crate::engine::lookahead::Lookahead;
use crate::engine::nested::Nested;
use crate::engine::node::{
    Node, Plan, caches, draws, functions, is_cache, past_noops, past_prefetches, seed_slots, size,
};
use crate::engine::run::RunContext;
use crate::engine::seeds::SeedPair;
use crate::engine::stage::Input;
use crate::engine::stats::{Metered, StageStats};
use crate::error::Result;
use crate::graph::call::{FunctionRun, UserFunction};
use crate::random::Site;
use crate::random::site::epochs_within;

/// Where and how a stage is opened.
pub struct Opening<'a> {
    /// The run it belongs to.
    pub run: &'a Arc<RunContext>,
    /// From where in its elements it goes on.
    pub mark: Mark,
    /// Counters of the stage.
    pub stats: Arc<StageStats>,
    plan: &'a dyn Node,
    spot: Spot,
}

/// Where a node stands in the tree of a run.
#[derive(Clone, Default)]
struct Spot {
    /// Place of the node in the tree, counted from the root.
    id: usize,
    /// Number of its first seed among those of the plan.
    slot: usize,
    /// Number of its first function among those of the plan.
    function: usize,
    /// Number of its first cache among those of the plan.
    cache: usize,
    depth: usize,
    /// What reads it ahead, on threads that change.
    lookahead: Option<Arc<Lookahead>>,
    /// Nobody will ask it for elements: only what opening it draws matters.
    in_vain: bool,
    /// It is below a shard, whose marks must tell how much of the input was read.
    sharded: bool,
    /// The epochs of the `repeat`s above.
    epochs: u64,
    /// How many they are.
    repeats: usize,
}

impl Spot {
    /// Moves on behind `plan`, to the next input of the same stage.
    fn pass(&mut self, plan: &Plan) {
        self.id += size(plan);
        self.slot += seed_slots(plan);
        self.function += functions(plan);
        self.cache += caches(plan);
    }
}

impl<'a> Opening<'a> {
    /// Opens a whole plan at `position`.
    ///
    /// # Errors
    /// Those of the nodes.
    pub fn root(run: &'a Arc<RunContext>, plan: &'a Plan, position: Position) -> Result<Input> {
        Place::root(run, None).open(plan, position)
    }

    /// Opens input `index` where the mark says; its marks are wrapped in marks of this stage.
    ///
    /// # Errors
    /// Those of the nodes.
    pub fn input(&self, index: usize, plan: &Plan) -> Result<Input> {
        self.place(index).open(plan, self.mark.input(index))
    }

    /// Opens all inputs in their order, as [`Opening::input`] does: for stages that may have many.
    ///
    /// # Errors
    /// Those of the nodes.
    pub fn all_inputs(&self, plans: &[Plan]) -> Result<Vec<Input>> {
        let mut place = self.place(0);
        let open = |(index, plan): (usize, &Plan)| {
            let input = place.open(plan, self.mark.input(index));
            place.spot.pass(plan);
            input
        };
        plans.iter().enumerate().map(open).collect()
    }

    /// Opens input `index` at this stage's own mark: for stages through which marks pass.
    ///
    /// # Errors
    /// Those of the nodes.
    pub fn passage(&self, index: usize, plan: &Plan) -> Result<Input> {
        self.place(index).open(plan, Position { mark: self.mark.clone(), since: 0 })
    }

    /// Opens the only input at `position`; `driven` if a driver of this stage pulls from it.
    ///
    /// # Errors
    /// Those of the nodes.
    pub fn input_at(&self, plan: &Plan, position: Position, driven: bool) -> Result<Input> {
        match driven {
            true => self.place(0).open_driven(plan, position),
            false => self.place(0).open(plan, position),
        }
    }

    /// As [`Opening::passage`], below a driver of this stage.
    ///
    /// # Errors
    /// Those of the nodes.
    pub fn driven_passage(&self, index: usize, plan: &Plan) -> Result<Input> {
        self.place(index).open_driven(plan, Position { mark: self.mark.clone(), since: 0 })
    }

    /// Where this very stage stands, for those that open plans in its stead.
    pub fn here(&self) -> OwnedPlace {
        OwnedPlace { run: Arc::clone(self.run), spot: self.spot.clone() }
    }

    /// Where input `index` is opened, for stages that open it again and again.
    pub fn place(&self, index: usize) -> Place<'a> {
        let mut spot = Spot {
            id: self.spot.id + 1,
            slot: self.spot.slot + usize::from(draws(self.plan)),
            function: self.spot.function + self.plan.function_count(),
            cache: self.spot.cache + usize::from(is_cache(self.plan)),
            depth: self.spot.depth + 1,
            sharded: self.spot.sharded || self.plan.shard().is_some(),
            ..self.spot.clone()
        };
        self.plan.inputs().iter().take(index).for_each(|before| spot.pass(before));
        Place { run: self.run, spot }
    }

    /// The stage's function, prepared for this run.
    ///
    /// # Errors
    /// What the function cannot be prepared for.
    pub fn function(
        &self,
        function: &Arc<dyn UserFunction>,
        input: &ElementSpec,
    ) -> Result<Arc<FunctionRun>> {
        self.function_at(0, function, input)
    }

    /// The stage's function number `index`, prepared for this run.
    ///
    /// # Errors
    /// What the function cannot be prepared for.
    pub fn function_at(
        &self,
        index: usize,
        function: &Arc<dyn UserFunction>,
        input: &ElementSpec,
    ) -> Result<Arc<FunctionRun>> {
        self.run.function(self.spot.function + index, function, input)
    }

    /// What random ops in the stage's function number `index` draw by, at its first element.
    pub fn site(&self, index: usize, function: &Arc<dyn UserFunction>) -> Site {
        self.run.site(self.spot.function + index, &**function, self.spot.epochs)
    }

    /// Where this stage, a cache, stands in the run.
    pub fn cache_place(&self, input: &Plan) -> CachePlace {
        let place = self.place(0);
        let slots = place.spot.slot..place.spot.slot + seed_slots(input);
        let functions = place.spot.function..place.spot.function + functions(input);
        let (run, number) = (Arc::clone(self.run), self.spot.cache);
        CachePlace { run, place: place.to_owned(), number, slots, functions }
    }

    /// Whether this stage, a `repeat` of `plan`, opens its input once more at its end.
    pub fn draws_in_vain(&self, plan: &Plan) -> bool {
        // tf.data fuses a shuffle with the repeat right on it, and then draws no seed in vain.
        let by_shape = past_noops(plan).name() != "shuffle";
        match past_prefetches(plan).name() {
            "shuffle" => self.run.draws_in_vain(self.spot.slot, self.spot.repeats, by_shape),
            _ => by_shape,
        }
    }

    /// Number of the stage's seeds among those of the run.
    pub fn slot(&self) -> usize {
        self.spot.slot
    }

    /// What opens the plans that are elements or results of this stage's function number
    /// `index`.
    pub fn nested(&self, index: usize, function: &Arc<dyn UserFunction>) -> Nested {
        let lookahead = self.spot.lookahead.clone();
        Nested::new(self.run, self.spot.slot, lookahead, self.site(index, function))
    }

    /// True if a driver pulls from it, on threads that change.
    pub fn is_driven(&self) -> bool {
        self.spot.lookahead.is_some()
    }

    /// True if nobody will ask it for elements: only what opening it draws matters.
    pub fn is_in_vain(&self) -> bool {
        self.spot.in_vain
    }

    /// True below a shard, whose marks must tell how much of the input was read.
    pub fn is_sharded(&self) -> bool {
        self.spot.sharded
    }

    /// True for the outermost stage, whose elements go to the user.
    pub fn is_root(&self) -> bool {
        self.spot.depth == 0
    }

    /// What reads it ahead, if anything does.
    pub(crate) fn lookahead(&self) -> Option<&Arc<Lookahead>> {
        self.spot.lookahead.as_ref()
    }

    /// The next seed pair of this stage's node.
    ///
    /// # Errors
    /// `Cancelled` if nobody will take what it gives.
    pub fn draw(&self) -> Result<SeedPair> {
        match self.plan.seeds() {
            Some(generator) => self.run.draw(self.spot.slot, generator),
            None => Ok((0, 0)),
        }
    }
}

/// A place in the tree of a run at which plans are opened.
#[derive(Clone)]
pub struct Place<'a> {
    run: &'a Arc<RunContext>,
    spot: Spot,
}

/// A [`Place`] that a stage keeps.
#[derive(Clone)]
pub struct OwnedPlace {
    run: Arc<RunContext>,
    spot: Spot,
}

impl<'a> Place<'a> {
    /// The place of a whole plan.
    pub(crate) fn root(run: &'a Arc<RunContext>, lookahead: Option<Arc<Lookahead>>) -> Self {
        let depth = usize::from(run.is_nested());
        Place { run, spot: Spot { depth, lookahead, ..Spot::default() } }
    }

    /// Opens `plan` here at `position`.
    ///
    /// # Errors
    /// Those of the nodes.
    pub fn open(&self, plan: &Plan, position: Position) -> Result<Input> {
        let (run, spot) = (self.run, self.spot.clone());
        let stats = run.stats(spot.id, spot.depth, plan);
        run.note_unfixed(plan);
        let (mark, plan) = (position.mark.clone(), &**plan);
        let nested = run.is_nested() && spot.id == 0;
        let stage = plan.open(&Opening { run, mark, stats: Arc::clone(&stats), plan, spot })?;
        let stage = Box::new(Metered::new(stage, Arc::clone(&stats), nested));
        Ok(Input::at(position, stage, run, &stats))
    }

    /// Opens `plan` here at `position`, for a driver.
    fn open_driven(mut self, plan: &Plan, position: Position) -> Result<Input> {
        let lookahead = Lookahead::new(self.run, self.spot.lookahead.as_ref());
        self.spot.lookahead = Some(Arc::clone(&lookahead));
        Ok(self.open(plan, position)?.read_ahead_by(lookahead))
    }

    /// The same place for keeping.
    pub fn to_owned(&self) -> OwnedPlace {
        OwnedPlace { run: Arc::clone(self.run), spot: self.spot.clone() }
    }
}

impl OwnedPlace {
    /// Opens `plan` here at `position`.
    ///
    /// # Errors
    /// Those of the nodes.
    pub fn open(&self, plan: &Plan, position: Position) -> Result<Input> {
        Place { run: &self.run, spot: self.spot.clone() }.open(plan, position)
    }

    fn at(&self, spot: Spot) -> Self {
        OwnedPlace { run: Arc::clone(&self.run), spot }
    }

    /// The same place within epoch `number` of the `repeat` right above.
    #[must_use]
    pub fn in_epoch(&self, number: u64) -> Self {
        let Spot { epochs, repeats, .. } = self.spot;
        let epochs = epochs_within(epochs, repeats, number);
        self.at(Spot { epochs, repeats: repeats + 1, ..self.spot.clone() })
    }

    /// The same place within the first epoch of each `repeat` above.
    #[must_use]
    pub fn in_first_epochs(&self) -> Self {
        let first = |epochs, depth| epochs_within(epochs, depth, 0);
        self.at(Spot { epochs: (0..self.spot.repeats).fold(0, first), ..self.spot.clone() })
    }

    /// The same place, for a plan of which nobody will ask an element.
    #[must_use]
    pub(crate) fn in_vain(&self) -> Self {
        self.at(Spot { in_vain: true, ..self.spot.clone() })
    }

    /// The epochs it is in.
    pub(crate) fn epochs(&self) -> u64 {
        self.spot.epochs
    }

    /// The same place in these epochs.
    pub(crate) fn set_epochs(&mut self, epochs: u64) {
        self.spot.epochs = epochs;
    }

    /// Draws made so far by the seeded stages of `plan`, opened here.
    pub fn draws(&self, plan: &Plan) -> Vec<(usize, u64)> {
        self.run.draw_counts(self.spot.slot..self.spot.slot + seed_slots(plan))
    }

    /// The caches of `plan`, opened here, that are filled by now.
    pub fn filled(&self, plan: &Plan) -> Vec<usize> {
        self.run.fills.filled(self.spot.cache..self.spot.cache + caches(plan))
    }
}
