//! `Dataset.enumerate`: elements with their numbers.

use std::sync::Arc;

use crate::data::{BufferMut, Chunk, Column, DType, ElementSpec, Mark, Spec, Structure, Tensor};
use crate::engine::node::Arg;
use crate::engine::skipping::passed;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::Result;

/// Pairs of an int64 number and the element.
#[derive(Clone)]
pub struct EnumerateNode {
    input: Plan,
    start: i64,
    spec: ElementSpec,
}

impl EnumerateNode {
    /// A plan of `(number, element)`, counting from `start`.
    pub fn plan(input: Plan, start: i64) -> Plan {
        let spec = match input.spec() {
            ElementSpec::Known(structure, specs) => {
                let number = Spec::scalar(DType::Int64);
                let specs = std::iter::once(number).chain(specs.iter().cloned()).collect();
                ElementSpec::Known(Arc::new(pair(structure)), specs)
            }
            ElementSpec::Unknown => ElementSpec::Unknown,
        };
        Arc::new(EnumerateNode { input, start, spec })
    }
}

fn pair(structure: &Structure) -> Structure {
    Structure::Tuple(vec![Structure::Leaf, structure.clone()])
}

impl Node for EnumerateNode {
    fn name(&self) -> &'static str {
        "enumerate"
    }

    fn args(&self) -> Vec<Arg> {
        vec![Arg::new("start", self.start)]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn with_inputs(&self, mut inputs: Vec<Plan>) -> Option<Plan> {
        let input = inputs.pop()?;
        Some(Arc::new(EnumerateNode { input, ..self.clone() }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let next = if opening.mark.is_start() { self.start } else { opening.mark.word(0) as i64 };
        let structure = match &self.spec {
            ElementSpec::Known(structure, _) => Some(Arc::clone(structure)),
            ElementSpec::Unknown => None,
        };
        let input = opening.input(0, &self.input)?;
        Ok(Box::new(EnumerateStage { input, next, structure }))
    }
}

struct EnumerateStage {
    input: Input,
    next: i64,
    structure: Option<Arc<Structure>>,
}

impl Stage for EnumerateStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mark = self.input.passed_mark().then(|| self.state()).flatten();
        let chunk = match self.input.next(max) {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Ok(None),
            Err(error) => {
                // An element that fails has a number too, as in tf.data.
                self.next = self.next.wrapping_add(1);
                return Err(error);
            }
        };
        let rows = chunk.rows();
        let mut numbers = BufferMut::scratch(rows * size_of::<i64>())?;
        for (i, number) in numbers.typed_mut::<i64>().iter_mut().enumerate() {
            *number = self.next.wrapping_add(i as i64);
        }
        self.next = self.next.wrapping_add(rows as i64);
        let numbers = Tensor::fixed(DType::Int64, [rows][..].into(), numbers.freeze())?;
        let columns = std::iter::once(Column::Stacked(numbers));
        let columns = columns.chain(chunk.columns().iter().cloned()).collect();
        let structure = self.structure.get_or_insert_with(|| Arc::new(pair(chunk.structure())));
        Ok(Some(Chunk::new(rows, Arc::clone(structure), columns)?.marked(mark)))
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let skipped = self.input.skip(n);
        self.next = self.next.wrapping_add(passed(&skipped) as i64);
        skipped
    }

    fn state(&self) -> Option<Mark> {
        Some(Mark::new([self.next as u64], vec![self.input.position()]))
    }

    fn quiet(&self) -> bool {
        self.input.quiet()
    }
}
