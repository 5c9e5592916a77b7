//! `Dataset.zip`: elements of several datasets side by side.

use std::sync::Arc;

use crate::data::{Chunk, ElementSpec, Mark, Structure};
use crate::engine::node::{caches, draws_on_the_way};
use crate::engine::skipping::{skip_on, told};
use crate::engine::stage::is_final;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};

/// Elements of several datasets, nested as the datasets were given.
pub struct ZipNode {
    inputs: Vec<Plan>,
    /// How the inputs nest: each leaf is one of them.
    nest: Structure,
    spec: ElementSpec,
}

impl ZipNode {
    /// A plan that takes an element of each input at a time and ends with the shortest.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no input.
    pub fn plan(nest: Structure, inputs: Vec<Plan>) -> Result<Plan> {
        if inputs.is_empty() {
            return Err(Error::invalid_argument("must pass at least one dataset to `zip`"));
        }
        let specs: Option<Vec<_>> = inputs.iter().map(|input| input.spec().specs()).collect();
        let spec = match specs {
            Some(specs) => {
                let structures: Vec<_> = inputs.iter().filter_map(structure).collect();
                let structure = fill(&nest, &mut structures.iter().map(|s| &**s))?;
                ElementSpec::Known(Arc::new(structure), specs.concat().into())
            }
            None => ElementSpec::Unknown,
        };
        Ok(Arc::new(ZipNode { inputs, nest, spec }))
    }
}

fn structure(plan: &Plan) -> Option<Arc<Structure>> {
    structure_of(plan.spec())
}

/// The nest with each leaf replaced by the structure of its input.
fn fill<'a>(
    nest: &Structure,
    parts: &mut impl Iterator<Item = &'a Structure>,
) -> Result<Structure> {
    Ok(match nest {
        Structure::Leaf => {
            let part = parts.next();
            part.ok_or_else(|| Error::internal("fewer inputs than leaves"))?.clone()
        }
        Structure::Nothing => Structure::Nothing,
        Structure::Tuple(items) => {
            Structure::Tuple(items.iter().map(|item| fill(item, parts)).collect::<Result<_>>()?)
        }
        Structure::Dict(items) => {
            let items = items.iter().map(|(key, item)| Ok((key.clone(), fill(item, parts)?)));
            Structure::Dict(items.collect::<Result<_>>()?)
        }
        Structure::Record(kind, items) => {
            let items = items.iter().map(|(name, item)| Ok((Arc::clone(name), fill(item, parts)?)));
            Structure::Record(Arc::clone(kind), items.collect::<Result<_>>()?)
        }
    })
}

impl Node for ZipNode {
    fn name(&self) -> &'static str {
        "zip"
    }

    fn inputs(&self) -> Vec<Plan> {
        self.inputs.clone()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        let all = self.inputs.iter().map(|input| input.cardinality());
        all.reduce(|a, b| match (a, b) {
            (Cardinality::Known(0), _) | (_, Cardinality::Known(0)) => Cardinality::Known(0),
            (Cardinality::Unknown, _) | (_, Cardinality::Unknown) => Cardinality::Unknown,
            (Cardinality::Known(a), Cardinality::Known(b)) => Cardinality::Known(a.min(b)),
            (Cardinality::Infinite, other) | (other, Cardinality::Infinite) => other,
        })
        .unwrap_or(Cardinality::Unknown)
    }

    fn is_indexable(&self) -> bool {
        true
    }

    fn with_inputs(&self, inputs: Vec<Plan>) -> Option<Plan> {
        Some(Arc::new(ZipNode { inputs, nest: self.nest.clone(), spec: self.spec.clone() }))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        Ok(Box::new(ZipStage {
            inputs: opening.all_inputs(&self.inputs)?,
            counts: self.inputs.iter().map(counts).collect(),
            nest: self.nest.clone(),
            structure: structure_of(&self.spec),
            ended: false,
        }))
    }
}

/// True if it draws seeds on its way, or fills a cache at its end.
fn counts(plan: &Plan) -> bool {
    draws_on_the_way(plan) || caches(plan) > 0
}

fn structure_of(spec: &ElementSpec) -> Option<Arc<Structure>> {
    match spec {
        ElementSpec::Known(structure, _) => Some(Arc::clone(structure)),
        ElementSpec::Unknown => None,
    }
}

struct ZipStage {
    inputs: Vec<Input>,
    /// Inputs of which it matters how often they are asked, though nobody takes what they give.
    counts: Vec<bool>,
    nest: Structure,
    structure: Option<Arc<Structure>>,
    ended: bool,
}

