//! RaggedFeature: a list cut into nested rows, at places that other lists name.
//!
//! Each Example is cut by itself, from the innermost level outwards; a batch joins the row splits
//! of its Examples. Levels of uniform length that lie innermost are axes of the values.

use crate::data::{Column, DType, Dims, PartialShape, RaggedColumn, Spec, Tensor, Value};
use crate::error::{Error, Result};
use crate::formats::parse::decode::Decoded;
use crate::formats::parse::flat::Flat;
use crate::formats::parse::message::{Batch, check_rows};
use crate::formats::parse::plan::{Partition, flat};
use crate::formats::parse::varlen::rows_of;

/// So many rows without values may be named by row ids: a record of a few bytes must not ask for
/// row splits of any length.
const MAX_EMPTY_ROWS: usize = 1 << 16;

/// What the numbers of a partition mean.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    Splits,
    Lengths,
    Starts,
    Limits,
    RowIds,
}

#[derive(Clone, Debug, PartialEq)]
enum Level {
    Uniform(usize),
    /// The rule, and the source of the numbers.
    Listed(Rule, usize),
}

/// Which sources hold what, and how the values are cut.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ragged {
    values: usize,
    /// Outermost first, without the uniform levels that lie innermost.
    levels: Vec<Level>,
    /// Sizes of those.
    inner: Dims,
    splits_dtype: DType,
    validate: bool,
}

/// The row splits of one level.
#[derive(Default)]
struct Splits {
    /// Those of each Example end to end.
    splits: Vec<i64>,
    /// Where they end, starting with 0.
    offsets: Vec<usize>,
    /// How many parts each Example has that this level joins to rows.
    parts: Vec<usize>,
}

/// All levels, outermost first.
struct Cut {
    levels: Vec<Splits>,
    /// Number of outermost rows of each Example.
    rows: Vec<usize>,
}

