//! `Dataset.group_by_window`: elements of one key gathered, and each full group reduced.
//!
//! A group that is full is given to a function as a dataset, and the elements of the dataset that
//! it returns are handed on. Groups that are left at the end follow in the order of their keys, or
//! of their first elements.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::data::{Chunk, Column, DType, ElementSpec, Spec, Structure, Tensor, Value};
use crate::engine::apply::{Apply, code_arg, function_arg, function_notes};
use crate::engine::nested::{Nested, dataset_value, inner_spec, plan_in};
use crate::engine::node::Arg;
use crate::engine::skipping::SkipError;
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};
use crate::graph::call::{Called, FunctionRun, Prepared, UserFunction};
use crate::random::Site;
use crate::sources::tensors::TensorsNode;

/// How many elements make a group.
#[derive(Clone)]
pub enum WindowSize {
    /// As many for each key.
    Fixed(i64),
    /// What a function of the key says.
    Function(Arc<dyn UserFunction>),
}

/// The order of the groups that are left at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum GroupOrder {
    /// By key, as in tf.data.
    Key,
    /// By the element that came first.
    First,
}

/// Groups of elements of one key, reduced.
pub struct GroupByWindowNode {
    input: Plan,
    key: Arc<dyn UserFunction>,
    reduce: Arc<dyn UserFunction>,
    size: WindowSize,
    order: GroupOrder,
    prepared: [Prepared; 2],
    window_spec: ElementSpec,
    spec: ElementSpec,
}

fn key_spec() -> ElementSpec {
    ElementSpec::leaf(Spec::scalar(DType::Int64))
}

impl GroupByWindowNode {
    /// A plan that groups the elements of `input` by `key`, and reduces each group.
    ///
    /// # Errors
    /// `InvalidArgument` for a size below 1, a key that is known to be no int64 scalar, or a
    /// reduction that is known to give no dataset.
    pub fn plan(
        input: Plan,
        key: Arc<dyn UserFunction>,
        reduce: Arc<dyn UserFunction>,
        size: WindowSize,
        order: GroupOrder,
    ) -> Result<Plan> {
        if let WindowSize::Fixed(size) = &size {
            check_size(*size)?;
        }
        let keyed = key.prepare(input.spec())?;
        check_scalar("key_func", &keyed)?;
        if let WindowSize::Function(function) = &size {
            check_scalar("window_size_func", &function.prepare(&key_spec())?)?;
        }
        let pair = Structure::Tuple(vec![Structure::Leaf, Structure::Leaf]);
        let window = Spec::dataset(input.spec().clone());
        let specs = [Spec::scalar(DType::Int64), window].into();
        let window_spec = ElementSpec::Known(Arc::new(pair), specs);
        let reduced = reduce.prepare(&window_spec)?;
        let spec = inner_spec("reduce_func", &reduced)?;
        let prepared = [keyed, reduced];
        Ok(Arc::new(GroupByWindowNode {
            input,
            key,
            reduce,
            size,
            order,
            prepared,
            window_spec,
            spec,
        }))
    }
}

fn check_size(size: i64) -> Result<usize> {
    usize::try_from(size).ok().filter(|size| *size > 0).ok_or_else(|| {
        Error::invalid_argument(format!("Window size must be greater than zero, but got {size}."))
    })
}

/// Fails if a function is known to give anything but an int64 scalar.
fn check_scalar(name: &str, prepared: &Prepared) -> Result<()> {
    let given = prepared.gives();
    let scalar = match &given {
        ElementSpec::Unknown => true,
        ElementSpec::Known(_, specs) => matches!(
            &specs[..],
            [Spec::Tensor { dtype: DType::Int64, shape }] if shape.rank().is_none_or(|rank| rank == 0)
        ),
    };
    if scalar {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "Invalid `{name}`. `{name}` must return a single int64 scalar, its result is {given}"
    ))
    .with_hint("convert the result with .astype(np.int64)"))
}

