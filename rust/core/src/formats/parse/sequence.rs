//! SequenceExamples: what `parse_single_sequence_example` and `parse_sequence_example` do.
//!
//! The lists of the context are read as those of Examples. The steps of all records are laid end
//! to end and read as if each were a record; what is made of them counts the steps of each record
//! besides. Results and errors are those of TensorFlow 2.21, whose rules differ from those for
//! Examples: a context feature is measured over the batch before its rows are looked at, and a
//! feature that is there without a list is an empty one.

use std::sync::Arc;

use crate::data::shape::volume;
use crate::data::{BytesArray, DType, Dims, PartialShape, Spec, Tensor, Value, Wanted};
use crate::error::{Error, Result};
use crate::formats::parse::decode::{Block, reader};
use crate::formats::parse::message::Batch;
use crate::formats::parse::plan::{Feature, Form, Source, check_default, flat, known};
use crate::formats::parse::ragged::Ragged;
use crate::formats::parse::steps::{Lists, broken, fault};
use crate::formats::parse::varlen;
use crate::formats::sequence::{Part, parts, steps};

/// What is made of the lists of one feature.
#[derive(Clone, Debug, PartialEq)]
enum Output {
    /// A dense array; of steps, one a step.
    Dense {
        source: usize,
        dims: Dims,
        default: Option<Tensor>,
        allow_missing: bool,
    },
    VarLen(usize),
    Ragged(Ragged),
}

/// The features of one part.
#[derive(Clone, Debug, Default, PartialEq)]
struct Side {
    sources: Vec<Source>,
    outputs: Vec<(Arc<str>, Output, DType)>,
}

/// Features made ready for parsing SequenceExamples.
#[derive(Clone, Debug, PartialEq)]
pub struct SequencePlan {
    context: Side,
    lists: Side,
}

impl SequencePlan {
    /// A plan for these features of the context and of the steps; outputs keep their order.
    ///
    /// # Errors
    /// `InvalidArgument`, naming the feature, for no features, a kind that this part does not
    /// have, a type or shape that it cannot have, or a default for steps.
    pub fn new(context: Vec<(String, Feature)>, lists: Vec<(String, Feature)>) -> Result<Self> {
        if context.is_empty() && lists.is_empty() {
            return Err(Error::invalid_argument(
                "both context_features and sequence_features are empty, but at least one should \
                 have values",
            ));
        }
        let mut plan = SequencePlan { context: Side::default(), lists: Side::default() };
        for (side, features, is_context) in
            [(&mut plan.context, context, true), (&mut plan.lists, lists, false)]
        {
            for (name, feature) in features {
                side.add(&name, feature, is_context).map_err(|error| error.at_feature(&name))?;
            }
        }
        Ok(plan)
    }

    /// Specs of the outputs of one record: those of the context, then those of the steps.
    pub fn outputs_single(&self) -> Vec<Spec> {
        let context = self.context.outputs.iter().map(|(_, output, dtype)| match output {
            Output::Dense { dims, .. } => Spec::Tensor { dtype: *dtype, shape: dims[..].into() },
            Output::VarLen(_) => Spec::Sparse { dtype: *dtype, shape: PartialShape::new([None]) },
            Output::Ragged(ragged) => ragged.spec(*dtype),
        });
        let lists = self.lists.outputs.iter().map(|(_, output, dtype)| match output {
            Output::Dense { dims, .. } => {
                let shape = PartialShape::from(&dims[..]).prepend(None);
                Spec::Tensor { dtype: *dtype, shape }
            }
            Output::VarLen(_) => {
                Spec::Sparse { dtype: *dtype, shape: PartialShape::new([None, None]) }
            }
            Output::Ragged(ragged) => ragged.batch_spec(&ragged.spec(*dtype)),
        });
        context.chain(lists).collect()
    }

    /// Specs of the outputs of a batch of `count` records: those of the context, those of the
    /// steps, and the number of steps for each dense feature of these.
    pub fn outputs_batch(&self, count: Option<usize>) -> Vec<Spec> {
        let batched = |spec: Spec| match spec {
            Spec::Ragged { dtype, shape, ragged_rank, splits_dtype } => {
                let (shape, ragged_rank) = (shape.prepend(count), ragged_rank + 1);
                Spec::Ragged { dtype, shape, ragged_rank, splits_dtype }
            }
            spec => spec.map_shape(|shape| shape.prepend(count)),
        };
        let ragged = self.context.outputs.iter().chain(&self.lists.outputs);
        let outputs = self.outputs_single().into_iter().zip(ragged);
        let batched = outputs.map(|(spec, (_, output, _))| match (output, spec) {
            // Without partitions the list of one record is dense.
            (Output::Ragged(ragged), spec @ Spec::Tensor { .. }) => {
                ragged.batch_spec(&spec).map_shape(|shape| match shape.split_first() {
                    Some((_, rest)) => rest.prepend(count),
                    None => shape.clone(),
                })
            }
            (_, spec) => batched(spec),
        });
        let lengths = self.lengths().map(|_| Spec::tensor(DType::Int64, [count]));
        batched.chain(lengths).collect()
    }

