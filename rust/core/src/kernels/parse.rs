//! Parsing Examples: `parse_single_example` of a record, `parse_example` of a vector of records
//! and perhaps their names. The static argument `features` is a list of mappings, one a feature;
//! outputs keep its order.

use std::sync::Arc;

use crate::data::{Column, DType, Spec, Value, Wanted};
use crate::error::{Error, Result};
use crate::formats::parse::{Feature, ParsePlan, Partition};
use crate::graph::attr::{Attr, Attrs};
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::inputs;

#[derive(Debug)]
struct ParseSingleExample(ParsePlan);

#[derive(Debug)]
struct ParseExample(ParsePlan);

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    Ok(match op {
        "parse_single_example" => Some(Arc::new(ParseSingleExample(plan(attrs)?))),
        "parse_example" => Some(Arc::new(ParseExample(plan(attrs)?))),
        _ => None,
    })
}

/// The plan of a list of features. Errors name rows by their element, not by their chunk's row.
fn plan(attrs: &Attrs) -> Result<ParsePlan> {
    attrs.only(&["features"])?;
    let features = attrs.list("features")?.iter().map(named_feature).collect::<Result<_>>()?;
    Ok(ParsePlan::new(features)?.without_row_numbers())
}

pub(super) fn named_feature(attr: &Attr) -> Result<(String, Feature)> {
    let Attr::Map(items) = attr else {
        return Err(Error::invalid_argument(format!("a feature must be a dict, got {attr}")));
    };
    let mut attrs = Attrs::new();
    items.iter().for_each(|(name, item)| attrs.insert(name, item.clone()));
    let name = attrs.str("name")?.to_owned();
    let feature = feature(&attrs).map_err(|error| error.at_feature(&name))?;
    Ok((name, feature))
}

fn feature(attrs: &Attrs) -> Result<Feature> {
    let dtype = attrs.dtype("dtype")?;
    Ok(match attrs.str("kind")? {
        "FixedLenFeature" => Feature::FixedLen {
            dtype,
            shape: attrs.shape("shape")?,
            default: attrs.opt_tensor("default_value")?.cloned(),
        },
        "VarLenFeature" => Feature::VarLen { dtype },
        "FixedLenSequenceFeature" => Feature::FixedLenSequence {
            dtype,
            shape: attrs.shape("shape")?,
            allow_missing: attrs.bool_or("allow_missing", false)?,
            default: attrs.opt_tensor("default_value")?.cloned(),
        },
        "RaggedFeature" => Feature::Ragged {
            dtype,
            value_key: attrs.opt_str("value_key")?.map(Into::into),
            partitions: match attrs.get("partitions") {
                None => Vec::new(),
                Some(_) => {
                    attrs.list("partitions")?.iter().map(partition).collect::<Result<_>>()?
                }
            },
            row_splits_dtype: attrs.opt_dtype("row_splits_dtype")?.unwrap_or(DType::Int32),
            validate: attrs.bool_or("validate", false)?,
        },
        "SparseFeature" => Feature::Sparse {
            index_keys: index_keys(attrs)?,
            value_key: attrs.str("value_key")?.into(),
            dtype,
            size: attrs.ints("size")?,
            already_sorted: attrs.bool_or("already_sorted", false)?,
        },
        kind => {
            return Err(Error::invalid_argument(format!("there is no kind of feature {kind:?}")));
        }
    })
}

fn index_keys(attrs: &Attrs) -> Result<Vec<String>> {
    if let Some(Attr::Str(key)) = attrs.get("index_key") {
        return Ok(vec![key.clone()]);
    }
    let key = |attr: &Attr| match attr {
        Attr::Str(key) => Ok(key.clone()),
        other => Err(Error::invalid_argument(format!("an index key must be a str, got {other}"))),
    };
    attrs.list("index_key")?.iter().map(key).collect()
}

