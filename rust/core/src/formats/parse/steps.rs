//! The values of SequenceExamples, made of the lists that `sequence.rs` has read, and what is said
//! of those that do not fit.

use crate::data::shape::Brackets;
use crate::data::{BytesArray, DType, Dims, Tensor, Value};
use crate::error::{Error, Result};
use crate::formats::example::{Kind, Malformed};
use crate::formats::parse::decode::Decoded;
use crate::formats::parse::flat::Flat;
use crate::formats::parse::message::{Batch, Fault, type_name};
use crate::formats::parse::plan::{Source, flat};
use crate::formats::parse::ragged::{Ragged, not_aligned};
use crate::formats::parse::varlen;
use crate::formats::sequence::Part;

/// The lists of one part in all records.
pub(super) struct Lists<'a> {
    /// A list for each source and row.
    pub(super) decoded: Vec<Option<Decoded>>,
    /// Whether a key is there, by source and record.
    pub(super) present: Vec<Vec<bool>>,
    /// Of each source, where the rows of each record end, starting with 0.
    pub(super) ends: Vec<Vec<usize>>,
    /// The rows of each source as records.
    pub(super) rows: Vec<BytesArray>,
    pub(super) batch: Batch<'a>,
}

/// What names a record in messages.
fn name(batch: &Batch<'_>, row: usize) -> String {
    let name = batch.names.map(|names| names.get(row));
    name.map_or_else(|| "<unknown>".into(), |name| name.escape_ascii().to_string())
}

pub(super) fn broken(batch: &Batch<'_>, row: usize, malformed: Malformed) -> Error {
    let name = name(batch, row);
    Error::invalid_argument(format!(
        "Invalid protocol message input, example id: {name}: {malformed}"
    ))
    .with_hint("is the record a serialized tf.train.SequenceExample, and whole?")
}

/// A list is of another type, or no list.
pub(super) fn fault(
    batch: &Batch<'_>,
    part: Part,
    source: &Source,
    row: usize,
    step: usize,
    fault: Fault,
) -> Error {
    let name = name(batch, row);
    let key = &source.key;
    let place = match part {
        Part::Context => format!("Name: {name}, Context feature: {key}."),
        Part::Lists => format!("Name: {name}, Feature list: {key}, Index: {step}."),
    };
    let expected = type_name(source.dtype);
    let detail = match fault {
        Fault::Kind(kind) => {
            let found = match kind {
                Kind::Bytes => "string",
                Kind::Float => "float",
                Kind::Int64 => "int64",
            };
            format!("Data types don't match. Expected type: {expected}, found {found}")
        }
        Fault::Malformed(malformed) => format!("it cannot be parsed: {malformed}"),
        _ => "it does not fit".into(),
    };
    Error::invalid_argument(format!("{place}  {detail}")).at_feature(key)
}