impl Node for GroupByWindowNode {
    fn name(&self) -> &'static str {
        "group_by_window"
    }

    fn args(&self) -> Vec<Arg> {
        let size = match &self.size {
            WindowSize::Fixed(size) => Arg::new("window_size", size),
            WindowSize::Function(function) => code_arg("window_size_func", function),
        };
        let [keyed, reduced] = &self.prepared;
        let mut args = vec![
            function_arg("key_func", &self.key, keyed),
            function_arg("reduce_func", &self.reduce, reduced),
        ];
        args.push(size);
        if self.order == GroupOrder::First {
            args.push(Arg::new("order", "first"));
        }
        args
    }

    fn notes(&self) -> Vec<String> {
        self.prepared.iter().flat_map(function_notes).collect()
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
        Some(&self.key)
    }

    fn functions(&self) -> Vec<&Arc<dyn UserFunction>> {
        let size = match &self.size {
            WindowSize::Fixed(_) => None,
            WindowSize::Function(function) => Some(function),
        };
        [&self.key, &self.reduce].into_iter().chain(size).collect()
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let key = opening.function(&self.key, self.input.spec())?;
        let reduce = opening.function_at(1, &self.reduce, &self.window_spec)?;
        let size = match &self.size {
            WindowSize::Fixed(size) => Size::Fixed(check_size(*size)?),
            WindowSize::Function(function) => {
                let site = opening.site(2, function);
                Size::Function(opening.function_at(2, function, &key_spec())?, site)
            }
        };
        let site = opening.site(0, &self.key);
        Ok(Box::new(GroupByWindowStage {
            input: opening.input(0, &self.input)?,
            key: Apply {
                function: key,
                site,
                stage: "group_by_window",
                declared: None,
                counts: false,
            },
            reduce,
            reduce_site: opening.site(1, &self.reduce),
            reduced: 0,
            size,
            nested: opening.nested(1, &self.reduce),
            stats: Arc::clone(&opening.stats),
            ready: VecDeque::new(),
            groups: BTreeMap::new(),
            order: self.order,
            begun: 0,
            rest: None,
            inner: None,
            taken: 0,
            held: 0,
            open_bytes: 0,
            ended: false,
        }))
    }
}

enum Size {
    Fixed(usize),
    Function(Arc<FunctionRun>, Site),
}

/// Elements of one key.
struct Group {
    /// Groups begun before it.
    number: u64,
    size: usize,
    rows: usize,
    chunks: Vec<Chunk>,
}

struct GroupByWindowStage {
    input: Input,
    key: Apply,
    reduce: Arc<FunctionRun>,
    reduce_site: Site,
    /// Number of groups that were reduced.
    reduced: u64,
    size: Size,
    nested: Nested,
    stats: Arc<StageStats>,
    /// Elements with their keys, and errors, that are still to be grouped.
    ready: VecDeque<Result<(i64, Chunk)>>,
    groups: BTreeMap<i64, Group>,
    order: GroupOrder,
    /// Number of groups that were begun.
    begun: u64,
    /// At the end of the input: the keys of the groups that are left.
    rest: Option<VecDeque<i64>>,
    /// The reduced group whose elements are handed on.
    inner: Option<Input>,
    taken: u64,
    /// Bytes in the groups, and in the reduced one.
    held: usize,
    /// Bytes in the reduced group.
    open_bytes: usize,
    ended: bool,
}

/// The single integer of a result.
fn integer(name: &str, done: &Chunk, row: usize) -> Result<i64> {
    if let [column] = done.columns()
        && let Value::Tensor(tensor) = column.row(row)?
        && tensor.dims().is_empty()
        && let Ok([value]) = tensor.values::<i64>()
    {
        return Ok(*value);
    }
    let given = done.loose_spec();
    Err(Error::invalid_argument(format!(
        "Invalid `{name}`. `{name}` must return a single int64 scalar, it returned {given}"
    ))
    .with_hint("convert the result with .astype(np.int64)"))
}

/// The only outcome of a call on one row.
fn single(called: Called) -> Result<Chunk> {
    match called {
        Called { error: Some(error), .. } => Err(error),
        Called { done: Some(done), .. } => Ok(done),
        Called { .. } => Err(Error::internal("a function gave no result")),
    }
}

impl GroupByWindowStage {
    /// Takes some elements and their keys; false at the end of the input.
    fn pull(&mut self) -> Result<bool> {
        let ahead = self.input.quiet() && !self.key.function.is_foreign_next();
        let chunk = if ahead { self.input.next_chunk(usize::MAX) } else { self.input.next(1) };
        let at = self.taken;
        self.taken += chunk.as_ref().map_or(1, |c| c.as_ref().map_or(0, |c| c.rows() as u64));
        let Some(chunk) = chunk? else { return Ok(false) };
        for outcome in self.key.outcomes(&chunk, at) {
            match outcome {
                Ok((first, keys)) => {
                    for row in 0..keys.rows() {
                        let one = |key| Ok((key, chunk.gather(&[first + row])?));
                        self.ready.push_back(integer("key_func", &keys, row).and_then(one));
                    }
                }
                Err(error) => self.ready.push_back(Err(error)),
            }
        }
        Ok(true)
    }

