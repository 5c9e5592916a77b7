//! TFRecord files one record at a time, and Examples written.

use std::sync::{Mutex, PoisonError};

use headrace::data::{BytesArray, Tensor, Value};
use headrace::formats::proto::{self, FeatureValue};
use headrace::formats::tfrecord::{ReadOptions, Reader, Writer, WriterOptions};
use headrace::io::compress::Compression;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::enter::enter;
use crate::errors::{Result, invalid};
use crate::from_python::{Arrays, value};

/// Records read at a time.
const AT_ONCE: usize = 256;

struct Reading {
    reader: Reader,
    records: Option<BytesArray>,
    next: usize,
}

/// Reads a TFRecord file.
#[pyclass(frozen, module = "headrace._headrace")]
pub(crate) struct RecordReader(Mutex<Reading>);

#[pymethods]
impl RecordReader {
    #[new]
    #[pyo3(signature = (path, compression_type))]
    fn new(py: Python<'_>, path: &str, compression_type: Option<&str>) -> Result<Self> {
        let compression = Compression::from_name(compression_type)?;
        let reader = enter(py, || Reader::open(path, compression, ReadOptions::default()))?;
        Ok(RecordReader(Mutex::new(Reading { reader, records: None, next: 0 })))
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyBytes>>> {
        // The lock is never held while waiting for the GIL.
        let record = enter(py, || {
            let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if reading.records.as_ref().is_none_or(|records| reading.next >= records.len()) {
                reading.records = reading.reader.next(AT_ONCE)?;
                reading.next = 0;
            }
            reading.next += 1;
            let at = reading.next - 1;
            reading.records.as_ref().map(|records| records.buffer(at)).transpose()
        })?;
        Ok(record.map(|record| PyBytes::new(py, &record)))
    }
}

/// Writes a TFRecord file.
#[pyclass(frozen, module = "headrace._headrace")]
pub(crate) struct RecordWriter(Mutex<Writer>);

impl RecordWriter {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Writer) -> headrace::Result<T> + Send,
    ) -> Result<T> {
        enter(py, || work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

#[pymethods]
impl RecordWriter {
    #[new]
    #[pyo3(signature = (path, compression_type, compression_level))]
    fn new(
        py: Python<'_>,
        path: &str,
        compression_type: Option<&str>,
        compression_level: Option<u32>,
    ) -> Result<Self> {
        let compression = Compression::from_name(compression_type)?;
        let options = WriterOptions { compression, level: compression_level };
        let writer = enter(py, || Writer::create(path, options))?;
        Ok(RecordWriter(Mutex::new(writer)))
    }

    fn write(&self, py: Python<'_>, record: &[u8]) -> Result<()> {
        // Most records only go into the buffer: without giving up the GIL if nobody else writes.
        if record.len() < 4096
            && let Ok(mut writer) = self.0.try_lock()
        {
            return Ok(writer.write(record)?);
        }
        self.with(py, |writer| writer.write(record))
    }

    fn flush(&self, py: Python<'_>) -> Result<()> {
        self.with(py, Writer::flush)
    }

    fn close(&self, py: Python<'_>) -> Result<()> {
        self.with(py, Writer::close)
    }
}

/// The value of a feature, kept for as long as it is written.
enum Held<'py> {
    Int(i64),
    Float(f32),
    Bytes(Bound<'py, PyBytes>),
    Str(Bound<'py, PyString>),
    BytesList(Vec<Bound<'py, PyBytes>>),
    Tensor(Box<Tensor>),
}

impl<'py> Held<'py> {
    fn new(object: &Bound<'py, PyAny>) -> Result<Self> {
        if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            return Ok(Held::Bytes(bytes.clone()));
        }
        if let Ok(float) = object.cast_exact::<PyFloat>() {
            return Ok(Held::Float(float.value() as f32));
        }
        if object.is_exact_instance_of::<PyInt>() || object.is_exact_instance_of::<PyBool>() {
            return match object.extract() {
                Ok(int) => Ok(Held::Int(int)),
                Err(_) => invalid(format!("{object} does not fit into int64")),
            };
        }
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Held::Str(text.clone()));
        }
        if let Ok(list) = object.cast_exact::<PyList>()
            && let Some(held) = Self::list(list)?
        {
            return Ok(held);
        }
        match value(object, Arrays::Borrow)? {
            Value::Tensor(tensor) => Ok(Held::Tensor(Box::new(tensor))),
            _ => invalid(format!("an Example cannot hold {}", object.repr()?)),
        }
    }

    /// A list of one plain type; `None` for others, which NumPy looks at.
    fn list(list: &Bound<'py, PyList>) -> Result<Option<Self>> {
        let Ok(first) = list.get_item(0) else {
            return Ok(None);
        };
        if first.is_exact_instance_of::<PyBytes>() {
            let items = list.iter().map(|item| item.cast_into_exact::<PyBytes>().ok());
            return Ok(items.collect::<Option<_>>().map(Held::BytesList));
        }
        if first.is_exact_instance_of::<PyInt>() {
            let items = list.iter().map(|item| item.cast_exact::<PyInt>().ok()?.extract().ok());
            let items: Option<Vec<i64>> = items.collect();
            let tensor = |items: Vec<i64>| Tensor::from_values(&[items.len()], &items);
            return Ok(items.map(tensor).transpose()?.map(Box::new).map(Held::Tensor));
        }
        if first.is_exact_instance_of::<PyFloat>() {
            let items =
                list.iter().map(|item| Some(item.cast_exact::<PyFloat>().ok()?.value() as f32));
            let items: Option<Vec<f32>> = items.collect();
            let tensor = |items: Vec<f32>| Tensor::from_values(&[items.len()], &items);
            return Ok(items.map(tensor).transpose()?.map(Box::new).map(Held::Tensor));
        }
        Ok(None)
    }

    fn value(&self) -> Result<FeatureValue<'_>> {
        Ok(match self {
            Held::Int(value) => FeatureValue::Int(*value),
            Held::Float(value) => FeatureValue::Float(*value),
            Held::Bytes(value) => FeatureValue::Bytes(value.as_bytes()),
            Held::Str(value) => FeatureValue::Bytes(value.to_str()?.as_bytes()),
            Held::BytesList(values) => {
                FeatureValue::BytesList(values.iter().map(|value| value.as_bytes()).collect())
            }
            Held::Tensor(tensor) => FeatureValue::Tensor(tensor),
        })
    }
}