impl Lists<'_> {
    fn invalid(&self, key: &str, text: String) -> Error {
        Error::invalid_argument(text).at_feature(key)
    }

    pub(super) fn dense_context(
        &self,
        key: &str,
        source: usize,
        dims: &Dims,
        default: Option<&Tensor>,
        dtype: DType,
    ) -> Result<Value> {
        let flat = flat(&self.decoded, source)?;
        let volume: usize = dims.iter().product();
        let longest = flat.lengths().chain(default.map(Tensor::len)).max().unwrap_or(0);
        if longest != volume && flat.rows() > 0 {
            return Err(self.invalid(
                key,
                format!(
                    "Inconsistent max number of elements for feature {key}: expected {volume}, but \
                     found {longest}"
                ),
            ));
        }
        // The values of all records, then the default; most often there is nothing to move.
        let mut places = Vec::with_capacity(flat.values.len());
        for (row, is_present) in self.present[source].iter().enumerate() {
            let range = flat.range(row);
            match (is_present, default) {
                (true, _) if range.len() == volume => places.extend(range),
                (true, _) => {
                    let name = name(&self.batch, row);
                    let text = format!("Unexpected number of elements in example {name}");
                    return Err(self.invalid(key, text));
                }
                (false, Some(_)) => {
                    places.extend((0..volume).map(|place| flat.values.len() + place));
                }
                (false, None) => {
                    let dtype = type_name(dtype);
                    return Err(self.invalid(
                        key,
                        format!(
                            "Feature: {key} (data type: {dtype}) is required but could not be found."
                        ),
                    ));
                }
            }
        }
        let values = match default {
            Some(default) if self.present[source].contains(&false) => {
                let default = default.clone().reshape([volume][..].into())?;
                Tensor::concat(&[&flat.values, &default])?.gather(&places)?
            }
            _ => flat.values.clone(),
        };
        let rows = (!self.batch.is_single).then(|| flat.rows());
        let shape = rows.into_iter().chain(dims.iter().copied()).collect();
        Ok(Value::Tensor(values.reshape(shape)?))
    }

    /// The steps of each record as one list.
    fn joined(&self, source: usize) -> Result<Flat> {
        let flat = flat(&self.decoded, source)?;
        let offsets = self.ends[source].iter().map(|end| flat.offsets[*end]).collect();
        Ok(Flat { values: flat.values.clone(), offsets })
    }

    pub(super) fn dense_steps(
        &self,
        key: &str,
        source: usize,
        dims: &Dims,
        allow_missing: bool,
    ) -> Result<Value> {
        let joined = self.joined(source)?;
        let volume: usize = dims.iter().product();
        let longest = joined.lengths().max().unwrap_or(0);
        if volume > 0 && !longest.is_multiple_of(volume) {
            let shape = Brackets(dims).to_string().replacen('[', "[?,", 1);
            return Err(self.invalid(
                key,
                format!(
                    "Feature list '{key}' has an unexpected number of values.  Total values size: \
                     {longest} is not consistent with output shape: {shape}"
                ),
            ));
        }
        let flat = flat(&self.decoded, source)?;
        for (row, is_present) in self.present[source].iter().enumerate() {
            if !is_present && !allow_missing {
                let name = name(&self.batch, row);
                return Err(self.invalid(
                    key,
                    format!(
                        "Name: {name}, Feature list '{key}' is required but could not be found.  \
                         Did you mean to include it in feature_list_dense_missing_assumed_empty or \
                         feature_list_dense_defaults? FixedLenSequenceFeature(…, \
                         allow_missing=True) takes a missing list for an empty one"
                    ),
                ));
            }
            let mut steps = self.ends[source][row]..self.ends[source][row + 1];
            if let Some(index) = steps.position(|step| flat.range(step).len() != volume) {
                let (name, shape) = (name(&self.batch, row), Brackets(dims));
                let length = flat.range(self.ends[source][row] + index).len();
                return Err(self.invalid(
                    key,
                    format!(
                        "Name: {name}, Key: {key}, Index: {index}.  Number of values != expected.  \
                         values size: {length} but output shape: {shape}"
                    ),
                ));
            }
        }
        match self.batch.is_single {
            true => varlen::sequence_rows(&joined, dims)?.row(0),
            false => varlen::padded(&joined, dims, None),
        }
    }

    pub(super) fn sparse_steps(&self, source: usize) -> Result<Value> {
        let flat = flat(&self.decoded, source)?;
        let ends = &self.ends[source];
        let single = self.batch.is_single;
        let mut indices: Vec<i64> = Vec::with_capacity(flat.values.len() * 3);
        for (row, pair) in ends.windows(2).enumerate() {
            for step in pair[0]..pair[1] {
                for place in 0..flat.range(step).len() {
                    if !single {
                        indices.push(row as i64);
                    }
                    indices.extend([(step - pair[0]) as i64, place as i64]);
                }
            }
        }
        let most = ends.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let width = flat.lengths().max().unwrap_or(0);
        let records = (!single).then_some(ends.len() - 1);
        let shape: Vec<i64> =
            records.into_iter().chain([most, width]).map(|size| size as i64).collect();
        Ok(Value::Sparse {
            indices: Tensor::from_values(&[flat.values.len(), shape.len()], &indices)?,
            values: flat.values.clone(),
            dense_shape: Tensor::from_values(&[shape.len()], &shape)?,
        })
    }

    pub(super) fn ragged_steps(&self, key: &str, ragged: &Ragged) -> Result<Value> {
        let sources: Vec<usize> = ragged.sources().collect();
        let Some(source) = sources.last().copied() else {
            return Err(Error::internal("a ragged feature without values"));
        };
        if let Some(other) = sources.iter().find(|other| self.ends[**other] != self.ends[source]) {
            let (values, cut) = (self.rows[source].len(), self.rows[*other].len());
            let detail = format!("the values have {values} steps, what cuts them {cut}");
            return Err(self.invalid(key, not_aligned(key, &detail)));
        }
        let steps = Batch { records: &self.rows[source], names: None, ..self.batch };
        let value = ragged.batch(key, &self.decoded, &steps)?;
        match value {
            Value::Ragged { values, mut splits } if !self.batch.is_single => {
                let ends: Vec<i64> = self.ends[source].iter().map(|end| *end as i64).collect();
                splits.insert(0, ragged.splits(&ends)?);
                Ok(Value::Ragged { values, splits })
            }
            value => Ok(value),
        }
    }
}