fn partition(attr: &Attr) -> Result<Partition> {
    let pair = match attr {
        Attr::List(pair) => pair.as_slice(),
        _ => &[],
    };
    Ok(match pair {
        [Attr::Str(kind), Attr::Str(key)] => {
            let key = key.clone();
            match kind.as_str() {
                "RowSplits" => Partition::RowSplits(key),
                "RowLengths" => Partition::RowLengths(key),
                "RowStarts" => Partition::RowStarts(key),
                "RowLimits" => Partition::RowLimits(key),
                "ValueRowIds" => Partition::ValueRowIds(key),
                _ => return Err(no_partition(attr)),
            }
        }
        [Attr::Str(kind), Attr::Int(length)] if kind == "UniformRowLength" => {
            let length = usize::try_from(*length).map_err(|_| no_partition(attr))?;
            Partition::UniformRowLength(length)
        }
        _ => return Err(no_partition(attr)),
    })
}

fn no_partition(attr: &Attr) -> Error {
    Error::invalid_argument(format!("{attr} is no partition of a RaggedFeature"))
}

/// Fails unless `spec` is bytes of `rank` axes.
pub(super) fn check_bytes(op: &str, what: &str, spec: &Spec, rank: usize) -> Result<()> {
    match spec {
        Spec::Tensor { dtype, shape }
            if dtype.is_text() && shape.rank().is_none_or(|own| own == rank) =>
        {
            Ok(())
        }
        _ => {
            let wanted = if rank == 0 { "a scalar of bytes" } else { "a vector of bytes" };
            let error = format!("{op} needs {wanted} as {what}, got {spec}");
            let other = if rank == 0 { "parse_example" } else { "parse_single_example" };
            Err(Error::invalid_argument(error)
                .with_hint(format!("{other} takes records of another rank")))
        }
    }
}

impl Kernel for ParseSingleExample {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [records] = inputs(specs)?;
        check_bytes("parse_single_example", "the record", records, 0)?;
        Ok(self.0.outputs_single().into_iter().map(|(_, spec)| spec).collect())
    }

    fn run(&self, args: &[Arg], rows: usize, wanted: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        if !arg.row_dims()?.is_empty() {
            let dims = arg.row_dims()?;
            return Err(Error::invalid_argument(format!(
                "parse_single_example needs a scalar of bytes, got shape {dims:?}"
            )));
        }
        let column = arg.clone().into_column(rows)?;
        self.0.parse_rows(Arg::Column(column).tensor()?.strings()?, wanted)
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}

impl Kernel for ParseExample {
    fn infer(&self, inputs: &[Spec]) -> Result<Vec<Spec>> {
        let (records, names) = match inputs {
            [records] => (records, None),
            [records, names] => (records, Some(names)),
            _ => return Err(Error::invalid_argument("expected records and perhaps their names")),
        };
        check_bytes("parse_example", "the records", records, 1)?;
        names.map_or(Ok(()), |names| check_bytes("parse_example", "their names", names, 1))?;
        let count = records.shape().dims().and_then(|dims| dims.first().copied()).flatten();
        let known = |spec: Spec| {
            spec.map_shape(|shape| match shape.split_first() {
                Some((_, rest)) => rest.prepend(count),
                None => shape.clone(),
            })
        };
        Ok(self.0.outputs_batch().into_iter().map(|(_, spec)| known(spec)).collect())
    }