impl ZipStage {
    /// One chunk of each input, of equal rows; `None` at the end of one of them.
    fn side_by_side(&mut self, max: usize) -> Result<Option<Vec<Chunk>>> {
        // What must not run ahead decides how many rows there are, so it is asked last; two such
        // inputs go one by one.
        let loud = self.inputs.iter().filter(|input| !input.quiet()).count();
        let mut order: Vec<usize> = (0..self.inputs.len()).collect();
        let mut rows = max;
        match loud {
            0 => {}
            1 => order.sort_by_key(|i| !self.inputs[*i].quiet()),
            _ => rows = 1,
        }
        let mut chunks: Vec<Option<Chunk>> = vec![None; order.len()];
        for (asked, &i) in order.iter().enumerate() {
            match self.inputs[i].next(rows) {
                Ok(Some(chunk)) => {
                    rows = rows.min(chunk.rows());
                    chunks[i] = Some(chunk);
                }
                Ok(None) => {
                    // The inputs before it have moved on by one element, as in tf.data.
                    self.settle(&chunks, 1)?;
                    self.ask_once_more(&order[asked + 1..])?;
                    self.ended = true;
                    return Ok(None);
                }
                Err(error) if is_final(&error) => return Err(error),
                Err(error) => {
                    // A failed element takes the place of a whole row.
                    self.settle(&chunks, 1)?;
                    for &later in &order[asked + 1..] {
                        pass(&mut self.inputs[later], 1, &mut None)?;
                    }
                    return Err(error);
                }
            }
        }
        self.settle(&chunks, rows)?;
        chunks
            .into_iter()
            .map(|chunk| match chunk {
                Some(chunk) => chunk.slice(0..rows),
                None => Err(Error::internal("an input without a chunk")),
            })
            .collect::<Result<_>>()
            .map(Some)
    }

    /// At the end of one input tf.data asks each other one for an element too.
    fn ask_once_more(&mut self, others: &[usize]) -> Result<()> {
        for &other in others.iter().filter(|other| self.counts[**other]) {
            pass(&mut self.inputs[other], 1, &mut None)?;
        }
        Ok(())
    }

    /// Gives back what was taken beyond `rows` of each chunk.
    fn settle(&mut self, chunks: &[Option<Chunk>], rows: usize) -> Result<()> {
        for (input, chunk) in self.inputs.iter_mut().zip(chunks) {
            if let Some(chunk) = chunk {
                input.give_back(chunk, chunk.rows() - rows.min(chunk.rows()))?;
            }
        }
        Ok(())
    }
}

/// Passes outcomes of one input; the first error among them goes to `met`.
fn pass(input: &mut Input, n: u64, met: &mut Option<Error>) -> Result<u64> {
    skip_on(n, met, |left| input.skip(left))
}

impl Stage for ZipStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if self.ended {
            return Ok(None);
        }
        let mut passed = false;
        self.inputs.iter_mut().for_each(|input| passed |= input.passed_mark());
        let mark = passed.then(|| self.state()).flatten();
        let Some(chunks) = self.side_by_side(max)? else { return Ok(None) };
        let structure = match &self.structure {
            Some(structure) => Arc::clone(structure),
            None => {
                let structure = fill(&self.nest, &mut chunks.iter().map(|c| &**c.structure()))?;
                Arc::clone(self.structure.insert(Arc::new(structure)))
            }
        };
        let rows = chunks.first().map_or(0, Chunk::rows);
        let columns = chunks.into_iter().flat_map(Chunk::into_columns).collect();
        Ok(Some(Chunk::new(rows, structure, columns)?.marked(mark)))
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let counts = |i: &usize| self.counts[*i] || !self.inputs[*i].quiet();
        let mut order: Vec<usize> = (0..self.inputs.len()).collect();
        // Where several inputs can be observed, they go in turns, as they do in `next`; and so they do
        // where one runs functions, for an error in it must not find the others further on.
        let loud = self.inputs.iter().any(|input| !input.quiet());
        let step = if loud || order.iter().filter(|i| counts(i)).count() > 1 { 1 } else { n };
        if step == n {
            order.sort_by_key(counts);
        }
        let mut skipped = 0;
        // An error of one input takes the place of a row, so they all go on together.
        let mut met = None;
        while skipped < n && met.is_none() && !self.ended {
            let mut rows = step;
            // Those that were asked for no more than there is.
            let mut behind = Vec::new();
            for &i in &order {
                let asked = rows;
                rows = pass(&mut self.inputs[i], asked, &mut met)?;
                if rows < asked {
                    behind.clear();
                } else {
                    behind.push(i);
                }
            }
            self.ended = rows < step;
            if self.ended {
                self.ask_once_more(&behind)?;
            }
            skipped += rows;
        }
        told(skipped, met)
    }

    fn state(&self) -> Option<Mark> {
        Some(Mark::new([], self.inputs.iter().map(Input::position).collect()))
    }

    fn quiet(&self) -> bool {
        self.inputs.iter().all(Input::quiet)
    }
}
