//! Features, and the plan they make: which keys are read how, and what is made of them.

use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{BytesArray, Column, DType, Dims, PartialShape, Spec, Tensor, Value, Wanted};
use crate::error::{Error, Result};
use crate::formats::parse::decode::{Decoded, decode};
use crate::formats::parse::message::{Batch, type_name};
use crate::formats::parse::ragged::Ragged;
use crate::formats::parse::sparse::Sparse;
use crate::formats::parse::varlen;

/// How one feature of an Example is to be read. Types are int64, float32 and bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Feature {
    /// A dense array of the same shape in every Example.
    FixedLen {
        /// Type of the values.
        dtype: DType,
        /// Shape, which must be known.
        shape: PartialShape,
        /// What stands in for a missing feature; without it a missing feature is an error.
        default: Option<Tensor>,
    },
    /// A list of any length, given as a sparse tensor.
    VarLen {
        /// Type of the values.
        dtype: DType,
    },
    /// A list of any number of rows of one shape; a batch is padded.
    FixedLenSequence {
        /// Type of the values.
        dtype: DType,
        /// Shape of one row, which must be known.
        shape: PartialShape,
        /// Must be true: a missing feature is an empty list.
        allow_missing: bool,
        /// The one value that a batch is padded with, if not 0 or an empty string.
        default: Option<Tensor>,
    },
    /// A list of any length, cut into nested rows.
    Ragged {
        /// Type of the values.
        dtype: DType,
        /// Key of the values, if not the name of the feature.
        value_key: Option<String>,
        /// How the values are cut, outermost first.
        partitions: Vec<Partition>,
        /// Type of the row splits: int32 or int64.
        row_splits_dtype: DType,
        /// Whether row splits that do not fit the values are an error.
        validate: bool,
    },
    /// Values and their indices, in lists of their own, given as a sparse tensor.
    Sparse {
        /// Keys of the indices, one an axis.
        index_keys: Vec<String>,
        /// Key of the values.
        value_key: String,
        /// Type of the values.
        dtype: DType,
        /// Dense shape.
        size: Vec<i64>,
        /// Whether indices are in order as they come.
        already_sorted: bool,
    },
}

/// How a level of a ragged feature is cut; all but the last name the key of an int64 list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partition {
    /// Where rows start and end, in one list.
    RowSplits(String),
    /// How long rows are.
    RowLengths(String),
    /// Where rows start.
    RowStarts(String),
    /// Where rows end.
    RowLimits(String),
    /// The row of each value.
    ValueRowIds(String),
    /// All rows have this length.
    UniformRowLength(usize),
}

/// How the list of one key is read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    pub(super) key: Arc<str>,
    pub(super) dtype: DType,
    pub(super) form: Form,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// As many values as the shape holds.
    Fixed { dims: Dims, volume: usize, default: Option<Tensor> },
    /// Any multiple of the stride.
    Flat { dims: Dims, stride: usize },
}

/// What is made of the sources; numbers are indices of sources.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Output {
    Fixed(usize),
    VarLen(usize),
    Sequence { source: usize, dims: Dims, padding: Option<Tensor> },
    Ragged(Ragged),
    Sparse(Sparse),
}

/// Features made ready for parsing many Examples.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsePlan {
    pub(super) names: Vec<Arc<str>>,
    pub(super) sources: Vec<Source>,
    outputs: Vec<Output>,
    specs: Vec<Spec>,
    is_numbered: bool,
}

impl ParsePlan {
    /// A plan for these features; outputs keep their order.
    ///
    /// # Errors
    /// `InvalidArgument`, naming the feature, for no features, a type that Examples do not hold,
    /// a shape that is not known, a default of another type or size, a FixedLenSequence that does
    /// not allow missing features, a Sparse with another number of sizes than index keys.
    pub fn new(features: Vec<(String, Feature)>) -> Result<Self> {
        if features.is_empty() {
            return Err(Error::invalid_argument("features cannot be empty")
                .with_hint("name at least one feature to parse"));
        }
        let mut plan = ParsePlan {
            names: Vec::new(),
            sources: Vec::new(),
            outputs: Vec::new(),
            specs: Vec::new(),
            is_numbered: true,
        };
        for (name, feature) in features {
            plan.add(&name, feature).map_err(|error| error.at_feature(&name))?;
        }
        Ok(plan)
    }