    /// Sources of the dense features of the steps.
    fn lengths(&self) -> impl Iterator<Item = usize> {
        self.lists.outputs.iter().filter_map(|(_, output, _)| match output {
            Output::Dense { source, .. } => Some(*source),
            _ => None,
        })
    }

    /// Parses one record.
    ///
    /// # Errors
    /// `InvalidArgument`, naming the feature, if the record is no SequenceExample or does not fit
    /// the features.
    pub fn parse_single(
        &self,
        record: &BytesArray,
        name: Option<&BytesArray>,
    ) -> Result<Vec<Value>> {
        let batch = Batch { records: record, names: name, is_single: true, is_numbered: false };
        let (context, lists) = self.read(batch)?;
        let mut values = self.context(&context)?;
        values.extend(self.steps(&lists)?);
        Ok(values)
    }

    /// Parses the records into one batch; the lengths of dense steps come last. `names` are what
    /// messages call the records.
    ///
    /// # Errors
    /// As [`SequencePlan::parse_single`]; also if there is another number of names.
    pub fn parse_batch(
        &self,
        records: &BytesArray,
        names: Option<&BytesArray>,
    ) -> Result<Vec<Value>> {
        if names.is_some_and(|names| !names.is_empty() && names.len() != records.len()) {
            return Err(Error::invalid_argument(
                "example_names must be empty or have the correct number of elements",
            ));
        }
        let names = names.filter(|names| !names.is_empty());
        let batch = Batch { records, names, is_single: false, is_numbered: false };
        let (context, lists) = self.read(batch)?;
        let mut values = self.context(&context)?;
        values.extend(self.steps(&lists)?);
        for source in self.lengths() {
            let ends = lists.ends[source].windows(2);
            let lengths: Vec<i64> = ends.map(|pair| (pair[1] - pair[0]) as i64).collect();
            values.push(Value::Tensor(Tensor::from_values(&[lengths.len()], &lengths)?));
        }
        Ok(values)
    }

    /// Reads the lists of both parts.
    fn read<'a>(&self, batch: Batch<'a>) -> Result<(Lists<'a>, Lists<'a>)> {
        let count = batch.records.len();
        let mut context = vec![vec![None; count]; self.context.sources.len()];
        let mut lists = vec![vec![None; count]; self.lists.sources.len()];
        for (row, record) in batch.records.iter().enumerate() {
            let visited = parts(record, |part, key, value| {
                let (side, found) = match part {
                    Part::Context => (&self.context, &mut context),
                    Part::Lists => (&self.lists, &mut lists),
                };
                for (source, found) in side.sources.iter().zip(found) {
                    if source.key.as_bytes() == key {
                        found[row] = Some(value);
                    }
                }
            });
            visited.map_err(|malformed| broken(&batch, row, malformed))?;
        }
        Ok((
            self.context.read(batch, &context, Part::Context)?,
            self.lists.read(batch, &lists, Part::Lists)?,
        ))
    }

    fn context(&self, lists: &Lists<'_>) -> Result<Vec<Value>> {
        let single = lists.batch.is_single;
        let outputs = self.context.outputs.iter();
        let value = |(name, output, dtype): &(Arc<str>, Output, DType)| match output {
            Output::Dense { source, dims, default, .. } => {
                lists.dense_context(name, *source, dims, default.as_ref(), *dtype)
            }
            Output::VarLen(source) => {
                let flat = flat(&lists.decoded, *source)?;
                match single {
                    true => varlen::rows(flat, Wanted::All)?.row(0),
                    false => varlen::batch(flat, Wanted::All),
                }
            }
            Output::Ragged(ragged) => match single {
                true => ragged.rows(name, &lists.decoded, &lists.batch)?.row(0),
                false => ragged.batch(name, &lists.decoded, &lists.batch),
            },
        };
        outputs.map(value).collect()
    }

    fn steps(&self, lists: &Lists<'_>) -> Result<Vec<Value>> {
        let outputs = self.lists.outputs.iter();
        let value = |(name, output, _): &(Arc<str>, Output, DType)| match output {
            Output::Dense { source, dims, allow_missing, .. } => {
                lists.dense_steps(name, *source, dims, *allow_missing)
            }
            Output::VarLen(source) => lists.sparse_steps(*source),
            Output::Ragged(ragged) => lists.ragged_steps(name, ragged),
        };
        outputs.map(value).collect()
    }
}