    fn run(&self, args: &[Arg], rows: usize, wanted: &[Wanted]) -> Result<Vec<Column>> {
        let row = |arg: &Arg, row: usize| {
            let dims = arg.row_dims()?;
            let [count] = dims else {
                return Err(Error::invalid_argument(format!(
                    "parse_example needs vectors of bytes, got shape {dims:?}"
                )));
            };
            let start = if arg.is_const() { 0 } else { row * count };
            Ok(arg.tensor()?.strings()?.slice(start..start + count))
        };
        let mut outputs: Vec<Vec<Value>> = vec![Vec::with_capacity(rows); wanted.len()];
        for index in 0..rows {
            let Some((records, names)) = args.split_first() else {
                return Err(Error::internal("parse_example of nothing"));
            };
            let names = names.first().map(|names| row(names, index)).transpose()?;
            let values = self.0.parse_batch(&row(records, index)?, names.as_ref(), wanted)?;
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
    use crate::data::{BytesArray, Dims, PartialShape, Tensor};
    use crate::formats::proto::{FeatureValue, serialize_example};

    fn attrs() -> Attrs {
        let fixed = Attr::Map(vec![
            ("name".into(), Attr::Str("y".into())),
            ("kind".into(), Attr::Str("FixedLenFeature".into())),
            ("dtype".into(), Attr::DType(DType::Int64)),
            ("shape".into(), Attr::List(vec![])),
            ("default_value".into(), Attr::None),
        ]);
        let varlen = Attr::Map(vec![
            ("name".into(), Attr::Str("v".into())),
            ("kind".into(), Attr::Str("VarLenFeature".into())),
            ("dtype".into(), Attr::DType(DType::Float32)),
        ]);
        Attrs::new().with("features", Attr::List(vec![fixed, varlen]))
    }

    fn records(values: &[i64], dims: &[usize]) -> Tensor {
        let record = |value: &i64| serialize_example(&[("y", FeatureValue::Int(*value))]).unwrap();
        let records = BytesArray::from_values(values.iter().map(record)).unwrap();
        Tensor::text(DType::Bytes, Dims::from_slice(dims), records).unwrap()
    }

    fn ints(column: &Column) -> Vec<i64> {
        match column {
            Column::Stacked(tensor) => tensor.values::<i64>().unwrap().to_vec(),
            _ => panic!("not stacked"),
        }
    }

    #[test]
    fn a_column_of_records_gives_columns_of_features() {
        let kernel = crate::kernels::build("parse_single_example", &attrs()).unwrap();
        let specs = kernel.infer(&[Spec::scalar(DType::Bytes)]).unwrap();
        assert_eq!(specs[0], Spec::scalar(DType::Int64));
        assert_eq!(
            specs[1],
            Spec::Sparse { dtype: DType::Float32, shape: PartialShape::new([None]) }
        );
        assert!(kernel.infer(&[Spec::tensor(DType::Bytes, [None])]).is_err());
        let arg = Arg::Column(Column::Stacked(records(&[3, 4], &[2])));
        let columns = kernel.run(&[arg], 2, &[Wanted::All; 2]).unwrap();
        assert_eq!(ints(&columns[0]), [3, 4]);
        assert!(matches!(columns[1], Column::Sparse(_)));
    }

    #[test]
    fn a_column_of_vectors_gives_columns_of_batches() {
        let kernel = crate::kernels::build("parse_example", &attrs()).unwrap();
        let specs = kernel.infer(&[Spec::tensor(DType::Bytes, [Some(2)])]).unwrap();
        assert_eq!(specs[0], Spec::tensor(DType::Int64, [Some(2)]));
        let arg = Arg::Column(Column::Stacked(records(&[1, 2, 3, 4], &[2, 2])));
        let columns = kernel.run(&[arg], 2, &[Wanted::All, Wanted::No]).unwrap();
        assert_eq!(ints(&columns[0]), [1, 2, 3, 4]);
        assert_eq!(columns[1].len(), 2);
        let names = BytesArray::from_values(["first", "second"]).unwrap();
        let names = Tensor::text(DType::Bytes, Dims::from_slice(&[2]), names).unwrap();
        let broken = BytesArray::from_values([b"\xff", b"\xff"]).unwrap();
        let broken = Tensor::text(DType::Bytes, Dims::from_slice(&[1, 2]), broken).unwrap();
        let args = [Arg::Column(Column::Stacked(broken)), Arg::Const(names)];
        let Err(error) = kernel.run(&args, 1, &[Wanted::All; 2]) else { panic!("no error") };
        assert!(error.to_string().contains("Name: first"), "{error}");
        assert_eq!(error.place().record, None);
    }

    #[test]
    fn features_that_make_no_sense_are_refused() {
        let kind = |kind: &str| {
            let feature = Attr::Map(vec![
                ("name".into(), Attr::Str("y".into())),
                ("kind".into(), Attr::Str(kind.into())),
                ("dtype".into(), Attr::DType(DType::Float64)),
            ]);
            let attrs = Attrs::new().with("features", Attr::List(vec![feature]));
            crate::kernels::build("parse_example", &attrs).unwrap_err().to_string()
        };
        assert!(kind("NoFeature").contains("NoFeature"));
        assert!(kind("VarLenFeature").contains("float64"));
    }
}