    fn add(&mut self, name: &str, feature: Feature) -> Result<()> {
        let (output, spec) = match feature {
            Feature::FixedLen { dtype, shape, default } => {
                let dims = known(&shape, "FixedLenFeature").map_err(|error| {
                    error.with_hint(
                        "consider using FixedLenSequenceFeature, VarLenFeature or RaggedFeature",
                    )
                })?;
                let volume = volume(&dims)?;
                let default =
                    default.map(|value| check_default(value, dtype, &dims, volume)).transpose()?;
                let spec = Spec::Tensor { dtype, shape };
                (Output::Fixed(self.fixed(name, dtype, dims, volume, default)?), spec)
            }
            Feature::VarLen { dtype } => {
                let spec = Spec::Sparse { dtype, shape: PartialShape::new([None]) };
                (Output::VarLen(self.flat(name, dtype)?), spec)
            }
            Feature::FixedLenSequence { dtype, shape, allow_missing, default } => {
                if !allow_missing {
                    return Err(Error::invalid_argument(
                        "Unsupported: FixedLenSequenceFeature requires allow_missing to be True",
                    ));
                }
                let dims = known(&shape, "FixedLenSequenceFeature")?;
                let padding = default.map(|value| check_padding(value, dtype)).transpose()?;
                let source = self.strided(name, dtype, dims.clone())?;
                let spec = Spec::Tensor { dtype, shape: shape.prepend(None) };
                (Output::Sequence { source, dims, padding }, spec)
            }
            Feature::Ragged { dtype, value_key, partitions, row_splits_dtype, validate } => {
                let values = self.flat(value_key.as_deref().unwrap_or(name), dtype)?;
                let ragged = Ragged::new(values, partitions, row_splits_dtype, validate, |key| {
                    self.flat(key, DType::Int64)
                })?;
                let spec = ragged.spec(dtype);
                (Output::Ragged(ragged), spec)
            }
            Feature::Sparse { index_keys, value_key, dtype, size, already_sorted } => {
                let indices = index_keys
                    .iter()
                    .map(|key| self.flat(key, DType::Int64))
                    .collect::<Result<Vec<_>>>()?;
                let values = self.flat(&value_key, dtype)?;
                let sparse = Sparse::new(indices, values, size, already_sorted)?;
                let spec = sparse.spec(dtype);
                (Output::Sparse(sparse), spec)
            }
        };
        self.names.push(name.into());
        self.outputs.push(output);
        self.specs.push(spec);
        Ok(())
    }

    fn flat(&mut self, key: &str, dtype: DType) -> Result<usize> {
        self.strided(key, dtype, Dims::new())
    }

    fn strided(&mut self, key: &str, dtype: DType, dims: Dims) -> Result<usize> {
        let stride = volume(&dims)?;
        self.source(Source { key: key.into(), dtype, form: Form::Flat { dims, stride } })
    }

    fn fixed(
        &mut self,
        key: &str,
        dtype: DType,
        dims: Dims,
        volume: usize,
        default: Option<Tensor>,
    ) -> Result<usize> {
        let form = Form::Fixed { dims, volume, default };
        self.source(Source { key: key.into(), dtype, form })
    }

    /// The number of a source, which features can share.
    fn source(&mut self, source: Source) -> Result<usize> {
        if !matches!(source.dtype, DType::Int64 | DType::Float32 | DType::Bytes) {
            let dtype = source.dtype;
            return Err(Error::invalid_argument(format!(
                "{dtype} is not in the list of allowed values: float32, int64, bytes"
            ))
            .with_hint("parse as one of these and cast the result"));
        }
        if let Some(known) = self.sources.iter().position(|known| *known == source) {
            return Ok(known);
        }
        self.sources.push(source);
        Ok(self.sources.len() - 1)
    }

    /// The same plan whose errors do not say the row, for callers who know a better place.
    #[must_use]
    pub fn without_row_numbers(self) -> Self {
        ParsePlan { is_numbered: false, ..self }
    }

    /// The features in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Name and spec of each output of one Example.
    pub fn outputs_single(&self) -> Vec<(&str, Spec)> {
        self.names().zip(self.specs.iter().cloned()).collect()
    }

    /// Name and spec of each output of a batch of Examples, whose number comes first in the
    /// shapes and is not known here.
    pub fn outputs_batch(&self) -> Vec<(&str, Spec)> {
        let batched = |(spec, output): (&Spec, &Output)| match (output, spec) {
            (Output::Ragged(ragged), _) => ragged.batch_spec(spec),
            _ => spec.map_shape(|shape| shape.prepend(None)),
        };
        self.names().zip(self.specs.iter().zip(&self.outputs).map(batched)).collect()
    }

    /// Parses each record by itself: one row a record in each column. Columns that are not wanted
    /// hold nothing but rows; they are not parsed, nor are their errors seen. Byte strings share the memory of the records.
    ///
    /// # Errors
    /// `InvalidArgument` for the first record that is no Example or does not fit the features,
    /// naming row and feature.
    pub fn parse_rows(&self, records: &BytesArray, wanted: &[Wanted]) -> Result<Vec<Column>> {
        let batch = Batch { records, names: None, is_single: true, is_numbered: self.is_numbered };
        let decoded = self.decode(&batch, wanted)?;
        let rows = records.len();
        self.wanted(wanted)
            .map(|(name, output, wanted)| {
                if wanted == Wanted::No {
                    return varlen::placeholder(rows);
                }
                match output {
                    Output::Fixed(source) => Ok(Column::Stacked(fixed(&decoded, *source)?)),
                    Output::VarLen(source) => varlen::rows(flat(&decoded, *source)?, wanted),
                    Output::Sequence { source, dims, .. } => {
                        varlen::sequence_rows(flat(&decoded, *source)?, dims)
                    }
                    Output::Ragged(ragged) => ragged.rows(name, &decoded, &batch),
                    Output::Sparse(sparse) => sparse.rows(name, &decoded, &batch),
                }
            })
            .collect()
    }

