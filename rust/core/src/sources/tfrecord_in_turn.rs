//! The records of several TFRecord files in turn, which with indices have a length and random access:
//! which record of which file has a number is worked out from the lengths of the files.
//!
//! In order they come from an `interleave`, which reads files side by side.

use std::any::Any;
use std::sync::Arc;

use super::tfrecord::TfRecordNode;
use super::turns::Turns;
use crate::data::ElementSpec;
use crate::engine::stage::Passage;
use crate::engine::sync::Mutex;
use crate::engine::{Cardinality, Node, Opening, Plan, Stage, lock};
use crate::error::Result;
use crate::graph::call::Called;

/// The records of some files in turn.
pub struct InTurnNode {
    /// Gives them in turn.
    input: Plan,
    /// Gives them one file after another, and knows how many they are.
    one_by_one: Plan,
    cycle: usize,
    /// Their order, once it was asked for.
    order: Mutex<Option<Arc<Order>>>,
}

/// The order of records in files with so many up to the end of each.
struct Order {
    ends: Arc<[u64]>,
    turns: Turns,
}

impl Order {
    /// The same number among the records of one file after another.
    fn translate(&self, number: u64) -> Option<u64> {
        let (file, record) = self.turns.place(number)?;
        Some(start(&self.ends, file) + record)
    }
}

/// Number of records before a file.
fn start(ends: &[u64], file: usize) -> u64 {
    file.checked_sub(1).map_or(0, |file| ends[file])
}

impl InTurnNode {
    /// A plan of the elements of `input`: those of `one_by_one`, `cycle` files at a time, one from each in
    /// turn.
    pub fn plan(input: Plan, one_by_one: Plan, cycle: usize) -> Plan {
        Arc::new(InTurnNode { input, one_by_one, cycle, order: Mutex::default() })
    }

    fn files(&self) -> Option<&TfRecordNode> {
        let node: &dyn Any = &*self.one_by_one;
        node.downcast_ref()
    }

    fn order(&self, ends: Arc<[u64]>) -> Arc<Order> {
        if let Some(known) = &*lock(&self.order)
            && Arc::ptr_eq(&known.ends, &ends)
        {
            return Arc::clone(known);
        }
        let counts = (0..ends.len()).map(|file| ends[file] - start(&ends, file));
        let turns = Turns::new(counts, self.cycle);
        let order = Arc::new(Order { ends, turns });
        *lock(&self.order) = Some(Arc::clone(&order));
        order
    }
}

impl Node for InTurnNode {
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
        self.one_by_one.cardinality()
    }

    fn find_elements(&self) -> Result<()> {
        self.one_by_one.find_elements()
    }

    fn is_passage(&self) -> bool {
        true
    }

    fn is_indexable(&self) -> bool {
        self.one_by_one.is_indexable()
    }

    fn is_indexable_alone(&self) -> bool {
        self.is_indexable()
    }

    fn has_elements_by_number(&self) -> bool {
        self.one_by_one.has_elements_by_number()
    }

    fn bytes_by_number(&self) -> Option<u64> {
        self.one_by_one.bytes_by_number()
    }

    fn gather(&self, numbers: &[u64]) -> Option<Called> {
        let order = match self.files()?.ends()? {
            Ok(ends) => self.order(ends),
            Err(error) => return Some(Called::failed(error)),
        };
        let numbers: Option<Vec<u64>> =
            numbers.iter().map(|number| order.translate(*number)).collect();
        self.one_by_one.gather(&numbers?)
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Self::plan(input, Arc::clone(&self.one_by_one), self.cycle))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        Ok(Box::new(Passage(opening.passage(0, &self.input)?)))
    }
}
