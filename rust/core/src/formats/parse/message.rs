//! What is said of a record that does not fit, in TensorFlow's words where they are good.

use crate::data::shape::Brackets;
use crate::data::{BytesArray, DType, Dims};
use crate::error::{Error, Result};
use crate::formats::example::{Kind, Malformed, entries};
use crate::formats::parse::plan::{Form, Source};

/// The records being parsed, as messages need them.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a> {
    pub(super) records: &'a BytesArray,
    /// Names of the Examples, one a record.
    pub(super) names: Option<&'a BytesArray>,
    /// One record at a time rather than a batch.
    pub(super) is_single: bool,
    /// Whether the row is part of the place of an error.
    pub(super) is_numbered: bool,
}

/// Why the feature of a row cannot be read as its source wants it.
pub(super) enum Fault {
    Missing,
    Kind(Kind),
    Count(usize),
    Stride(usize),
    Malformed(Malformed),
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Fault::Malformed(malformed)
    }
}

/// TensorFlow's name of a type that Examples hold.
pub(super) fn type_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Float32 => "float",
        DType::Int64 => "int64",
        _ => "string",
    }
}

/// At most so many keys are listed.
const LISTED: usize = 10;
/// At most so many bytes of a record or key are shown.
const SHOWN: usize = 40;

impl Batch<'_> {
    /// The record itself is no Example.
    pub(super) fn malformed(&self, row: usize, malformed: Malformed) -> Error {
        let record = self.records.get(row);
        let message = format!("{}could not parse example input: {malformed}", self.name(row));
        let (shown, more) = shown(record);
        let length = record.len();
        let message = format!("{message}, value ({length} bytes): '{shown}'{more}");
        self.place(row, Error::invalid_argument(message))
            .with_hint("is the record a serialized tf.train.Example, and whole?")
    }

    /// A feature of the record does not fit.
    pub(super) fn fault(&self, row: usize, source: &Source, fault: Fault) -> Error {
        let (key, dtype) = (&source.key, source.dtype);
        let expected = type_name(dtype);
        match fault {
            Fault::Missing => self.missing(row, source),
            Fault::Kind(kind) => {
                let actual = match kind {
                    Kind::Bytes => DType::Bytes,
                    Kind::Float => DType::Float32,
                    Kind::Int64 => DType::Int64,
                };
                let found = type_name(actual);
                let detail = match source.form {
                    Form::Fixed { .. } => {
                        format!("Data type: {found} but expected type: {expected}")
                    }
                    Form::Flat { .. } => {
                        format!("Expected type: {expected}, Actual type: {found}")
                    }
                };
                self.at_key(row, key, format!("Data types don't match. {detail}"))
                    .with_hint(format!("declare the feature as {actual}, not {dtype}"))
            }
            Fault::Count(count) => {
                let detail = format!(
                    "{}Number of {} values != expected.  Values size: {count} but output shape: {}",
                    if self.is_single { "Can't parse serialized Example.  " } else { "" },
                    self.counted(dtype),
                    Brackets(source.dims())
                );
                let hint = match count {
                    0 => "the list is there but empty, which no default_value mends".into(),
                    _ => format!(
                        "shapes are per example, use FixedLenFeature([{count}]), \
                         or VarLenFeature or RaggedFeature if the number varies"
                    ),
                };
                self.at_key(row, key, detail).with_hint(hint)
            }
            Fault::Stride(count) => {
                let volume: usize = source.dims().iter().product();
                let shape = Brackets(source.dims());
                let detail = match self.is_single {
                    true => format!(
                        "number of elements should be divisible by {volume}, found {count} \
                         instead: each row has shape {shape}"
                    ),
                    false => format!(
                        "Number of {} values is not a multiple of stride length. Saw {count} \
                         values, which is not divisible by {volume}: each row has shape {shape}",
                        self.counted(dtype)
                    ),
                };
                self.at_key(row, key, detail)
            }
            Fault::Malformed(malformed) => {
                self.at_key(row, key, format!("Can't parse serialized Example: {malformed}"))
            }
        }
    }

    /// An error of the feature `key` in the record `row`.
    pub(super) fn at_key(&self, row: usize, key: &str, detail: String) -> Error {
        let name = self.name(row);
        let index = if self.is_single { String::new() } else { format!(", Index: {row}") };
        let message = format!("{name}Key: {key}{index}.  {detail}");
        self.place(row, Error::invalid_argument(message).at_feature(key))
    }

    /// What is counted, in TensorFlow's words: those of a batch differ.
    fn counted(&self, dtype: DType) -> &'static str {
        match dtype {
            DType::Bytes if !self.is_single => "bytes",
            _ => type_name(dtype),
        }
    }

    fn missing(&self, row: usize, source: &Source) -> Error {
        let (key, name) = (&source.key, self.name(row));
        let (dtype, tf_name) = (source.dtype, type_name(source.dtype));
        let mut keys: Vec<String> = Vec::new();
        let mut kindless = false;
        // The walk succeeded a moment ago.
        let _ = entries(self.records.get(row), |found, _| {
            kindless |= found == key.as_bytes();
            let text = shown(found).0;
            if !keys.contains(&text) {
                keys.push(text);
            }
        });
        let present = match keys.len() {
            _ if kindless => "it is there, but without a list".into(),
            0 => "the example has no features".into(),
            count => {
                keys.sort_by_key(|found| edit_distance(found, key));
                let list: Vec<_> = keys.iter().take(LISTED).map(|key| format!("{key:?}")).collect();
                let more = count.saturating_sub(LISTED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("keys present: {}{more}", list.join(", "))
            }
        };
        let message = format!(
            "{name}Feature: {key} (data type: {tf_name}) is required but could not be found; \
             expected {dtype} values of shape {}, {present}",
            Brackets(source.dims())
        );
        self.place(row, Error::invalid_argument(message).at_feature(key))
            .with_hint("a default_value stands in for missing features")
    }

    fn place(&self, row: usize, error: Error) -> Error {
        match (self.is_numbered, self.is_single) {
            (true, _) => error.at_row(row as u64),
            (false, false) => error.noting(&format!(", in record {row} of the batch")),
            (false, true) => error,
        }
    }

    /// "Name: …, ", which only a batch has.
    fn name(&self, row: usize) -> String {
        match self.names {
            _ if self.is_single => String::new(),
            Some(names) => format!("Name: {}, ", shown(names.get(row)).0),
            None => "Name: <unknown>, ".into(),
        }
    }
}

impl Source {
    fn dims(&self) -> &Dims {
        match &self.form {
            Form::Fixed { dims, .. } | Form::Flat { dims, .. } => dims,
        }
    }
}

/// The start of some bytes, readable, and an ellipsis if there is more.
fn shown(bytes: &[u8]) -> (String, &'static str) {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.len() <= SHOWN && !text.contains(char::is_control) => (text.into(), ""),
        _ => {
            let head = &bytes[..bytes.len().min(SHOWN)];
            (head.escape_ascii().to_string(), if head.len() < bytes.len() { "…" } else { "" })
        }
    }
}

/// How many letters differ, so that the nearest name comes first.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(SHOWN).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(SHOWN).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Fails for the first row at which `check` finds something to say.
pub(super) fn check_rows(
    batch: &Batch<'_>,
    key: &str,
    mut check: impl FnMut(usize) -> Option<String>,
) -> Result<()> {
    let found = (0..batch.records.len()).find_map(|row| check(row).map(|detail| (row, detail)));
    found.map_or(Ok(()), |(row, detail)| Err(batch.at_key(row, key, detail)))
}
