//! `Dataset.scan`: a function of each element and of a state that it hands on to the next.
//!
//! The state keeps its structure and dtypes; its shapes may change, and are then traced as unknown.
//! The function runs row by row, as a graph too. A mark carries the state where that is small;
//! else the stage is resumed by replaying what led to it.

use std::collections::VecDeque;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::data::shape::volume;
use crate::data::{
    BufferMut, Chunk, Column, Data, Dims, ElementSpec, Mark, Spec, Structure, Tensor,
};
use crate::engine::apply::{function_arg, function_notes};
use crate::engine::node::Arg;
use crate::engine::skipping::skip_by_running;
use crate::engine::stage::is_final;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};
use crate::graph::attr::feed_tensor;
use crate::graph::call::{FunctionRun, Prepared, UserFunction};
use crate::graph::hash::Fnv;
use crate::random::Site;

/// Words of a mark that a state may take.
const MARK_WORDS: usize = 32;

/// A state that a function gets with each element and returns anew.
#[derive(Clone)]
pub struct Carry {
    structure: Arc<Structure>,
    /// Of one row each.
    columns: Vec<Column>,
}

impl Carry {
    /// A state of these components, of one row each.
    ///
    /// # Errors
    /// `Internal` if a column has another number of rows, or the structure of leaves.
    pub fn new(structure: Structure, columns: Vec<Column>) -> Result<Self> {
        let structure = Arc::new(structure);
        Chunk::new(1, Arc::clone(&structure), columns.clone())?;
        Ok(Carry { structure, columns })
    }

    fn specs(&self) -> Vec<Spec> {
        self.columns.iter().map(exact_spec).collect()
    }

    /// The state as an element of a dataset.
    pub(crate) fn to_chunk(&self) -> Result<Chunk> {
        Chunk::new(1, Arc::clone(&self.structure), self.columns.clone())
    }

    /// How explain and states tell it from others.
    pub(crate) fn arg(&self) -> Arg {
        let mut hash = Fnv::default();
        for column in &self.columns {
            if let Column::Stacked(tensor) = column {
                feed_tensor(tensor, &mut hash);
            }
        }
        let list = self.specs().iter().map(Spec::to_string).collect::<Vec<_>>().join(", ");
        let (structure, hash) = (&self.structure, hash.finish());
        Arg::new("initial_state", format_args!("{structure} of ({list}) [{hash:016x}]"))
    }

    /// Fails if the next state has another structure or other dtypes.
    fn check(&self, structure: &Structure, columns: &[Column], name: &str) -> Result<()> {
        let same = |(a, b): (&Column, &Column)| match (a, b) {
            (Column::Stacked(a), Column::Stacked(b)) => a.dtype() == b.dtype(),
            _ => a.loose_spec().widen(&b.loose_spec()).is_some(),
        };
        if *structure == *self.structure && self.columns.iter().zip(columns).all(same) {
            return Ok(());
        }
        let seen: Vec<Spec> = columns.iter().map(exact_spec).collect();
        Err(differs(name, (&self.structure, &self.specs()), (structure, &seen)))
    }

    /// The state as numbers of a mark; `None` if it is large, or not of fixed-size values.
    fn words(&self) -> Option<SmallVec<[u64; 2]>> {
        let mut words = SmallVec::new();
        for column in &self.columns {
            let Column::Stacked(tensor) = column else { return None };
            let Data::Fixed(bytes) = tensor.data() else { return None };
            if words.len() + tensor.dims().len() + bytes.len().div_ceil(8) > MARK_WORDS {
                return None;
            }
            let dims = tensor.dims().get(1..).unwrap_or_default();
            words.push(dims.len() as u64);
            words.extend(dims.iter().map(|dim| *dim as u64));
            words.extend(bytes.chunks(8).map(|part| {
                let mut word = [0; 8];
                word[..part.len()].copy_from_slice(part);
                u64::from_le_bytes(word)
            }));
        }
        Some(words)
    }

    /// The state that gave these numbers, of the same structure and dtypes.
    fn restored(&self, words: &[u64]) -> Result<Self> {
        let mut words = words.iter().copied();
        let columns = self.columns.iter().map(|column| restored(column, &mut words));
        Ok(Carry {
            structure: Arc::clone(&self.structure),
            columns: columns.collect::<Result<_>>()?,
        })
    }
}