impl Side {
    fn add(&mut self, name: &str, feature: Feature, is_context: bool) -> Result<()> {
        let (output, dtype) = match feature {
            Feature::FixedLen { dtype, shape, default } if is_context => {
                let dims = known(&shape, "FixedLenFeature")?;
                let volume = volume(&dims)?;
                let default =
                    default.map(|value| check_default(value, dtype, &dims, volume)).transpose()?;
                let source = self.source(name, dtype)?;
                (Output::Dense { source, dims, default, allow_missing: false }, dtype)
            }
            Feature::FixedLenSequence { dtype, shape, allow_missing, default } if !is_context => {
                if default.is_some() {
                    return Err(Error::invalid_argument(format!(
                        "Value feature_list.dense_defaults[{name}] must be None: steps have no \
                         default_value"
                    )));
                }
                let dims = known(&shape, "FixedLenSequenceFeature")?;
                volume(&dims)?;
                let source = self.source(name, dtype)?;
                (Output::Dense { source, dims, default: None, allow_missing }, dtype)
            }
            Feature::VarLen { dtype } => (Output::VarLen(self.source(name, dtype)?), dtype),
            Feature::Ragged { dtype, value_key, partitions, row_splits_dtype, validate } => {
                let values = self.source(value_key.as_deref().unwrap_or(name), dtype)?;
                let ragged = Ragged::new(values, partitions, row_splits_dtype, validate, |key| {
                    self.source(key, DType::Int64)
                })?;
                (Output::Ragged(ragged), dtype)
            }
            _ => {
                let text = if is_context {
                    "Unsupported kind of feature: the context has FixedLenFeature, VarLenFeature \
                     and RaggedFeature"
                } else {
                    "Unsupported kind of feature: sequences have FixedLenSequenceFeature, \
                     VarLenFeature and RaggedFeature"
                };
                return Err(Error::invalid_argument(text));
            }
        };
        self.outputs.push((name.into(), output, dtype));
        Ok(())
    }

    /// The number of a source, which features can share.
    fn source(&mut self, key: &str, dtype: DType) -> Result<usize> {
        if !matches!(dtype, DType::Int64 | DType::Float32 | DType::Bytes) {
            return Err(Error::invalid_argument(format!(
                "{dtype} is not in the list of allowed values: float32, int64, bytes"
            ))
            .with_hint("parse as one of these and cast the result"));
        }
        let form = Form::Flat { dims: Dims::new(), stride: 1 };
        let source = Source { key: key.into(), dtype, form };
        let found = self.sources.iter().position(|known| *known == source);
        Ok(found.unwrap_or_else(|| {
            self.sources.push(source);
            self.sources.len() - 1
        }))
    }

    /// Reads what was found of each source in each record.
    fn read<'a>(
        &self,
        batch: Batch<'a>,
        found: &[Vec<Option<&'a [u8]>>],
        part: Part,
    ) -> Result<Lists<'a>> {
        let (buffers, views) = batch.records.parts();
        let mut lists = Lists {
            decoded: Vec::new(),
            present: Vec::new(),
            ends: Vec::new(),
            rows: Vec::new(),
            batch,
        };
        for (source, found) in self.sources.iter().zip(found) {
            let mut features: Vec<&[u8]> = Vec::new();
            let mut records = Vec::new();
            let mut record_views = Vec::new();
            let mut ends = vec![0];
            for (row, value) in found.iter().enumerate() {
                match part {
                    Part::Context => features.push(value.unwrap_or_default()),
                    Part::Lists => steps(value.unwrap_or_default(), |step| features.push(step))
                        .map_err(|malformed| broken(&batch, row, malformed))?,
                }
                records.resize(features.len(), batch.records.get(row));
                record_views.resize(features.len(), views[row]);
                ends.push(features.len());
            }
            let block = Block { start: 0, records: &records, views: &record_views };
            let mut reader = reader(source, features.len())?;
            if let Err(stopped) = reader.read(&block, &features)? {
                let row = ends.partition_point(|end| *end <= stopped.row) - 1;
                let step = stopped.row - ends[row];
                return Err(fault(&batch, part, source, row, step, stopped.fault));
            }
            lists.decoded.push(Some(reader.finish(batch.records)?));
            lists.present.push(found.iter().map(Option::is_some).collect());
            lists.ends.push(ends);
            lists.rows.push(BytesArray::new(buffers.to_vec(), record_views)?);
        }
        Ok(lists)
    }
}
