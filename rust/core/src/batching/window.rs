//! `Dataset.window`: runs of elements that follow each other, as datasets or as arrays.
//!
//! A window has `size` elements, each `stride` after the one before; the next one starts `shift`
//! elements later. Elements that lie in several windows are held once. An error stands for each
//! window that has it among its elements.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::batching::batch::batched;
use crate::batching::stacking::stack;
use crate::data::{Chunk, Column, ElementSpec, Mark, Spec, Structure};
use crate::engine::nested::dataset_value;
use crate::engine::node::Arg;
use crate::engine::run::RunContext;
use crate::engine::skipping::{skip_by_running, skip_on};
use crate::engine::stage::is_final;
use crate::engine::stats::StageStats;
use crate::engine::{Cardinality, Input, Node, Opening, Plan, Skipped, Stage};
use crate::error::{Error, Result};
use crate::sources::tensors::TensorsNode;

/// Elements taken ahead of a quiet input, so that overlapping windows are not copied each time.
const AHEAD: usize = 1024;

/// Windows over the elements of the input.
pub struct WindowNode {
    input: Plan,
    shape: Shape,
    drop_remainder: bool,
    as_arrays: bool,
    spec: ElementSpec,
}

/// Which elements are in a window.
#[derive(Clone, Copy)]
struct Shape {
    size: usize,
    shift: usize,
    stride: usize,
}

impl Shape {
    /// Elements from the first to the last of a window.
    fn span(self) -> usize {
        (self.size - 1).saturating_mul(self.stride).saturating_add(1)
    }

    /// How many windows start, and with `whole` end, within `elements`.
    fn windows(self, elements: u64, whole: bool) -> u64 {
        let (span, shift) = (self.span() as u64, self.shift as u64);
        match whole {
            true if elements < span => 0,
            true => (elements - span) / shift + 1,
            false => elements.div_ceil(shift),
        }
    }
}

impl WindowNode {
    /// A plan of windows: a dataset for each component, or with `as_arrays` an array.
    ///
    /// # Errors
    /// `InvalidArgument` for a size, shift or stride below 1.
    pub fn plan(
        input: Plan,
        size: i64,
        shift: Option<i64>,
        stride: i64,
        drop_remainder: bool,
        as_arrays: bool,
    ) -> Result<Plan> {
        let number = |name: &str, value: i64| {
            usize::try_from(value).ok().filter(|value| *value > 0).ok_or_else(|| {
                let text = format!("window {name} must be greater than zero, got {value}");
                Error::invalid_argument(text)
            })
        };
        let (size, stride) = (number("size", size)?, number("stride", stride)?);
        let shift = shift.map_or(Ok(size), |shift| number("shift", shift))?;
        let sizes = (drop_remainder && as_arrays).then_some(size);
        let spec = input.spec().try_map(|spec| {
            Ok::<_, Error>(match as_arrays {
                true => batched(spec, sizes)?,
                false => Spec::dataset(ElementSpec::leaf(spec.clone())),
            })
        })?;
        let shape = Shape { size, shift, stride };
        Ok(Arc::new(WindowNode { input, shape, drop_remainder, as_arrays, spec }))
    }
}

impl Node for WindowNode {
    fn name(&self) -> &'static str {
        "window"
    }

    fn args(&self) -> Vec<Arg> {
        vec![
            Arg::new("size", self.shape.size),
            Arg::new("shift", self.shape.shift),
            Arg::new("stride", self.shape.stride),
            Arg::new("drop_remainder", self.drop_remainder),
            Arg::new("as_arrays", self.as_arrays),
        ]
    }

    fn inputs(&self) -> Vec<Plan> {
        vec![Arc::clone(&self.input)]
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality().map(|n| self.shape.windows(n, self.drop_remainder))
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        Ok(Box::new(WindowStage {
            input: opening.input(0, &self.input)?,
            run: Arc::clone(opening.run),
            stats: Arc::clone(&opening.stats),
            shape: self.shape,
            drop_remainder: self.drop_remainder,
            as_arrays: self.as_arrays,
            held: VecDeque::new(),
            count: 0,
            ended: false,
        }))
    }
}

/// What the next windows are made of.
enum Held {
    Rows(Chunk),
    Failed(Error),
}

impl Held {
    fn len(&self) -> usize {
        match self {
            Held::Rows(chunk) => chunk.rows(),
            Held::Failed(_) => 1,
        }
    }
}

struct WindowStage {
    input: Input,
    run: Arc<RunContext>,
    stats: Arc<StageStats>,
    shape: Shape,
    drop_remainder: bool,
    as_arrays: bool,
    held: VecDeque<Held>,
    /// Outcomes held.
    count: usize,
    ended: bool,
}

impl WindowStage {
    /// Holds the outcomes of the next window, as far as there are; false if there is no window.
    fn fill(&mut self) -> Result<bool> {
        let span = self.shape.span();
        let ahead = self.input.quiet() && self.shape.shift < span;
        while self.count < span && !self.ended {
            let wanted = span - self.count;
            match self.input.next(if ahead { wanted.max(AHEAD) } else { wanted }) {
                Ok(Some(chunk)) => {
                    self.count += chunk.rows();
                    self.held.push_back(Held::Rows(chunk.marked(None)));
                }
                Ok(None) => self.ended = true,
                Err(error) if is_final(&error) => return Err(error),
                Err(error) => {
                    self.run.note_failure();
                    self.count += 1;
                    self.held.push_back(Held::Failed(error));
                }
            }
        }
        self.account();
        Ok(self.count > 0 && (self.count >= span || !self.drop_remainder))
    }

