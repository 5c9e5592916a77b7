//! `CsvDataset`: the records of CSV files as tuples of scalars, one file after another.

use std::sync::Arc;

use super::files::{FileReader, FilesStage, filenames};
use crate::data::{BytesBuilder, Chunk, Column, DType, ElementSpec, Spec, Structure, Tensor};
use crate::engine::node::Arg;
use crate::engine::skipping::{SkipError, Skipped};
use crate::engine::{Cardinality, Node, Opening, Plan, Stage};
use crate::error::{Error, ErrorKind, Result};
use crate::formats::csv::{Fields, Step, Syntax, number};
use crate::formats::lines::more;
use crate::graph::hash::Fnv;
use crate::io::compress::Compression;
use crate::io::window::{BLOCK_BYTES, Window};

/// Payload after which a call hands out what it has.
const CHUNK_BYTES: usize = 1 << 20;
/// Longest record of a compressed file, where few bytes can stand for many.
const MAX_INFLATED_RECORD: usize = 1 << 30;

/// One column of the result.
#[derive(Clone, Debug)]
pub struct CsvColumn {
    /// int32, int64, float32, float64, bytes or str.
    pub dtype: DType,
    /// A scalar that stands for an empty field; `None`: the field is required.
    pub default: Option<Tensor>,
}

/// How to read.
#[derive(Clone, Debug)]
pub struct CsvOptions {
    /// How files are compressed.
    pub compression: Compression,
    /// Bytes of a read.
    pub buffer_size: Option<usize>,
    /// Whether the first record of each file is passed over.
    pub header: bool,
    /// How fields are divided.
    pub syntax: Syntax,
    /// What counts as empty, too.
    pub na_value: Vec<u8>,
    /// Numbers of the fields that are read, rising; all if there are none.
    pub select: Vec<u64>,
    /// Numbers of the fields that are not read, rising.
    pub exclude: Vec<u64>,
}

/// The records of some files.
pub struct CsvNode {
    files: Arc<[String]>,
    shared: Arc<Shared>,
    spec: ElementSpec,
}

struct Shared {
    columns: Vec<CsvColumn>,
    options: CsvOptions,
    structure: Arc<Structure>,
}

impl CsvNode {
    /// A plan of the records of `files`. Files are opened when their turn comes.
    ///
    /// # Errors
    /// `InvalidArgument` for columns of other dtypes, defaults that do not fit them, or a selection
    /// that does not.
    pub fn plan(files: Vec<String>, columns: Vec<CsvColumn>, options: CsvOptions) -> Result<Plan> {
        let invalid = |text: String| Err(Error::invalid_argument(text));
        for (i, CsvColumn { dtype, default }) in columns.iter().enumerate() {
            use DType::{Bytes, Float32, Float64, Int32, Int64, Str};
            if !matches!(dtype, Int32 | Int64 | Float32 | Float64 | Bytes | Str) {
                return invalid(format!(
                    "record_defaults[{i}] is {dtype}; valid are int32, int64, float32, float64, \
                     bytes, str"
                ));
            }
            if default.as_ref().is_some_and(|t| t.dtype() != *dtype || !t.dims().is_empty()) {
                return invalid(format!("record_defaults[{i}] must be a {dtype} scalar"));
            }
        }
        let CsvOptions { select, exclude, .. } = &options;
        let rising = |cols: &[u64]| cols.windows(2).all(|pair| pair[0] < pair[1]);
        if !select.is_empty() && select.len() != columns.len() {
            return invalid("select_cols should match output size".into());
        }
        if !select.is_empty() && !exclude.is_empty() {
            return invalid("give either select_cols or exclude_cols, not both".into());
        }
        if !rising(select) || !rising(exclude) {
            let which = if rising(select) { "exclude_cols" } else { "select_cols" };
            return invalid(format!("{which} should be strictly increasing indices"));
        }
        let structure = Arc::new(Structure::Tuple(vec![Structure::Leaf; columns.len()]));
        let specs = columns.iter().map(|column| Spec::scalar(column.dtype)).collect();
        let spec = ElementSpec::Known(Arc::clone(&structure), specs);
        let shared = Arc::new(Shared { columns, options, structure });
        Ok(Arc::new(CsvNode { files: files.into(), shared, spec }))
    }
}