    /// Puts an element into its group; true if that is full now.
    fn add(&mut self, key: i64, element: Chunk) -> Result<bool> {
        if !self.groups.contains_key(&key) {
            let size = match &self.size {
                Size::Fixed(size) => *size,
                Size::Function(function, site) => {
                    let argument =
                        Chunk::of_column(Value::Tensor(Tensor::scalar(key)?).to_column()?)?;
                    let size = single(function.call(&argument, &site.at(self.begun)))?;
                    check_size(integer("window_size_func", &size, 0)?)?
                }
            };
            let number = self.begun;
            self.begun += 1;
            self.groups.insert(key, Group { number, size, rows: 0, chunks: Vec::new() });
        }
        let Some(group) = self.groups.get_mut(&key) else { return Ok(false) };
        self.held += element.own_bytes();
        self.stats.hold(self.held);
        group.rows += element.rows();
        group.chunks.push(element);
        Ok(group.rows >= group.size)
    }

    /// Reduces a group and opens the dataset it becomes.
    fn flush(&mut self, key: i64) -> Result<()> {
        let Some(group) = self.groups.remove(&key) else { return Ok(()) };
        self.open_bytes = group.chunks.iter().map(Chunk::own_bytes).sum();
        let window = Chunk::concat(group.chunks)?;
        let structure = (**window.structure()).clone();
        let window = dataset_value(TensorsNode::slices(structure, window.into_columns())?);
        let columns = vec![
            Value::Tensor(Tensor::scalar(key)?).to_column()?,
            Column::Foreign([window].into()),
        ];
        let pair = Arc::new(Structure::Tuple(vec![Structure::Leaf, Structure::Leaf]));
        let site = self.reduce_site.at(self.reduced);
        self.reduced += 1;
        let number = self.reduced - 1;
        let place = || format!("group_by_window {}, group {number}", self.reduce.function().name());
        let reduced = single(self.reduce.call(&Chunk::new(1, pair, columns)?, &site))
            .map_err(|error| error.at_node(place))?;
        let plan = match reduced.columns() {
            [column] => plan_in(column).ok(),
            _ => None,
        };
        let plan = plan.ok_or_else(|| {
            let given = reduced.loose_spec();
            Error::invalid_argument(format!(
                "`reduce_func` must return a `Dataset` object, it returned {given}"
            ))
        })?;
        self.inner = Some(self.nested.open(&plan)?);
        Ok(())
    }

    /// Lets the memory of the group that was reduced last go.
    fn leave(&mut self) {
        self.held = self.held.saturating_sub(std::mem::take(&mut self.open_bytes));
        self.stats.hold(self.held);
    }

    /// The next of the groups that are left at the end.
    fn next_of_rest(&mut self) -> Option<i64> {
        let (groups, order) = (&self.groups, self.order);
        let rest = self.rest.get_or_insert_with(|| {
            let mut keys: Vec<_> = groups.iter().map(|(key, group)| (group.number, *key)).collect();
            if order == GroupOrder::First {
                keys.sort_unstable();
            }
            keys.into_iter().map(|(_, key)| key).collect()
        });
        rest.pop_front()
    }

    /// Goes on to the next reduced group; false at the end of all.
    fn advance(&mut self) -> Result<bool> {
        self.inner = None;
        self.leave();
        while self.inner.is_none() {
            match self.ready.pop_front() {
                Some(Ok((key, element))) => {
                    if self.add(key, element)? {
                        self.flush(key)?;
                    }
                }
                Some(Err(error)) => return Err(error),
                None if self.ended => match self.next_of_rest() {
                    Some(key) => self.flush(key)?,
                    None => return Ok(false),
                },
                None => self.ended = !self.pull()?,
            }
        }
        Ok(true)
    }
}

impl Stage for GroupByWindowStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        loop {
            if let Some(inner) = &mut self.inner
                && let Some(chunk) = inner.next(max)?
            {
                return Ok(Some(chunk.marked(None)));
            }
            if !self.advance()? {
                return Ok(None);
            }
        }
    }

    fn skip(&mut self, n: u64) -> Skipped {
        let mut left = n;
        while left > 0 {
            if let Some(inner) = &mut self.inner {
                left -= inner.skip(left).map_err(|met| met.after(n - left))?;
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

    fn quiet(&self) -> bool {
        false
    }
}