/// The keys of the last Example as addresses, and their order.
static LAST_KEYS: Mutex<(Vec<usize>, Vec<usize>)> = Mutex::new((Vec::new(), Vec::new()));

/// The ascending order of the keys. Examples written in a loop have the same key objects in the
/// same order, so that of the last is tried; should it not fit, the writer sorts.
fn key_order(held: &[(Bound<'_, PyString>, Held<'_>)]) -> Result<Vec<usize>> {
    let addresses = held.iter().map(|(name, _)| name.as_ptr().addr());
    let mut last = LAST_KEYS.lock().unwrap_or_else(PoisonError::into_inner);
    if last.0.iter().copied().eq(addresses.clone()) {
        return Ok(last.1.clone());
    }
    let names = held.iter().map(|(name, _)| Ok(name.to_str()?)).collect::<Result<Vec<_>>>()?;
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|index| names[*index]);
    *last = (addresses.collect(), order.clone());
    Ok(order)
}

/// Writes a `tf.train.Example`.
#[pyfunction]
pub(crate) fn serialize_example<'py>(
    py: Python<'py>,
    features: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyBytes>> {
    let mut held = Vec::with_capacity(features.len());
    for (name, value) in features {
        let name = name.cast_into::<PyString>()?;
        match Held::new(&value) {
            Ok(value) => held.push((name, value)),
            Err(crate::errors::Fault::Core(error)) => {
                return Err(error.at_feature(name.to_str()?).into());
            }
            Err(fault) => return Err(fault),
        }
    }
    let mut entries = Vec::with_capacity(held.len());
    for index in key_order(&held)? {
        let (name, held) = &held[index];
        entries.push((name.to_str()?, held.value()?));
    }
    let bytes = proto::serialize_example(&entries)?;
    Ok(PyBytes::new(py, &bytes))
}