impl Ragged {
    pub(super) fn new(
        values: usize,
        partitions: Vec<Partition>,
        splits_dtype: DType,
        validate: bool,
        mut source: impl FnMut(&str) -> Result<usize>,
    ) -> Result<Self> {
        if !matches!(splits_dtype, DType::Int32 | DType::Int64) {
            return Err(Error::invalid_argument(format!(
                "row_splits_dtype must be int32 or int64, got {splits_dtype}"
            )));
        }
        let mut level = |partition: &Partition| {
            let (rule, key) = match partition {
                Partition::RowSplits(key) => (Rule::Splits, key),
                Partition::RowLengths(key) => (Rule::Lengths, key),
                Partition::RowStarts(key) => (Rule::Starts, key),
                Partition::RowLimits(key) => (Rule::Limits, key),
                Partition::ValueRowIds(key) => (Rule::RowIds, key),
                Partition::UniformRowLength(0) => {
                    return Err(Error::invalid_argument("a uniform row length must be at least 1"));
                }
                Partition::UniformRowLength(length) => return Ok(Level::Uniform(*length)),
            };
            Ok(Level::Listed(rule, source(key)?))
        };
        let mut levels: Vec<Level> = partitions.iter().map(&mut level).collect::<Result<_>>()?;
        let mut inner = Dims::new();
        while let Some(Level::Uniform(length)) = levels.last() {
            inner.insert(0, *length);
            levels.pop();
        }
        crate::data::shape::volume(&inner)?;
        Ok(Ragged { values, levels, inner, splits_dtype, validate })
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = usize> {
        let listed = self.levels.iter().filter_map(|level| match level {
            Level::Uniform(_) => None,
            Level::Listed(_, source) => Some(*source),
        });
        listed.chain([self.values])
    }

    fn shape(&self) -> PartialShape {
        let levels = self.levels.iter().map(|level| match level {
            Level::Uniform(length) => Some(*length),
            Level::Listed(..) => None,
        });
        let inner = self.inner.iter().map(|size| Some(*size));
        PartialShape::new(std::iter::once(None).chain(levels).chain(inner))
    }

    /// Spec of one Example: a dense array if nothing in it is ragged.
    pub(super) fn spec(&self, dtype: DType) -> Spec {
        let (shape, splits_dtype) = (self.shape(), self.splits_dtype);
        match self.levels.len() {
            0 => Spec::Tensor { dtype, shape },
            ragged_rank => Spec::Ragged { dtype, shape, ragged_rank, splits_dtype },
        }
    }

    /// Spec of a batch whose Examples have this spec.
    pub(super) fn batch_spec(&self, spec: &Spec) -> Spec {
        Spec::Ragged {
            dtype: spec.dtype().unwrap_or(DType::Bytes),
            shape: self.shape().prepend(None),
            ragged_rank: self.levels.len() + 1,
            splits_dtype: self.splits_dtype,
        }
    }

    fn cut(&self, key: &str, decoded: &[Option<Decoded>], batch: &Batch<'_>) -> Result<Cut> {
        let values = flat(decoded, self.values)?;
        let volume: usize = self.inner.iter().product();
        check_rows(batch, key, |row| {
            let count = values.range(row).len();
            (!count.is_multiple_of(volume))
                .then(|| format!("{count} values do not make rows of uniform length {volume}"))
        })?;
        let mut rows: Vec<usize> = values.lengths().map(|count| count / volume).collect();
        let mut levels = Vec::new();
        for level in self.levels.iter().rev() {
            let mut cut = Splits { offsets: vec![0], parts: rows.clone(), ..Splits::default() };
            let listed = match level {
                Level::Uniform(_) => None,
                Level::Listed(_, source) => Some(flat(decoded, *source)?),
            };
            let listed_values = listed.map(|flat| flat.values.values::<i64>()).transpose()?;
            check_rows(batch, key, |row| {
                let range = listed.map_or(0..0, |flat| flat.range(row));
                let numbers = listed_values.map_or(&[][..], |values| &values[range]);
                let parts = rows[row];
                let start = cut.splits.len();
                if let Err(message) = level.split(numbers, parts, &mut cut.splits) {
                    return Some(message);
                }
                cut.offsets.push(cut.splits.len());
                rows[row] = cut.splits.len() - start - 1;
                let splits = &cut.splits[start..];
                (self.validate && !fits(splits, parts)).then(|| {
                    not_aligned(key, &format!("row splits {} for {parts} parts", Shown(splits)))
                })
            })?;
            levels.push(cut);
        }
        levels.reverse();
        Ok(Cut { levels, rows })
    }

    /// Row splits as a tensor of the type asked for; too large ones wrap, as a cast does.
    pub(super) fn splits(&self, splits: &[i64]) -> Result<Tensor> {
        match self.splits_dtype {
            DType::Int32 => {
                let narrow: Vec<i32> = splits.iter().map(|split| *split as i32).collect();
                Tensor::from_values(&[narrow.len()], &narrow)
            }
            _ => Tensor::from_values(&[splits.len()], splits),
        }
    }

    fn value_shape(&self, count: usize) -> Dims {
        let volume: usize = self.inner.iter().product();
        std::iter::once(count / volume).chain(self.inner.iter().copied()).collect()
    }

    /// Ragged tensors, one a row; dense ones if nothing in them is ragged.
    pub(super) fn rows(
        &self,
        key: &str,
        decoded: &[Option<Decoded>],
        batch: &Batch<'_>,
    ) -> Result<Column> {
        let flat: &Flat = flat(decoded, self.values)?;
        let cut = self.cut(key, decoded, batch)?;
        let values = rows_of(flat.values.clone(), flat.lengths(), |n| self.value_shape(n))?;
        if self.levels.is_empty() {
            return Ok(values);
        }
        let level = |level: &Splits| {
            let lengths = level.offsets.windows(2).map(|pair| pair[1] - pair[0]);
            rows_of(self.splits(&level.splits)?, lengths, |n| Dims::from_slice(&[n]))
        };
        let splits = cut.levels.iter().map(level).collect::<Result<_>>()?;
        Ok(Column::Ragged(Box::new(RaggedColumn { values, splits })))
    }

    /// One ragged tensor, whose outermost level are the Examples.
    pub(super) fn batch(
        &self,
        key: &str,
        decoded: &[Option<Decoded>],
        batch: &Batch<'_>,
    ) -> Result<Value> {
        let flat: &Flat = flat(decoded, self.values)?;
        let cut = self.cut(key, decoded, batch)?;
        let mut outermost = vec![0];
        let mut end = 0;
        for rows in &cut.rows {
            end += *rows as i64;
            outermost.push(end);
        }
        let mut splits = vec![self.splits(&outermost)?];
        for level in &cut.levels {
            splits.push(self.splits(&level.join())?);
        }
        let values = flat.values.clone().reshape(self.value_shape(flat.values.len()))?;
        Ok(Value::Ragged { values, splits })
    }
}

impl Splits {
    /// The row splits over the parts of all Examples.
    fn join(&self) -> Vec<i64> {
        let mut joined = vec![self.splits.first().copied().unwrap_or(0)];
        let mut base = 0;
        for (ends, parts) in self.offsets.windows(2).zip(&self.parts) {
            let own = &self.splits[ends[0] + 1..ends[1]];
            joined.extend(own.iter().map(|split| split.wrapping_add(base)));
            base += *parts as i64;
        }
        joined
    }
}

impl Level {
    /// Appends the row splits, at least one number, of `parts` parts cut as `numbers` say.
    fn split(&self, numbers: &[i64], parts: usize, out: &mut Vec<i64>) -> Result<(), String> {
        match self {
            Level::Uniform(length) => {
                out.extend((0..=parts / length).map(|row| (row * length) as i64));
            }
            Level::Listed(Rule::Splits, _) if numbers.is_empty() => out.push(0),
            Level::Listed(Rule::Splits, _) => out.extend_from_slice(numbers),
            Level::Listed(Rule::Limits, _) => {
                out.push(0);
                out.extend_from_slice(numbers);
            }
            Level::Listed(Rule::Starts, _) => {
                out.extend_from_slice(numbers);
                out.push(parts as i64);
            }
            Level::Listed(Rule::Lengths, _) => sum_up(numbers.iter().copied(), out),
            Level::Listed(Rule::RowIds, _) => sum_up(row_lengths(numbers)?.into_iter(), out),
        }
        Ok(())
    }
}

fn sum_up(lengths: impl Iterator<Item = i64>, out: &mut Vec<i64>) {
    out.push(0);
    let mut end = 0_i64;
    out.extend(lengths.map(|length| {
        end = end.wrapping_add(length);
        end
    }));
}

/// How often each row id occurs, up to the largest.
fn row_lengths(ids: &[i64]) -> Result<Vec<i64>, String> {
    let limit = ids.len() + MAX_EMPTY_ROWS;
    let row = |id: &i64| usize::try_from(*id).ok().filter(|id| *id < limit);
    let rows: Option<Vec<usize>> = ids.iter().map(row).collect();
    let rows =
        rows.ok_or_else(|| format!("row ids must lie between 0 and {limit}, got {}", Shown(ids)))?;
    let mut lengths = vec![0; rows.iter().max().map_or(0, |last| last + 1)];
    rows.iter().for_each(|row| lengths[*row] += 1);
    Ok(lengths)
}

/// What is said of values and partitions that do not fit each other, in TensorFlow's words.
pub(super) fn not_aligned(key: &str, detail: &str) -> String {
    format!("Feature {key}: values and partitions are not aligned: {detail}")
}

/// True if `splits` cut exactly `parts` parts.
fn fits(splits: &[i64], parts: usize) -> bool {
    splits.first() == Some(&0) && splits.last() == Some(&(parts as i64)) && splits.is_sorted()
}

/// At most ten numbers.
struct Shown<'a>(&'a [i64]);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let head: Vec<_> = self.0.iter().take(10).map(i64::to_string).collect();
        let more = if self.0.len() > 10 { ", …" } else { "" };
        write!(f, "[{}{more}]", head.join(", "))
    }
}