fn restored(like: &Column, words: &mut impl Iterator<Item = u64>) -> Result<Column> {
    let broken = || Error::invalid_argument("the state of an iterator is damaged");
    let mut next = || words.next().ok_or_else(broken);
    let dtype = like.dtype().ok_or_else(broken)?;
    let size = dtype.size().ok_or_else(broken)?;
    let rank = next()?.min(MARK_WORDS as u64);
    let dims: Dims = (0..rank).map(|_| Ok(next()? as usize)).collect::<Result<_>>()?;
    let length = volume(&dims)?.checked_mul(size).filter(|bytes| *bytes <= MARK_WORDS * 8);
    let mut bytes = BufferMut::scratch(length.ok_or_else(broken)?)?;
    for part in bytes.chunks_mut(8) {
        part.copy_from_slice(&next()?.to_le_bytes()[..part.len()]);
    }
    let dims = std::iter::once(1).chain(dims).collect();
    Ok(Column::Stacked(Tensor::fixed(dtype, dims, bytes.freeze())?))
}

/// Type and sizes of the rows of a column.
fn exact_spec(column: &Column) -> Spec {
    match column {
        Column::Stacked(tensor) => {
            let shape = tensor.dims().get(1..).unwrap_or_default().into();
            Spec::Tensor { dtype: tensor.dtype(), shape }
        }
        other => other.loose_spec(),
    }
}

fn differs(name: &str, own: (&Structure, &[Spec]), new: (&Structure, &[Spec])) -> Error {
    let list = |specs: &[Spec]| specs.iter().map(Spec::to_string).collect::<Vec<_>>().join(", ");
    let (a, b) = (list(own.1), list(new.1));
    Error::invalid_argument(format!(
        "invalid `{name}`: the new state must match the initial state, expected {} of ({a}), got \
         {} of ({b})",
        own.0, new.0
    ))
    .with_hint("give the initial state the dtype that the function returns")
}

/// What a function of state and element returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Returns {
    /// The new state.
    State,
    /// The new state and an element.
    Pair,
}

impl Returns {
    fn function(self) -> &'static str {
        match self {
            Returns::State => "reduce_func",
            Returns::Pair => "scan_func",
        }
    }

    /// The structures of the state and of the element in that of a result.
    fn split(self, result: &Structure) -> Result<(&Structure, &Structure)> {
        match (self, result) {
            (Returns::State, state) => Ok((state, &Structure::Nothing)),
            (Returns::Pair, Structure::Tuple(items)) if items.len() == 2 => {
                Ok((&items[0], &items[1]))
            }
            (Returns::Pair, Structure::Record(_, items)) if items.len() == 2 => {
                Ok((&items[0].1, &items[1].1))
            }
            (Returns::Pair, other) => Err(Error::invalid_argument(format!(
                "invalid `scan_func`: it should return a pair of the new state and the output \
                 value, it returns {other}"
            ))),
        }
    }
}

/// A function with what it is called with.
pub(crate) struct CarryFunction {
    pub(crate) function: Arc<dyn UserFunction>,
    pub(crate) prepared: Prepared,
    pub(crate) initial: Carry,
    pub(crate) returns: Returns,
    /// What its arguments look like: the state, and the element.
    arguments: ElementSpec,
}

impl CarryFunction {
    /// Traces a function for elements of `input`, with state shapes that it keeps.
    ///
    /// # Errors
    /// `InvalidArgument` if it is known to change the state's structure or dtypes.
    pub(crate) fn new(
        function: Arc<dyn UserFunction>,
        initial: Carry,
        input: &ElementSpec,
        returns: Returns,
    ) -> Result<Self> {
        let ElementSpec::Known(structure, specs) = input else {
            let arguments = ElementSpec::Unknown;
            let prepared = function.prepare(&arguments)?;
            return Ok(CarryFunction { function, prepared, initial, returns, arguments });
        };
        let mut state = initial.specs();
        let pair = vec![(*initial.structure).clone(), (**structure).clone()];
        let pair = Arc::new(Structure::Tuple(pair));
        loop {
            let leaves = state.iter().chain(specs.iter()).cloned().collect();
            let arguments = ElementSpec::Known(Arc::clone(&pair), leaves);
            let prepared = function.prepare(&arguments)?;
            let widened = match prepared.gives() {
                ElementSpec::Unknown => None,
                ElementSpec::Known(structure, specs) => {
                    let (new, _) = returns.split(&structure)?;
                    let seen = &specs[..new.leaves()];
                    let widened = state.iter().zip(seen).map(|(a, b)| a.widen(b));
                    let widened = widened.collect::<Option<Vec<_>>>();
                    let name = returns.function();
                    match widened.filter(|_| *new == *initial.structure) {
                        None => {
                            return Err(differs(name, (&initial.structure, &state), (new, seen)));
                        }
                        widened => widened.filter(|widened| *widened != state),
                    }
                }
            };
            // Shapes only get wider, so this ends.
            match widened {
                Some(widened) => state = widened,
                None => {
                    return Ok(CarryFunction { function, prepared, initial, returns, arguments });
                }
            }
        }
    }

