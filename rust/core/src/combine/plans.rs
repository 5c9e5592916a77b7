//! The datasets that a function makes of the elements of its input.
//!
//! An element is taken and its dataset's opening numbered in one go, in the order of the input; the
//! function may then be called, and the dataset opened, by whoever and whenever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::data::{Chunk, ElementSpec, Position};
use crate::engine::apply::Apply;
use crate::engine::lookahead::Lookahead;
use crate::engine::nested::{Nested, NestedPlace, plan_in};
use crate::engine::node::{fixed_length, is_quiet};
use crate::engine::{Input, Opening, Plan};
use crate::error::{Error, Result};
use crate::graph::call::UserFunction;

/// The datasets of a function, made one by one of the elements of its input.
pub(super) struct Plans {
    input: Input,
    maker: Arc<Maker>,
    /// Elements taken from the input.
    taken: u64,
}

/// Where the plans of a stage stand.
#[derive(Clone, Debug)]
pub(super) struct Before {
    /// Plans opened so far.
    pub(super) openings: u64,
    /// Elements taken from the input.
    pub(super) taken: u64,
    /// Where the input stands.
    pub(super) position: Position,
}

/// An element of which a dataset is to be made.
pub(super) struct Seedling {
    maker: Arc<Maker>,
    element: Chunk,
    /// Its number among those of the input.
    at: u64,
    place: NestedPlace,
}

/// Makes datasets of elements.
struct Maker {
    work: Apply,
    nested: Nested,
    /// Nobody can notice calls of the function.
    silent: bool,
    /// A dataset that it gave could be noticed, or drew from a generator that is not its own.
    loud: AtomicBool,
}

impl Plans {
    /// The plans that `function` makes of what `input` gives, on behalf of the stage. With `driven`
    /// drivers pull from them.
    ///
    /// # Errors
    /// What the function cannot be prepared for.
    pub(super) fn open(
        opening: &Opening<'_>,
        stage: &'static str,
        input: Input,
        function: &Arc<dyn UserFunction>,
        spec: &ElementSpec,
        driven: bool,
    ) -> Result<Self> {
        let (site, nested) = (opening.site(0, function), opening.nested(0, function));
        let nested = if driven { nested.driven() } else { nested };
        let function = opening.function(function, spec)?;
        let silent = function.function().is_silent();
        let work = Apply { function, site, stage, declared: None, counts: false };
        let maker = Maker { work, nested, silent, loud: AtomicBool::new(false) };
        Ok(Plans { input, maker: Arc::new(maker), taken: opening.mark.own(0) })
    }

    /// Where the next dataset begins.
    pub(super) fn before(&self) -> Before {
        let openings = self.maker.nested.openings();
        Before { openings, taken: self.taken, position: self.input.position() }
    }

    /// The element of the next dataset; `None` at the end.
    ///
    /// # Errors
    /// Those of the input: the next call goes on after it.
    pub(super) fn sow(&mut self) -> Result<Option<Seedling>> {
        let at = self.taken;
        let element = self.input.next(1);
        self.taken += u64::from(!matches!(element, Ok(None)));
        let Some(element) = element? else { return Ok(None) };
        let maker = Arc::clone(&self.maker);
        let place = maker.nested.next()?;
        Ok(Some(Seedling { maker, element, at, place }))
    }

    /// The next dataset, opened, with its length where that is known; `None` at the end.
    ///
    /// # Errors
    /// Those of the input, of the function, and what the dataset's nodes cannot do: the next call
    /// goes on after it.
    pub(super) fn next(&mut self) -> Result<Option<(Input, Option<u64>)>> {
        let Some(seedling) = self.sow()? else { return Ok(None) };
        let plan = seedling.plan()?;
        Ok(Some((seedling.open(&plan)?, fixed_length(&plan))))
    }

    /// True if more than is needed may be asked for: neither the input nor the function can be
    /// observed, nor could any dataset so far.
    pub(super) fn quiet(&self) -> bool {
        self.maker.silent && !self.maker.loud.load(Relaxed) && self.input.quiet()
    }
}

impl Seedling {
    /// The plan that the function makes of the element.
    ///
    /// # Errors
    /// Those of the function, or that it gives something else.
    pub(super) fn plan(&self) -> Result<Plan> {
        let outcomes = self.maker.work.outcomes(&self.element, self.at);
        let Some(outcome) = outcomes.into_iter().next() else {
            return Err(Error::internal("a function gave no result"));
        };
        let (_, made) = outcome?;
        let [column] = made.columns() else { return Err(self.no_dataset(&made)) };
        let plan = plan_in(column).map_err(|_| self.no_dataset(&made))?;
        if self.maker.silent && (!is_quiet(&plan) || draws_outside(&plan)) {
            self.maker.loud.store(true, Relaxed);
        }
        Ok(plan)
    }

    /// What reads the dataset ahead, if anything does.
    pub(super) fn lookahead(&self) -> Option<&Arc<Lookahead>> {
        self.place.lookahead()
    }

    /// Opens the plan.
    ///
    /// # Errors
    /// What its nodes cannot do.
    pub(super) fn open(&self, plan: &Plan) -> Result<Input> {
        self.place.open(plan)
    }

    fn no_dataset(&self, made: &Chunk) -> Error {
        let given = made.loose_spec();
        let text = format!("`map_func` must return a `Dataset` object, it returned {given}");
        self.maker.work.at_element(Error::invalid_argument(text), self.at)
    }
}

/// True if opening the plan draws from a generator that was not made for it.
pub(super) fn draws_outside(plan: &Plan) -> bool {
    plan.seeds().is_some_and(|seeds| !seeds.is_made_in_call())
        || plan.inputs().iter().any(draws_outside)
}