impl Node for CsvNode {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn args(&self) -> Vec<Arg> {
        let options = &self.shared.options;
        let mut defaults = Fnv::default();
        for column in &self.shared.columns {
            defaults.bytes(format!("{column:?}").as_bytes());
        }
        let delimiter = char::from(options.syntax.delimiter);
        let types = self.spec.specs().unwrap_or_default().iter().map(Spec::kind);
        let types = types.collect::<Vec<_>>().join(", ");
        vec![
            filenames(&self.files),
            Arg::new("record_defaults", format_args!("({types}) [{:016x}]", defaults.finish())),
            Arg::new("compression_type", options.compression.name()),
            Arg::new("header", options.header),
            Arg::new("field_delim", format_args!("{delimiter:?}")),
            Arg::new("use_quote_delim", options.syntax.quotes),
            Arg::new("na_value", String::from_utf8_lossy(&options.na_value)),
            Arg::new("select_cols", format_args!("{:?}", options.select)),
            Arg::new("exclude_cols", format_args!("{:?}", options.exclude)),
        ]
    }

    fn inputs(&self) -> Vec<Plan> {
        Vec::new()
    }

    fn spec(&self) -> &ElementSpec {
        &self.spec
    }

    fn cardinality(&self) -> Cardinality {
        if self.files.is_empty() { Cardinality::Known(0) } else { Cardinality::Unknown }
    }

    fn open(&self, opening: &Opening<'_>) -> Result<Box<dyn Stage>> {
        let shared = Arc::clone(&self.shared);
        let open = move |path: &str| -> Box<dyn FileReader> {
            Box::new(CsvReader {
                path: path.into(),
                shared: Arc::clone(&shared),
                window: None,
                record: 0,
                offset: 0,
                last: false,
                done: false,
                pending: None,
            })
        };
        Ok(Box::new(FilesStage::new(&self.files, Box::new(open), opening.run)))
    }
}

struct CsvReader {
    path: Arc<str>,
    shared: Arc<Shared>,
    window: Option<Window>,
    record: u64,
    offset: u64,
    /// Nothing comes after the window.
    last: bool,
    done: bool,
    pending: Option<Error>,
}

/// The values of one column.
enum Builder {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Text(DType, BytesBuilder),
}

/// One value, parsed.
enum Parsed {
    Int32(i32),
    Int64(i64),
    Float32(f32),
    Float64(f64),
    Bytes(Vec<u8>),
}

impl Builder {
    fn new(dtype: DType) -> Self {
        match dtype {
            DType::Int32 => Builder::Int32(Vec::new()),
            DType::Int64 => Builder::Int64(Vec::new()),
            DType::Float32 => Builder::Float32(Vec::new()),
            DType::Float64 => Builder::Float64(Vec::new()),
            _ => Builder::Text(dtype, BytesBuilder::default()),
        }
    }

    fn push(&mut self, value: Parsed) {
        match (self, value) {
            (Builder::Int32(values), Parsed::Int32(value)) => values.push(value),
            (Builder::Int64(values), Parsed::Int64(value)) => values.push(value),
            (Builder::Float32(values), Parsed::Float32(value)) => values.push(value),
            (Builder::Float64(values), Parsed::Float64(value)) => values.push(value),
            (Builder::Text(_, values), Parsed::Bytes(value)) => values.push(&value),
            _ => {}
        }
    }

    fn finish(self, rows: usize) -> Result<Column> {
        let dims = &[rows];
        Ok(Column::Stacked(match self {
            Builder::Int32(values) => Tensor::from_values(dims, &values)?,
            Builder::Int64(values) => Tensor::from_values(dims, &values)?,
            Builder::Float32(values) => Tensor::from_values(dims, &values)?,
            Builder::Float64(values) => Tensor::from_values(dims, &values)?,
            Builder::Text(dtype, values) => Tensor::text(dtype, dims[..].into(), values.finish()?)?,
        }))
    }
}