    /// What the output values look like, or the final state.
    pub(crate) fn spec(&self) -> Result<ElementSpec> {
        let ElementSpec::Known(structure, specs) = self.prepared.gives() else {
            return Ok(ElementSpec::Unknown);
        };
        let (state, output) = self.returns.split(&structure)?;
        Ok(match (self.returns, &self.arguments) {
            (Returns::Pair, _) => {
                ElementSpec::Known(Arc::new(output.clone()), specs[state.leaves()..].into())
            }
            // Of no elements the initial state is left, so its shape counts too.
            (Returns::State, ElementSpec::Known(_, arguments)) => {
                ElementSpec::Known(Arc::new(state.clone()), arguments[..state.leaves()].into())
            }
            (Returns::State, ElementSpec::Unknown) => ElementSpec::Unknown,
        })
    }

    pub(crate) fn args(&self) -> Vec<Arg> {
        vec![
            self.initial.arg(),
            function_arg(self.returns.function(), &self.function, &self.prepared),
        ]
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        function_notes(&self.prepared)
    }

    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self.prepared, Prepared::Foreign { .. })
    }

    /// The function in a run, with the state that it has come to.
    pub(crate) fn open(
        &self,
        opening: &Opening<'_>,
        carry: Carry,
        called: u64,
    ) -> Result<CarryRun> {
        let function = opening.function(&self.function, &self.arguments)?;
        Ok(CarryRun {
            function,
            site: opening.site(0, &self.function),
            carry,
            returns: self.returns,
            called,
            arguments: None,
            output: None,
        })
    }
}

/// A function in one run with its state.
pub(crate) struct CarryRun {
    pub(crate) function: Arc<FunctionRun>,
    site: Site,
    pub(crate) carry: Carry,
    returns: Returns,
    /// Number of calls.
    called: u64,
    /// Structure of the elements, and of the arguments that they make with the state.
    arguments: Option<[Arc<Structure>; 2]>,
    output: Option<Arc<Structure>>,
}

impl CarryRun {
    /// Calls the function on the state and one element; gives the output value. If it fails the
    /// state stays.
    pub(crate) fn step(&mut self, element: &Chunk) -> Result<Chunk> {
        let number = self.called;
        self.called = self.called.saturating_add(1);
        self.call(element, number).map_err(|error| {
            let stage = if self.returns == Returns::Pair { "scan" } else { "reduce" };
            let name = || format!("{stage} {}, element {number}", self.function.function().name());
            error.at_node(name)
        })
    }

    fn call(&mut self, element: &Chunk, number: u64) -> Result<Chunk> {
        let structure = self.structure(element.structure());
        let columns = self.carry.columns.iter().chain(element.columns()).cloned().collect();
        let arguments = Chunk::new(1, structure, columns)?;
        let called = self.function.call(&arguments, &self.site.at(number));
        let result = match (called.done, called.error) {
            (_, Some(error)) => return Err(error),
            (Some(result), None) if result.rows() == 1 => result,
            _ => return Err(Error::internal("a function gave no result")),
        };
        let structure = Arc::clone(result.structure());
        let (state, output) = self.returns.split(&structure)?;
        let leaves = state.leaves();
        self.carry.check(state, &result.columns()[..leaves], self.returns.function())?;
        if !self.function.is_native() && self.returns == Returns::Pair {
            self.function.hold(&result)?;
        }
        let mut columns = result.into_columns();
        let outputs = columns.split_off(leaves);
        let output = match &self.output {
            Some(known) if **known == *output => Arc::clone(known),
            _ => Arc::clone(self.output.insert(Arc::new(output.clone()))),
        };
        let output = Chunk::new(1, output, outputs)?;
        self.carry.columns = columns;
        Ok(output)
    }

    fn structure(&mut self, element: &Arc<Structure>) -> Arc<Structure> {
        if let Some([of, arguments]) = &self.arguments
            && Arc::ptr_eq(of, element)
        {
            return Arc::clone(arguments);
        }
        let pair = vec![(*self.carry.structure).clone(), (**element).clone()];
        let arguments = Arc::new(Structure::Tuple(pair));
        self.arguments = Some([Arc::clone(element), Arc::clone(&arguments)]);
        arguments
    }
}

/// The output values of a function of state and element.
pub struct ScanNode {
    input: Plan,
    function: CarryFunction,
    spec: ElementSpec,
}

