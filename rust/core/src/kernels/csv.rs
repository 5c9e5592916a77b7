//! `decode_csv`: records of CSV as columns (`tf.io.decode_csv`).

use std::sync::Arc;

use crate::data::{BytesBuilder, Column, DType, Element, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::{Attr, Attrs};
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{dense, inputs};
use crate::kernels::shape::stacked;
use crate::kernels::strings::number;

/// One column of the result.
#[derive(Debug)]
struct Output {
    dtype: DType,
    /// What stands for an empty field; without it a field must not be empty.
    default: Option<Tensor>,
}

#[derive(Debug)]
struct DecodeCsv {
    outputs: Vec<Output>,
    delimiter: u8,
    quotes: bool,
    /// Another text for an empty field.
    na_value: Vec<u8>,
    /// The fields that are read, ascending; all if not given.
    select: Option<Vec<usize>>,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "decode_csv" {
        return Ok(None);
    }
    attrs.only(&["outputs", "field_delim", "use_quote_delim", "na_value", "select_cols"])?;
    let [delimiter] = attrs.str("field_delim")?.as_bytes() else {
        return Err(Error::invalid_argument("field_delim should be only 1 char"));
    };
    let select = attrs.opt_ints("select_cols")?.map(|columns| {
        let columns: Option<Vec<usize>> =
            columns.iter().map(|column| usize::try_from(*column).ok()).collect();
        columns.filter(|columns| columns.is_sorted_by(|a, b| a < b)).ok_or_else(|| {
            Error::invalid_argument("select_cols should be strictly increasing indices")
        })
    });
    let select = select.transpose()?;
    let outputs = attrs.list("outputs")?.iter().map(output).collect::<Result<Vec<_>>>()?;
    if let Some(select) = select.as_ref().filter(|select| select.len() != outputs.len()) {
        let (columns, outputs) = (select.len(), outputs.len());
        return Err(Error::invalid_argument(format!(
            "select_cols should match output size: {columns} columns for {outputs} defaults"
        )));
    }
    Ok(Some(Arc::new(DecodeCsv {
        outputs,
        delimiter: *delimiter,
        quotes: attrs.bool_or("use_quote_delim", true)?,
        na_value: attrs.opt_str("na_value")?.unwrap_or_default().as_bytes().to_vec(),
        select,
    })))
}

fn output(attr: &Attr) -> Result<Output> {
    let Attr::List(pair) = attr else {
        return Err(Error::invalid_argument(format!("expected dtype and default, got {attr}")));
    };
    let (dtype, default) = match pair.as_slice() {
        [Attr::DType(dtype), Attr::None] => (*dtype, None),
        [Attr::DType(dtype), Attr::Tensor(default)] => (*dtype, Some(default.clone())),
        _ => return Err(Error::invalid_argument(format!("{attr} is no dtype and default"))),
    };
    let known = matches!(
        dtype,
        DType::Float32 | DType::Float64 | DType::Int32 | DType::Int64 | DType::Bytes
    );
    if !known {
        return Err(Error::invalid_argument(format!(
            "{dtype} is not in the list of allowed values: float32, float64, int32, int64, bytes"
        )));
    }
    if default.as_ref().is_some_and(|default| default.dtype() != dtype || default.len() != 1) {
        return Err(Error::invalid_argument(format!("a default of {dtype} must be one value")));
    }
    Ok(Output { dtype, default })
}

/// What is collected of one column.
enum Values {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Bytes(BytesBuilder),
}

impl Values {
    fn new(dtype: DType) -> Self {
        match dtype {
            DType::Int32 => Values::Int32(Vec::new()),
            DType::Int64 => Values::Int64(Vec::new()),
            DType::Float32 => Values::Float32(Vec::new()),
            DType::Float64 => Values::Float64(Vec::new()),
            _ => Values::Bytes(BytesBuilder::default()),
        }
    }

    /// Appends what a field says; false if it is no such number.
    fn push(&mut self, field: &[u8]) -> bool {
        fn add<T>(values: &mut Vec<T>, value: Option<T>) -> bool {
            let is_number = value.is_some();
            values.extend(value);
            is_number
        }
        let text = field.trim_ascii();
        match self {
            Values::Int32(values) => add(values, number::integer(text)),
            Values::Int64(values) => add(values, number::integer(text)),
            Values::Float32(values) => add(values, number::float32(text)),
            Values::Float64(values) => add(values, number::float(text)),
            Values::Bytes(values) => {
                values.push(field);
                true
            }
        }
    }

    fn push_default(&mut self, default: &Tensor) -> Result<()> {
        fn one<T: Element>(values: &mut Vec<T>, default: &Tensor) -> Result<()> {
            values.extend_from_slice(default.values::<T>()?);
            Ok(())
        }
        match self {
            Values::Int32(values) => one(values, default),
            Values::Int64(values) => one(values, default),
            Values::Float32(values) => one(values, default),
            Values::Float64(values) => one(values, default),
            Values::Bytes(values) => {
                default.strings()?.iter().for_each(|value| values.push(value));
                Ok(())
            }
        }
    }

    fn finish(self, dims: &[usize]) -> Result<Tensor> {
        match self {
            Values::Int32(values) => Tensor::from_values(dims, &values),
            Values::Int64(values) => Tensor::from_values(dims, &values),
            Values::Float32(values) => Tensor::from_values(dims, &values),
            Values::Float64(values) => Tensor::from_values(dims, &values),
            Values::Bytes(values) => Tensor::text(DType::Bytes, dims.into(), values.finish()?),
        }
    }
}

impl DecodeCsv {
    /// The fields of a record that are wanted, by TensorFlow's reading of quotes.
    fn fields(&self, record: &[u8]) -> Result<Vec<Vec<u8>>, &'static str> {
        let mut fields = Vec::new();
        let mut number = 0;
        let mut at = 0;
        let wanted = |number: usize, found: usize| match &self.select {
            None => true,
            Some(select) => select.get(found) == Some(&number),
        };
        while at < record.len() {
            if matches!(record[at], b'\n' | b'\r') {
                at += 1;
                continue;
            }
            let mut field = Vec::new();
            if self.quotes && record[at] == b'"' {
                at += 1;
                let ends = |at: usize| {
                    record.get(at) == Some(&b'"')
                        && record.get(at + 1).is_none_or(|next| *next == self.delimiter)
                };
                while at + 1 < record.len() && !ends(at) {
                    if record[at] == b'"' {
                        if record[at + 1] != b'"' {
                            return Err("Quote inside a string has to be escaped by another quote");
                        }
                        at += 1;
                    }
                    field.push(record[at]);
                    at += 1;
                }
                if !ends(at) {
                    return Err("Quoted field has to end with quote followed by delim or end");
                }
                at += 2;
            } else {
                let rest = &record[at..];
                let length = rest.iter().position(|byte| *byte == self.delimiter);
                let value = &rest[..length.unwrap_or(rest.len())];
                let is_bad =
                    |byte: &u8| self.quotes && *byte == b'"' || matches!(byte, b'\n' | b'\r');
                if value.iter().any(is_bad) {
                    return Err("Unquoted fields cannot have quotes/CRLFs inside");
                }
                field.extend_from_slice(value);
                at += value.len() + 1;
            }
            if wanted(number, fields.len()) {
                fields.push(field);
                if self.select.as_ref().is_some_and(|select| select.len() == fields.len()) {
                    return Ok(fields);
                }
            }
            number += 1;
        }
        if record.last() == Some(&self.delimiter) && wanted(number, fields.len()) {
            fields.push(Vec::new());
        }
        Ok(fields)
    }

    fn record(&self, index: usize, record: &[u8], columns: &mut [Values]) -> Result<()> {
        let fields = self.fields(record).map_err(Error::invalid_argument)?;
        if fields.len() != self.outputs.len() {
            let (wanted, found) = (self.outputs.len(), fields.len());
            return Err(Error::invalid_argument(format!(
                "Expect {wanted} fields but have {found} in record {index}"
            )));
        }
        let outputs = self.outputs.iter().zip(columns);
        for (number, (field, (output, values))) in fields.iter().zip(outputs).enumerate() {
            if field.is_empty() || *field == self.na_value {
                let Some(default) = &output.default else {
                    return Err(Error::invalid_argument(format!(
                        "Field {number} is required but missing in record {index}!"
                    )));
                };
                values.push_default(default)?;
            } else if !values.push(field) {
                let dtype = crate::formats::tensor_proto::type_name(output.dtype);
                let shown = String::from_utf8_lossy(&field[..field.len().min(80)]);
                return Err(Error::invalid_argument(format!(
                    "Field {number} in record {index} is not a valid {dtype}: {shown}"
                )));
            }
        }
        Ok(())
    }
}

