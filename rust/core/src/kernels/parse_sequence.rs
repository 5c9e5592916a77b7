//! Parsing SequenceExamples: `parse_single_sequence_example` of a record and
//! `parse_sequence_example` of a vector of records, each with perhaps their names. The static
//! arguments `context_features` and `sequence_features` are lists of mappings, one a feature.
//! Outputs are the context, the steps and, of a batch, the lengths of dense steps.

use std::sync::Arc;

use crate::data::{BytesArray, Column, Spec, Value, Wanted};
use crate::error::{Error, Result};
use crate::formats::parse::SequencePlan;
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::parse::{check_bytes, named_feature};

#[derive(Debug)]
struct ParseSequence {
    plan: SequencePlan,
    is_single: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let is_single = match op {
        "parse_single_sequence_example" => true,
        "parse_sequence_example" => false,
        _ => return Ok(None),
    };
    attrs.only(&["context_features", "sequence_features"])?;
    let features =
        |name: &str| attrs.list(name)?.iter().map(named_feature).collect::<Result<Vec<_>>>();
    let plan = SequencePlan::new(features("context_features")?, features("sequence_features")?)?;
    Ok(Some(Arc::new(ParseSequence { plan, is_single })))
}

impl ParseSequence {
    fn op(&self) -> &'static str {
        if self.is_single { "parse_single_sequence_example" } else { "parse_sequence_example" }
    }

    fn rank(&self) -> usize {
        usize::from(!self.is_single)
    }

    /// The strings of one row of an argument.
    fn row(&self, arg: &Arg, row: usize) -> Result<BytesArray> {
        let dims = arg.row_dims()?;
        if dims.len() != self.rank() {
            let (op, wanted) = (self.op(), self.rank());
            return Err(Error::invalid_argument(format!(
                "{op} needs bytes of rank {wanted}, got shape {dims:?}"
            )));
        }
        let count: usize = dims.iter().product();
        let start = if arg.is_const() { 0 } else { row * count };
        Ok(arg.tensor()?.strings()?.slice(start..start + count))
    }
}

impl Kernel for ParseSequence {
    fn infer(&self, inputs: &[Spec]) -> Result<Vec<Spec>> {
        let (records, names) = match inputs {
            [records] => (records, None),
            [records, names] => (records, Some(names)),
            _ => return Err(Error::invalid_argument("expected records and perhaps their names")),
        };
        check_bytes(self.op(), "the records", records, self.rank())?;
        names.map_or(Ok(()), |names| check_bytes(self.op(), "their names", names, self.rank()))?;
        if self.is_single {
            return Ok(self.plan.outputs_single());
        }
        let count = records.shape().dims().and_then(|dims| dims.first().copied()).flatten();
        Ok(self.plan.outputs_batch(count))
    }

    fn run(&self, args: &[Arg], rows: usize, wanted: &[Wanted]) -> Result<Vec<Column>> {
        let Some((records, names)) = args.split_first() else {
            return Err(Error::internal("no records to parse"));
        };
        let mut outputs: Vec<Vec<Value>> = vec![Vec::with_capacity(rows); wanted.len()];
        for index in 0..rows {
            let records = self.row(records, index)?;
            let names = names.first().map(|names| self.row(names, index)).transpose()?;
            let values = match self.is_single {
                true => self.plan.parse_single(&records, names.as_ref())?,
                false => self.plan.parse_batch(&records, names.as_ref())?,
            };
            outputs.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
        outputs.iter().map(|values| Column::from_values(values)).collect()
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{DType, Dims, Tensor};
    use crate::graph::attr::Attr;

    fn attrs() -> Attrs {
        let feature = |name: &str, kind: &str| {
            Attr::Map(vec![
                ("name".into(), Attr::Str(name.into())),
                ("kind".into(), Attr::Str(kind.into())),
                ("dtype".into(), Attr::DType(DType::Int64)),
                ("shape".into(), Attr::List(vec![])),
                ("allow_missing".into(), Attr::Bool(true)),
            ])
        };
        Attrs::new()
            .with("context_features", Attr::List(vec![feature("c", "FixedLenFeature")]))
            .with("sequence_features", Attr::List(vec![feature("s", "FixedLenSequenceFeature")]))
    }

    /// A record with the context `c = [count]` and as many steps of one value.
    fn record(count: u8) -> Vec<u8> {
        let int = |value: u8| vec![0x1a, 3, 0x0a, 1, value];
        let field =
            |number: u8, bytes: Vec<u8>| [vec![number << 3 | 2, bytes.len() as u8], bytes].concat();
        let entry = |key: &[u8], value: Vec<u8>| {
            field(1, [field(1, key.to_vec()), field(2, value)].concat())
        };
        let steps: Vec<u8> = (0..count).flat_map(|step| field(1, int(step))).collect();
        [field(1, entry(b"c", int(count))), field(2, entry(b"s", steps))].concat()
    }

    fn tensor(records: &[Vec<u8>], dims: &[usize]) -> Tensor {
        let records = BytesArray::from_values(records).unwrap();
        Tensor::text(DType::Bytes, Dims::from_slice(dims), records).unwrap()
    }

    #[test]
    fn single_records_differ_in_their_steps() {
        let kernel = crate::kernels::build("parse_single_sequence_example", &attrs()).unwrap();
        let specs = kernel.infer(&[Spec::scalar(DType::Bytes)]).unwrap();
        assert_eq!(specs, [Spec::scalar(DType::Int64), Spec::tensor(DType::Int64, [None])]);
        let arg = Arg::Column(Column::Stacked(tensor(&[record(1), record(3)], &[2])));
        let columns = kernel.run(&[arg], 2, &[Wanted::All; 2]).unwrap();
        assert!(matches!(&columns[1], Column::Rows(rows) if rows.shapes()[1][..] == [3]));
    }

    #[test]
    fn a_batch_is_padded_and_knows_its_lengths() {
        let kernel = crate::kernels::build("parse_sequence_example", &attrs()).unwrap();
        let specs = kernel.infer(&[Spec::tensor(DType::Bytes, [Some(2)])]).unwrap();
        assert_eq!(specs[1], Spec::tensor(DType::Int64, [Some(2), None]));
        assert_eq!(specs[2], Spec::tensor(DType::Int64, [Some(2)]));
        let arg = Arg::Const(tensor(&[record(1), record(3)], &[2]));
        let columns = kernel.run(&[arg], 1, &[Wanted::All; 3]).unwrap();
        let ints = |column: &Column| match column {
            Column::Stacked(tensor) => tensor.values::<i64>().unwrap().to_vec(),
            _ => panic!("not stacked"),
        };
        assert_eq!(ints(&columns[0]), [1, 3]);
        assert_eq!(ints(&columns[1]), [0, 0, 0, 0, 1, 2]);
        assert_eq!(ints(&columns[2]), [1, 3]);
    }
}