impl ScanNode {
    /// A plan that calls `function` on a state, at first `initial`, and each element of `input`;
    /// it returns the next state and what is yielded.
    ///
    /// # Errors
    /// `InvalidArgument` if it is known to return anything else.
    pub fn plan(input: Plan, initial: Carry, function: Arc<dyn UserFunction>) -> Result<Plan> {
        let function = CarryFunction::new(function, initial, input.spec(), Returns::Pair)?;
        let spec = function.spec()?;
        Ok(Arc::new(ScanNode { input, function, spec }))
    }
}

impl Node for ScanNode {
    fn name(&self) -> &'static str {
        "scan"
    }

    fn args(&self) -> Vec<Arg> {
        self.function.args()
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

    fn observable(&self) -> bool {
        self.function.is_foreign()
    }

    fn notes(&self) -> Vec<String> {
        self.function.notes()
    }

    fn function(&self) -> Option<&Arc<dyn UserFunction>> {
        Some(&self.function.function)
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let initial = &self.function.initial;
        // The state, and after it the number of calls.
        let (carry, called) = match opening.mark.0.as_ref().and_then(|body| body.own.split_last()) {
            None => (initial.clone(), 0),
            Some((called, words)) => (initial.restored(words)?, *called),
        };
        let function = self.function.open(opening, carry, called)?;
        let input = opening.input(0, &self.input)?;
        Ok(Box::new(ScanStage { input, function, ready: VecDeque::new() }))
    }
}

struct ScanStage {
    input: Input,
    function: CarryRun,
    ready: VecDeque<Result<Chunk>>,
}

impl ScanStage {
    fn run(&mut self, chunk: &Chunk) -> Result<()> {
        let mut outputs = Vec::new();
        for row in 0..chunk.rows() {
            let error = match self.function.step(&chunk.slice(row..row + 1)?) {
                Ok(output) => {
                    outputs.push(output);
                    continue;
                }
                Err(error) => error,
            };
            if !outputs.is_empty() {
                self.ready.push_back(Chunk::concat(std::mem::take(&mut outputs)));
            }
            let over = is_final(&error);
            self.ready.push_back(Err(error));
            if over {
                return Ok(());
            }
        }
        if !outputs.is_empty() {
            self.ready.push_back(Chunk::concat(outputs));
        }
        Ok(())
    }
}

impl Stage for ScanStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mut mark = None;
        if self.ready.is_empty() {
            if self.input.passed_mark() {
                mark = self.state();
            }
            let function = &self.function.function;
            // The first element alone is tried both ways: the function must not run ahead.
            let alone = function.is_native() && function.is_foreign_next();
            let Some(chunk) = self.input.next(if alone { 1 } else { max })? else {
                return Ok(None);
            };
            self.run(&chunk)?;
        }
        match self.ready.pop_front() {
            Some(outcome) => outcome.map(|chunk| Some(chunk.marked(mark))),
            None => Err(Error::internal("a function gave no results")),
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        skip_by_running(n, |max| self.next(max))
    }

    fn state(&self) -> Option<Mark> {
        let mut words = self.function.carry.words()?;
        words.push(self.function.called);
        self.ready.is_empty().then(|| Mark::new(words, vec![self.input.position()]))
    }

    fn quiet(&self) -> bool {
        self.function.function.is_native() && self.input.quiet()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Value;

    #[test]
    fn a_small_state_goes_into_a_mark_and_comes_out_again() {
        let columns = vec![
            Column::Stacked(Tensor::from_values(&[1], &[-7_i64]).unwrap()),
            Column::Stacked(Tensor::from_values(&[1, 3], &[1.5_f32, 2.5, 3.5]).unwrap()),
        ];
        let pair = Structure::Tuple(vec![Structure::Leaf, Structure::Leaf]);
        let carry = Carry::new(pair, columns).unwrap();
        let words = carry.words().unwrap();
        let again = carry.restored(&words).unwrap();
        let row = |carry: &Carry, i: usize| match carry.columns[i].row(0).unwrap() {
            Value::Tensor(tensor) => tensor,
            _ => panic!("not dense"),
        };
        assert_eq!(row(&again, 0), row(&carry, 0));
        assert_eq!(row(&again, 1), row(&carry, 1));
        assert!(carry.restored(&words[..2]).is_err());
    }

    #[test]
    fn a_large_state_is_left_out_of_marks() {
        let column = Column::Stacked(Tensor::from_values(&[1, 100], &[0_i64; 100]).unwrap());
        assert!(Carry::new(Structure::Leaf, vec![column]).unwrap().words().is_none());
    }
}
