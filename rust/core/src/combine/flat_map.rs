//! `Dataset.flat_map`: the datasets that a function makes of the elements, one after another.
//!
//! The function is called once for each element, when its dataset's turn comes. A run is resumed
//! at the start of the dataset it stood in.

use std::sync::Arc;

use crate::combine::joining::Joining;
use crate::data::mark::MarkBody;
use crate::data::{Chunk, ElementSpec, Mark, Position};
use crate::engine::apply::{Apply, function_arg, function_notes};
use crate::engine::nested::{Nested, inner_spec, plan_in};
use crate::engine::node::Arg;
use crate::engine::stage::is_final;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Stage};
use crate::error::{Error, Result};
use crate::graph::call::{Prepared, UserFunction};

/// The elements of the datasets that a function makes of those of the input.
pub struct FlatMapNode {
    input: Plan,
    function: Arc<dyn UserFunction>,
    prepared: Prepared,
    spec: ElementSpec,
}

impl FlatMapNode {
    /// A plan that calls `function` on each element of `input`.
    ///
    /// # Errors
    /// `InvalidArgument` if the function is known to give anything but a dataset.
    pub fn plan(input: Plan, function: Arc<dyn UserFunction>) -> Result<Plan> {
        let prepared = function.prepare(input.spec())?;
        let spec = inner_spec("map_func", &prepared)?;
        Ok(Arc::new(FlatMapNode { input, function, prepared, spec }))
    }
}

/// The datasets of a function, made one by one of the elements of its input.
pub(crate) struct Plans {
    input: Input,
    work: Apply,
    nested: Nested,
    /// Elements taken from the input.
    taken: u64,
}

/// Where the plans of a stage stand.
#[derive(Clone)]
pub(crate) struct Before {
    /// Plans opened so far.
    pub(crate) openings: u64,
    /// Elements taken from the input.
    pub(crate) taken: u64,
    /// Where the input stands.
    pub(crate) position: Position,
}

impl Plans {
    /// The plans that `function` makes of what `input` gives, on behalf of the stage.
    ///
    /// # Errors
    /// What the function cannot be prepared for.
    pub(crate) fn open(
        opening: &Opening<'_>,
        stage: &'static str,
        input: Input,
        function: &Arc<dyn UserFunction>,
        spec: &ElementSpec,
    ) -> Result<Self> {
        let (site, nested) = (opening.site(0, function), opening.nested(0, function));
        let function = opening.function(function, spec)?;
        let work = Apply { function, site, stage, declared: None, counts: false };
        Ok(Plans { input, work, nested, taken: opening.mark.own(0) })
    }

    /// As [`Plans::open`], for plans that drivers of the stage pull from.
    ///
    /// # Errors
    /// As [`Plans::open`].
    pub(crate) fn open_driven(
        opening: &Opening<'_>,
        stage: &'static str,
        input: Input,
        function: &Arc<dyn UserFunction>,
        spec: &ElementSpec,
    ) -> Result<Self> {
        let mut plans = Self::open(opening, stage, input, function, spec)?;
        plans.nested = plans.nested.driven();
        Ok(plans)
    }

    /// Where the next dataset begins.
    pub(crate) fn before(&self) -> Before {
        let openings = self.nested.openings();
        Before { openings, taken: self.taken, position: self.input.position() }
    }

    /// The next dataset, opened; `None` at the end.
    ///
    /// # Errors
    /// Those of the input, of the function, and what the dataset's nodes cannot do: the next call
    /// goes on after it.
    pub(crate) fn next(&mut self) -> Result<Option<Input>> {
        let at = self.taken;
        let chunk = self.input.next(1);
        self.taken += u64::from(!matches!(chunk, Ok(None)));
        let Some(chunk) = chunk? else { return Ok(None) };
        let Some(outcome) = self.work.outcomes(&chunk, at).into_iter().next() else {
            return Err(Error::internal("a function gave no result"));
        };
        let (_, made) = outcome?;
        let [column] = made.columns() else { return Err(self.no_dataset(&made, at)) };
        let plan = plan_in(column).map_err(|_| self.no_dataset(&made, at))?;
        self.nested.open(&plan).map(Some)
    }