impl Shared {
    /// The value of a field for output `index`.
    fn parse(&self, index: usize, field: &[u8]) -> Result<Parsed> {
        let Some(column) = self.columns.get(index) else {
            let count = self.columns.len();
            return Err(wrong(format!("Expect {count} fields but have more in record")));
        };
        if field.is_empty() || field == self.options.na_value {
            let required = || wrong(format!("Field {index} is required but missing in record!"));
            let default = column.default.as_ref().ok_or_else(required)?;
            return Ok(match column.dtype {
                DType::Int32 => Parsed::Int32(first(default.values()?)),
                DType::Int64 => Parsed::Int64(first(default.values()?)),
                DType::Float32 => Parsed::Float32(first(default.values()?)),
                DType::Float64 => Parsed::Float64(first(default.values()?)),
                _ => Parsed::Bytes(default.strings()?.get(0).to_vec()),
            });
        }
        let invalid = |kind: &'static str| {
            move |text| wrong(format!("Field {index} in record is not a valid {kind}: {text}"))
        };
        Ok(match column.dtype {
            DType::Int32 => Parsed::Int32(number(field).map_err(invalid("int32"))?),
            DType::Int64 => Parsed::Int64(number(field).map_err(invalid("int64"))?),
            DType::Float32 => Parsed::Float32(number(field).map_err(invalid("float"))?),
            DType::Float64 => Parsed::Float64(number(field).map_err(invalid("double"))?),
            DType::Str if std::str::from_utf8(field).is_err() => {
                let text = String::from_utf8_lossy(field);
                return Err(invalid("UTF-8 string")(text.into_owned()));
            }
            _ => Parsed::Bytes(field.to_vec()),
        })
    }

    /// True if field `number` is read.
    fn includes(&self, number: u64) -> bool {
        let CsvOptions { select, exclude, .. } = &self.options;
        (select.is_empty() || select.binary_search(&number).is_ok())
            && exclude.binary_search(&number).is_err()
    }

    /// Parses the record at the front of `bytes`: its values or what is wrong with it, and its
    /// length. `None` if there are too few bytes.
    fn record(&self, bytes: &[u8], last: bool) -> Option<(Result<Vec<Parsed>>, usize)> {
        let mut fields = Fields::new(bytes, last, self.options.syntax);
        let mut values = Vec::with_capacity(self.columns.len());
        let mut error = None;
        let mut number = 0;
        while !fields.ended() {
            // The rest of a record that is wrong is passed over.
            match fields.step() {
                Step::Short => return None,
                Step::Wrong(wrong) => error = error.or(Some(wrong)),
                Step::Field(field) if self.includes(number) && error.is_none() => {
                    match self.parse(values.len(), &field.value(bytes)) {
                        Ok(value) => values.push(value),
                        Err(wrong) => error = Some(wrong),
                    }
                }
                Step::Field(_) => {}
            }
            number += 1;
        }
        let (want, have) = (self.columns.len(), values.len());
        if error.is_none() && have < want {
            error = Some(wrong(format!("Expect {want} fields but have {have} in record")));
        }
        Some((error.map_or(Ok(values), Err), fields.consumed()))
    }
}

fn first<T: Copy + Default>(values: &[T]) -> T {
    values.first().copied().unwrap_or_default()
}

fn wrong(text: String) -> Error {
    Error::invalid_argument(text)
}

impl CsvReader {
    /// The window, past the header.
    fn open(&mut self) -> Result<Window> {
        if let Some(window) = self.window.take() {
            return Ok(window);
        }
        let options = &self.shared.options;
        let block = options.buffer_size.unwrap_or(BLOCK_BYTES).clamp(1, 64 << 20);
        let mut window = Window::open(&self.path, options.compression, block)?;
        if options.header && !self.pass_record(&mut window)? {
            return Err(wrong("Can't read header of file".into()));
        }
        Ok(window)
    }

    /// Brings more of the present record into the window.
    fn bring(&mut self, window: &mut Window) -> Result<()> {
        let options = &self.shared.options;
        let limited = options.compression != Compression::None;
        if limited && window.available() >= MAX_INFLATED_RECORD {
            let text = format!("a record of more than {MAX_INFLATED_RECORD} bytes");
            return Err(Error::resource_exhausted(text));
        }
        if !more(window, options.buffer_size.unwrap_or(BLOCK_BYTES))? {
            window.take_error().map_or(Ok(()), Err)?;
            self.last = true;
        }
        Ok(())
    }

