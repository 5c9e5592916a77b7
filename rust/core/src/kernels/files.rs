//! `matching_files`: the paths that match patterns, in ascending order (`tf.io.matching_files`).
//!
//! What it gives is the state of the file system when it runs, so it is never run ahead of that.

use std::sync::Arc;

use crate::data::{BytesArray, Column, DType, Spec, Tensor, Value, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::io::glob::glob;
use crate::kernels::cast::{dense, inputs};
use crate::kernels::shape::stacked;

#[derive(Debug)]
struct MatchingFiles;

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "matching_files" {
        return Ok(None);
    }
    attrs.only(&[])?;
    Ok(Some(Arc::new(MatchingFiles)))
}

impl Kernel for MatchingFiles {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if !dtype.is_text() {
            return Err(Error::invalid_argument(format!("patterns are bytes or str, got {dtype}")));
        }
        if shape.rank().is_some_and(|rank| rank > 1) {
            let text = format!("pattern must be one text or a vector of them, got shape {shape}");
            return Err(Error::invalid_argument(text));
        }
        Ok(vec![Spec::tensor(DType::Bytes, [None])])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let patterns = stacked(arg, rows)?;
        let row = |row: usize| {
            let patterns = patterns.row(row)?;
            let mut found: Vec<Vec<u8>> = patterns.strings()?.iter().flat_map(glob).collect();
            found.sort_unstable();
            found.dedup();
            let dims = [found.len()][..].into();
            Ok(Value::Tensor(Tensor::text(DType::Bytes, dims, BytesArray::from_values(found)?)?))
        };
        let found = (0..rows).map(row).collect::<Result<Vec<_>>>()?;
        Ok(vec![Column::from_values(&found)?])
    }

    fn is_pure(&self) -> bool {
        false
    }
}
