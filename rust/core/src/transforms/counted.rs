//! Elements whose number another plan knows: the records of several files in turn, which are as
//! many as those of one file after another.

use std::sync::Arc;

use crate::data::ElementSpec;
use crate::engine::stage::Passage;
use crate::engine::{Cardinality, Node, Opening, Plan, Stage};
use crate::error::Result;

/// The elements of a plan, as many as another has.
pub struct CountedNode {
    input: Plan,
    like: Plan,
}

impl CountedNode {
    /// A plan of the elements of `input`, which are as many as those of `like`.
    pub fn plan(input: Plan, like: Plan) -> Plan {
        Arc::new(CountedNode { input, like })
    }
}

impl Node for CountedNode {
    fn name(&self) -> &'static str {
        "counted"
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        self.input.spec()
    }

    fn cardinality(&self) -> Cardinality {
        self.like.cardinality()
    }

    fn find_elements(&self) -> Result<()> {
        self.like.find_elements()
    }

    fn is_passage(&self) -> bool {
        true
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Self::plan(input, Arc::clone(&self.like)))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        Ok(Box::new(Passage(opening.passage(0, &self.input)?)))
    }
}