    /// Parses the records into one batch. `names` are what messages call the Examples. Values
    /// that are not wanted are empty.
    ///
    /// # Errors
    /// As [`ParsePlan::parse_rows`]; also if there is another number of names than of records.
    pub fn parse_batch(
        &self,
        records: &BytesArray,
        names: Option<&BytesArray>,
        wanted: &[Wanted],
    ) -> Result<Vec<Value>> {
        if let Some(names) = names.filter(|names| !names.is_empty() && names.len() != records.len())
        {
            let (names, records) = (names.len(), records.len());
            return Err(Error::invalid_argument(format!(
                "expected {records} example names, as many as Examples, got {names}"
            )));
        }
        let names = names.filter(|names| !names.is_empty());
        let batch = Batch { records, names, is_single: false, is_numbered: self.is_numbered };
        let decoded = self.decode(&batch, wanted)?;
        self.wanted(wanted)
            .map(|(name, output, wanted)| {
                if wanted == Wanted::No {
                    return Ok(Value::Tensor(Tensor::zeros(DType::UInt8, Dims::from_slice(&[0]))?));
                }
                match output {
                    Output::Fixed(source) => Ok(Value::Tensor(fixed(&decoded, *source)?)),
                    Output::VarLen(source) => varlen::batch(flat(&decoded, *source)?, wanted),
                    Output::Sequence { source, dims, padding } => {
                        varlen::padded(flat(&decoded, *source)?, dims, padding.as_ref())
                    }
                    Output::Ragged(ragged) => ragged.batch(name, &decoded, &batch),
                    Output::Sparse(sparse) => sparse.batch(name, &decoded, &batch),
                }
            })
            .collect()
    }

    fn wanted<'a>(
        &'a self,
        wanted: &'a [Wanted],
    ) -> impl Iterator<Item = (&'a str, &'a Output, Wanted)> {
        self.names().zip(&self.outputs).zip(wanted).map(|((n, o), wanted)| (n, o, *wanted))
    }

    fn decode(&self, batch: &Batch<'_>, wanted: &[Wanted]) -> Result<Vec<Option<Decoded>>> {
        if wanted.len() != self.outputs.len() {
            return Err(Error::internal(format!(
                "{} flags for {} outputs",
                wanted.len(),
                self.outputs.len()
            )));
        }
        let mut needed = vec![false; self.sources.len()];
        for (_, output, wanted) in self.wanted(wanted) {
            if wanted == Wanted::No {
                continue;
            }
            match output {
                Output::Fixed(source)
                | Output::VarLen(source)
                | Output::Sequence { source, .. } => needed[*source] = true,
                Output::Ragged(ragged) => ragged.sources().for_each(|s| needed[s] = true),
                Output::Sparse(sparse) => sparse.sources().for_each(|s| needed[s] = true),
            }
        }
        decode(&self.sources, &needed, batch)
    }
}

fn fixed(decoded: &[Option<Decoded>], source: usize) -> Result<Tensor> {
    match decoded.get(source) {
        Some(Some(Decoded::Fixed(tensor))) => Ok(tensor.clone()),
        _ => Err(Error::internal("a source was not read")),
    }
}

/// The flat values of a source that was read.
pub(super) fn flat(decoded: &[Option<Decoded>], source: usize) -> Result<&super::flat::Flat> {
    match decoded.get(source) {
        Some(Some(Decoded::Flat(flat))) => Ok(flat),
        _ => Err(Error::internal("a source was not read")),
    }
}

pub(super) fn known(shape: &PartialShape, kind: &str) -> Result<Dims> {
    shape.known().ok_or_else(|| {
        Error::invalid_argument(format!("the shape of a {kind} must be known, got {shape}"))
    })
}

fn check_type(value: &Tensor, dtype: DType) -> Result<()> {
    if value.dtype() == dtype {
        return Ok(());
    }
    let got = value.dtype();
    Err(Error::invalid_argument(format!("expected a default_value of type {dtype}, got {got}")))
}

pub(super) fn check_default(
    value: Tensor,
    dtype: DType,
    dims: &Dims,
    volume: usize,
) -> Result<Tensor> {
    check_type(&value, dtype)?;
    if value.len() != volume {
        let count = value.len();
        return Err(Error::invalid_argument(format!(
            "the default_value has {count} values, but the requested shape {dims:?} has {volume}"
        )));
    }
    Ok(value)
}

fn check_padding(value: Tensor, dtype: DType) -> Result<Tensor> {
    check_type(&value, dtype)?;
    if value.len() != 1 {
        let (count, name) = (value.len(), type_name(dtype));
        return Err(Error::invalid_argument(format!(
            "the default_value pads a batch and must be one {name}, got {count} values"
        )));
    }
    Ok(value)
}
