//! `Dataset.flat_map`: the datasets that a function makes of the elements, one after another.
//!
//! The function is called once for each element, when its dataset's turn comes. A run is resumed
//! at the start of the dataset it stood in.

use std::sync::Arc;

use crate::combine::joining::Joining;
use crate::combine::plans::{Before, Plans};
use crate::data::mark::MarkBody;
use crate::data::{Chunk, ElementSpec, Mark};
use crate::engine::apply::function_arg;
use crate::engine::apply::function_notes;
use crate::engine::nested::inner_spec;
use crate::engine::node::Arg;
use crate::engine::skipping::{SkipError, passed};
use crate::engine::stage::is_final;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::Result;
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
        !self.function.gives_quiet()
    }

    fn nests(&self) -> bool {
        true
    }

    fn function(&self) -> Option<&Arc<dyn UserFunction>> {
        Some(&self.function)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let input = opening.input(0, &self.input)?;
        let plans =
            Plans::open(opening, "flat_map", input, &self.function, self.input.spec(), false)?;
        let before = plans.before();
        let slot = opening.slot();
        let stage = FlatMapStage {
            slot,
            plans,
            inner: None,
            before,
            begins: false,
            asked_quiet: false,
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
    /// What was asked for may be more than is needed.
    asked_quiet: bool,
    joining: Joining,
}

impl FlatMapStage {
    /// Goes on to the next dataset; false at the end.
    fn advance(&mut self) -> Result<bool> {
        // The old dataset's stages go before the new ones come, so that they share no file.
        self.inner = None;
        self.before = self.plans.before();
        self.inner = self.plans.next()?.map(|(input, _)| input);
        self.begins = true;
        Ok(self.inner.is_some())
    }

    /// Some elements of one dataset, to be joined to `rows` others; `None` at the end, or where no
    /// more may be taken for now.
    fn step(&mut self, max: usize, rows: usize) -> Result<Option<Chunk>> {
        loop {
            // More was asked for than is needed, and in this dataset that is noticed.
            let too_much = self.asked_quiet && !self.plans.quiet();
            if too_much && rows > 0 {
                return Ok(None);
            }
            if let Some(inner) = &mut self.inner {
                match inner.next(if too_much { 1 } else { max }) {
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
        self.asked_quiet = self.plans.quiet();
        let chunk = joining.next(max, true, |left| self.step(left, max - left));
        self.joining = joining;
        chunk
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let mut left = n - self.joining.skip(n)?;
        while left > 0 {
            if let Some(inner) = &mut self.inner {
                let skipped = inner.skip(left);
                self.begins &= passed(&skipped) == 0;
                left -= skipped.map_err(|met| met.after(n - left))?;
                if left == 0 {
                    break;
                }
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Err(SkipError::behind(n - left, error)),
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
            ..MarkBody::default()
        };
        Some(Mark(Some(Arc::new(body))))
    }

    fn quiet(&self) -> bool {
        self.plans.quiet()
    }
}