    /// Passes over one record; false if there is none.
    fn pass_record(&mut self, window: &mut Window) -> Result<bool> {
        loop {
            if !window.rest().is_empty() || self.last {
                let mut fields = Fields::new(window.rest(), self.last, self.shared.options.syntax);
                let mut short = window.rest().is_empty();
                while !short && !fields.ended() {
                    short = matches!(fields.step(), Step::Short);
                }
                let length = fields.consumed();
                if !short {
                    window.consume(length);
                    self.offset += length as u64;
                    return Ok(true);
                }
            }
            if self.last {
                return Ok(false);
            }
            self.bring(window)?;
        }
    }

    /// The next record's values or what is wrong with it; `None` at the end of the file.
    fn read(&mut self, window: &mut Window) -> Result<Option<(Vec<Parsed>, usize)>> {
        loop {
            if !window.rest().is_empty()
                && let Some((outcome, length)) = self.shared.record(window.rest(), self.last)
            {
                let at = (self.record, self.offset);
                window.consume(length);
                self.record += 1;
                self.offset += length as u64;
                let values = outcome.map_err(|e| e.at_record(at.0, at.1).at_file(&self.path))?;
                return Ok(Some((values, length)));
            }
            if self.last {
                return Ok(None);
            }
            self.bring(window)?;
        }
    }

    /// Fails for good, where the file cannot be read on.
    fn fail(&mut self, error: Error) -> Error {
        self.done = true;
        error.at_record(self.record, self.offset).at_file(&self.path)
    }
}

impl FileReader for CsvReader {
    fn next(&mut self, max: usize) -> Result<Option<Chunk>> {
        if let Some(error) = self.pending.take() {
            return Err(error);
        }
        if self.done {
            return Ok(None);
        }
        let mut window = self.open().map_err(|e| self.fail_to_open(e))?;
        let columns = &self.shared.columns;
        let mut builders: Vec<_> = columns.iter().map(|c| Builder::new(c.dtype)).collect();
        let (mut rows, mut payload) = (0, 0);
        while rows < max.max(1) && payload < CHUNK_BYTES && self.pending.is_none() {
            match self.read(&mut window) {
                Ok(Some((values, length))) => {
                    builders.iter_mut().zip(values).for_each(|(b, value)| b.push(value));
                    rows += 1;
                    payload += length;
                }
                Ok(None) => {
                    self.done = true;
                    break;
                }
                // One record is wrong: the next can follow.
                Err(error) if error.kind() == ErrorKind::InvalidArgument => {
                    self.pending = Some(error);
                }
                Err(error) => self.pending = Some(self.fail(error)),
            }
        }
        self.window = Some(window);
        if rows == 0 {
            return self.pending.take().map_or(Ok(None), Err);
        }
        let columns = builders.into_iter().map(|b| b.finish(rows)).collect::<Result<_>>()?;
        Chunk::new(rows, Arc::clone(&self.shared.structure), columns).map(Some)
    }

    fn skip(&mut self, n: u64) -> Skipped {
        if n == 0 || (self.done && self.pending.is_none()) {
            return Ok(0);
        }
        if let Some(error) = self.pending.take() {
            return Err(SkipError::behind(0, error));
        }
        let mut left = n;
        let opened = self.open().map_err(|e| self.fail_to_open(e));
        let mut window = opened.map_err(|error| SkipError::behind(0, error))?;
        while left > 0 {
            match self.pass_record(&mut window) {
                Ok(true) => {
                    self.record += 1;
                    left -= 1;
                }
                Ok(false) => {
                    self.done = true;
                    break;
                }
                Err(error) => {
                    self.window = Some(window);
                    return Err(SkipError::behind(n - left, self.fail(error)));
                }
            }
        }
        self.window = Some(window);
        Ok(n - left)
    }
}

impl CsvReader {
    fn fail_to_open(&mut self, error: Error) -> Error {
        self.done = true;
        error.at_file(&self.path)
    }
}