    fn account(&self) {
        let bytes = self.held.iter().map(|held| match held {
            Held::Rows(chunk) => chunk.own_bytes(),
            Held::Failed(_) => 0,
        });
        self.stats.hold(bytes.sum());
    }

    /// Passes over elements that belong to no window, or to windows that nobody wants: as in
    /// tf.data, nobody hears of errors among them.
    fn pass(&mut self, n: u64) -> Result<u64> {
        skip_on(n, &mut None, |left| self.input.skip(left))
    }

    /// Lets the elements before the window after the next `windows` go.
    fn shift(&mut self, windows: usize) -> Result<()> {
        let mut left = self.shape.shift.saturating_mul(windows);
        while left > 0 {
            let Some(first) = self.held.pop_front() else { break };
            let here = first.len().min(left);
            left -= here;
            self.count -= here;
            if let Held::Rows(chunk) = first
                && here < chunk.rows()
            {
                self.held.push_front(Held::Rows(chunk.slice(here..chunk.rows())?));
            }
        }
        if left > 0 && !self.ended {
            self.ended = self.pass(left as u64)? < left as u64;
        }
        Ok(())
    }

    /// The elements of so many windows that are held whole, or of one that is not.
    fn rows(&mut self, windows: usize) -> Result<Chunk> {
        let span = self.shape.span().min(self.count);
        let last = (windows - 1) * self.shape.shift + span;
        let mut failed = None;
        let mut at = 0;
        for held in &self.held {
            if let Held::Failed(error) = held
                && at < last
                && at % self.shape.stride == 0
                && failed.is_none()
            {
                failed = Some(Error::new(error.kind(), error.to_string()));
            }
            at += held.len();
        }
        if let Some(mut failed) = failed {
            // The first window with the error has the user's own; later ones tell of it.
            if let Some(Held::Failed(own)) = self.held.front_mut() {
                std::mem::swap(own, &mut failed);
            }
            return Err(failed);
        }
        // Errors between the elements of a window are none of it: their places stay empty.
        let mut indices = Vec::with_capacity(windows * self.shape.size);
        let mut places = Vec::new();
        let mut row = 0;
        for held in &self.held {
            match held {
                Held::Rows(chunk) => {
                    places.extend((row..row + chunk.rows()).map(Some));
                    row += chunk.rows();
                }
                Held::Failed(_) => places.push(None),
            }
        }
        for window in 0..windows {
            let first = window * self.shape.shift;
            let picked = (first..first + span).step_by(self.shape.stride);
            indices.extend(picked.filter_map(|at| places.get(at).copied().flatten()));
        }
        let chunks = self.held.iter().filter_map(|held| match held {
            Held::Rows(chunk) => Some(chunk.clone()),
            Held::Failed(_) => None,
        });
        let joined = Chunk::concat(chunks.collect())?;
        if self.held.iter().all(|held| matches!(held, Held::Rows(_))) {
            self.held = VecDeque::from([Held::Rows(joined.clone())]);
        }
        match (indices.first(), indices.last()) {
            (Some(first), Some(last)) if indices.windows(2).all(|pair| pair[1] == pair[0] + 1) => {
                joined.slice(*first..last + 1)
            }
            _ => joined.gather(&indices),
        }
    }

    /// Windows of `size` elements each.
    fn windows(&self, rows: &Chunk, size: usize) -> Result<Chunk> {
        let windows = rows.rows() / size;
        let columns = rows.columns().iter().enumerate().map(|(i, column)| {
            if self.as_arrays {
                return stack(column, size, i);
            }
            let datasets = (0..windows).map(|window| {
                // A window outlives its chunk: it holds its own elements and no others.
                let own = column.slice(window * size..(window + 1) * size)?.into_owned()?;
                Ok(dataset_value(TensorsNode::slices(Structure::Leaf, vec![own])?))
            });
            Ok(Column::Foreign(datasets.collect::<Result<_>>()?))
        });
        Chunk::new(windows, Arc::clone(rows.structure()), columns.collect::<Result<_>>()?)
    }

    fn has_errors(&self) -> bool {
        self.held.iter().any(|held| matches!(held, Held::Failed(_)))
    }
}

impl Stage for WindowStage {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        let mark = self.input.passed_mark().then(|| self.state()).flatten();
        if !self.fill()? {
            return Ok(None);
        }
        let span = self.shape.span();
        let mut windows = 1;
        if self.count >= span && !self.has_errors() {
            windows = ((self.count - span) / self.shape.shift + 1).min(max);
        }
        let whole = self.count >= span;
        let rows = self.rows(windows);
        self.shift(windows)?;
        self.account();
        let rows = rows?;
        let size = if whole { self.shape.size } else { rows.rows() };
        Ok(Some(self.windows(&rows, size)?.marked(mark)))
    }

    fn skip(&mut self, n: u64) -> Skipped {
        if self.run.has_failed() {
            return skip_by_running(n, |max| self.next(max));
        }
        let mut left = n;
        if self.count == 0 && n > 1 && self.shape.shift >= self.shape.span() {
            let wanted = (n - 1).saturating_mul(self.shape.shift as u64);
            let skipped = self.pass(wanted)?;
            if skipped < wanted {
                self.ended = true;
                return Ok(self.shape.windows(skipped, self.drop_remainder));
            }
            left = 1;
        }
        while left > 0 && self.fill()? {
            self.shift(1)?;
            left -= 1;
        }
        Ok(n - left)
    }

    fn state(&self) -> Option<Mark> {
        (self.count == 0).then(|| Mark::new([], vec![self.input.position()]))
    }

    fn quiet(&self) -> bool {
        self.input.quiet()
    }
}