    fn no_dataset(&self, made: &Chunk, at: u64) -> Error {
        let given = made.loose_spec();
        let text = format!("`map_func` must return a `Dataset` object, it returned {given}");
        self.work.at_element(Error::invalid_argument(text), at)
    }
}

impl Node for FlatMapNode {
    fn name(&self) -> &'static str {
        "flat_map"
    }

    fn args(&self) -> Vec<Arg> {
        vec![function_arg("map_func", &self.function, &self.prepared)]
    }

    fn notes(&self) -> Vec<String> {
        function_notes(&self.prepared)
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Unknown
    }

    fn observable(&self) -> bool {
        true
    }

    fn nests(&self) -> bool {
        true
    }

    fn function(&self) -> Option<&Arc<dyn UserFunction>> {
        Some(&self.function)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let input = opening.input(0, &self.input)?;
        let plans = Plans::open(opening, "flat_map", input, &self.function, self.input.spec())?;
        let before = plans.before();
        let slot = opening.slot();
        let stage = FlatMapStage {
            slot,
            plans,
            inner: None,
            before,
            begins: false,
            joining: Joining::default(),
        };
        Ok(Box::new(stage))
    }
}

struct FlatMapStage {
    slot: usize,
    plans: Plans,
    inner: Option<Input>,
    /// Where the plans stood before the dataset at hand.
    before: Before,
    /// The next element is the first of its dataset.
    begins: bool,
    joining: Joining,
}

impl FlatMapStage {
    /// Goes on to the next dataset; false at the end.
    fn advance(&mut self) -> Result<bool> {
        // The old dataset's stages go before the new ones come, so that they share no file.
        self.inner = None;
        self.before = self.plans.before();
        self.inner = self.plans.next()?;
        self.begins = true;
        Ok(self.inner.is_some())
    }

    /// Some elements of one dataset.
    fn step(&mut self, max: usize) -> Result<Option<Chunk>> {
        loop {
            if let Some(inner) = &mut self.inner {
                match inner.next(max) {
                    Ok(Some(chunk)) => {
                        let begins = std::mem::take(&mut self.begins);
                        let mark = if begins { self.state() } else { None };
                        return Ok(Some(chunk.marked(mark)));
                    }
                    Ok(None) => {}
                    Err(error) => {
                        // The first outcome of its dataset, but an error carries no mark.
                        self.begins &= is_final(&error);
                        return Err(error);
                    }
                }
            }
            if !self.advance()? {
                return Ok(None);
            }
        }
    }
}

impl Stage for FlatMapStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        // What is asked for is certainly needed.
        let mut joining = std::mem::take(&mut self.joining);
        let chunk = joining.next(max, true, |max| self.step(max));
        self.joining = joining;
        chunk
    }

    fn skip(&mut self, n: u64) -> Result<u64> {
        let mut left = n - self.joining.skip(n);
        while left > 0 {
            if let Some(inner) = &mut self.inner {
                let skipped = inner.skip(left)?;
                self.begins &= skipped == 0;
                left -= skipped;
                if left == 0 {
                    break;
                }
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if is_final(&error) => return Err(error),
                Err(_) => left -= 1,
            }
        }
        Ok(n - left)
    }

    fn state(&self) -> Option<Mark> {
        let Before { openings, taken, position } = self.before.clone();
        let body = MarkBody {
            own: [taken].into_iter().collect(),
            inputs: vec![position],
            draws: vec![(self.slot, openings)],
        };
        Some(Mark(Some(Arc::new(body))))
    }

    fn quiet(&self) -> bool {
        false
    }
}
