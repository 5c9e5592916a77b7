//! A stand-in for a dataset while a function that makes datasets is looked at: it has a spec and
//! no elements.

use std::sync::Arc;

use crate::data::ElementSpec;
use crate::engine::{Cardinality, Node, Opening, Plan, Stage};
use crate::error::{Error, Result};

/// Some dataset with elements of a spec.
pub struct PlaceholderNode {
    spec: ElementSpec,
}

impl PlaceholderNode {
    /// A plan that says what its elements look like and cannot be run.
    pub fn plan(spec: ElementSpec) -> Plan {
        Arc::new(PlaceholderNode { spec })
    }
}

impl Node for PlaceholderNode {
    fn name(&self) -> &'static str {
        "placeholder"
    }

    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
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

    fn open(&self, _: &Opening<'_>) -> Result<Box<dyn Stage>> {
        Err(Error::failed_precondition("a dataset of a function being looked at was run")
            .with_hint("use the datasets of a function in that function only"))
    }
}