impl Kernel for DecodeCsv {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if !dtype.is_text() {
            return Err(Error::invalid_argument(format!("decode_csv takes bytes, got {dtype}")));
        }
        let spec = |output: &Output| Spec::Tensor { dtype: output.dtype, shape: shape.clone() };
        Ok(self.outputs.iter().map(spec).collect())
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let tensor = stacked(arg, rows)?;
        let records = tensor.strings()?;
        let per_row = records.len().checked_div(rows).unwrap_or(0).max(1);
        let mut columns: Vec<Values> =
            self.outputs.iter().map(|output| Values::new(output.dtype)).collect();
        for (index, record) in records.iter().enumerate() {
            self.record(index % per_row, record, &mut columns)?;
        }
        let column = |values: Values| Ok(Column::Stacked(values.finish(tensor.dims())?));
        columns.into_iter().map(column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(select: Option<Vec<usize>>, record: &str) -> Result<Vec<String>, &'static str> {
        let kernel = DecodeCsv {
            outputs: Vec::new(),
            delimiter: b',',
            quotes: true,
            na_value: Vec::new(),
            select,
        };
        let fields = kernel.fields(record.as_bytes())?;
        Ok(fields.into_iter().map(|field| String::from_utf8(field).unwrap()).collect())
    }

    #[test]
    fn quotes_enclose_and_double() {
        assert_eq!(fields(None, "1,\"a,b\",\"c\"\"d\"").unwrap(), ["1", "a,b", "c\"d"]);
        assert_eq!(fields(None, ",,").unwrap(), ["", "", ""]);
        assert!(fields(None, "a\n").unwrap_err().contains("CRLF"));
        assert_eq!(fields(None, "\"\"").unwrap(), [""]);
        for record in ["a\"b", "\"a\"b", "\"a", "\"", "\"a\"\""] {
            assert!(fields(None, record).is_err(), "{record}");
        }
    }

    #[test]
    fn only_some_fields_are_taken() {
        assert_eq!(fields(Some(vec![0, 2]), "1,2,3,\"x").unwrap(), ["1", "3"]);
        assert_eq!(fields(Some(vec![1]), "1,").unwrap(), [""]);
        assert_eq!(fields(Some(vec![3]), "1,2").unwrap(), [""; 0]);
    }

    #[test]
    fn no_bytes_panic() {
        proptest::proptest!(|(record in "[a,\"\r\n]{0,12}")| {
            let _ = fields(None, &record);
        });
    }
}
