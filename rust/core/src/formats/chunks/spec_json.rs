//! What elements look like, as JSON: part of the columns of optionals, whose rows may all be empty.
//!
//! A dense array is `{"tensor": dtype, "shape": [...]}`; `sparse` and `ragged` are alike, the latter
//! with its `splits`: number of partitions and dtype. `null` in a shape is an unknown size, and in
//! place of one an unknown rank.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::nesting;
use crate::data::{DType, ElementSpec, PartialShape, Spec};
use crate::error::{Error, Result};

/// The spec as JSON.
///
/// # Errors
/// `InvalidArgument` for components that have no bytes.
pub(super) fn to_json(spec: &ElementSpec) -> Result<Json> {
    let ElementSpec::Known(structure, specs) = spec else { return Ok(Json::Null) };
    let specs = specs.iter().map(leaf).collect::<Result<Vec<_>>>()?;
    Ok(json!([nesting::to_json(structure), specs]))
}

fn leaf(spec: &Spec) -> Result<Json> {
    let shape = |shape: &PartialShape| shape.dims().map_or(Json::Null, |dims| json!(dims));
    Ok(match spec {
        Spec::Tensor { dtype, shape: dims } => {
            json!({"tensor": dtype.name(), "shape": shape(dims)})
        }
        Spec::Sparse { dtype, shape: dims } => {
            json!({"sparse": dtype.name(), "shape": shape(dims)})
        }
        Spec::Ragged { dtype, shape: dims, ragged_rank, splits_dtype } => json!({
            "ragged": dtype.name(),
            "shape": shape(dims),
            "splits": [ragged_rank, splits_dtype.name()],
        }),
        Spec::Optional(inner) => json!({"optional": to_json(inner)?}),
        Spec::Dataset { .. } | Spec::Object => {
            let text = format!("{spec} components cannot be written to a file");
            return Err(Error::invalid_argument(text));
        }
    })
}

/// The spec that [`to_json`] wrote; `None` if it is something else.
pub(super) fn from_json(json: &Json) -> Option<ElementSpec> {
    if json.is_null() {
        return Some(ElementSpec::Unknown);
    }
    let [structure, specs] = json.as_array()?.as_slice() else { return None };
    let structure = nesting::from_json(structure).ok()?;
    let specs = specs.as_array()?.iter().map(read_leaf).collect::<Option<Vec<_>>>()?;
    (structure.leaves() == specs.len())
        .then(|| ElementSpec::Known(Arc::new(structure), specs.into()))
}

fn read_leaf(json: &Json) -> Option<Spec> {
    if let Some(inner) = json.get("optional") {
        return Some(Spec::Optional(Box::new(from_json(inner)?)));
    }
    let dtype = |name: &Json| DType::from_name(name.as_str()?).ok();
    let size = |size: &Json| match size {
        Json::Null => Some(None),
        size => usize::try_from(size.as_u64()?).ok().map(Some),
    };
    let shape = match json.get("shape")? {
        Json::Null => PartialShape::UNKNOWN,
        dims => PartialShape::new(dims.as_array()?.iter().map(size).collect::<Option<Vec<_>>>()?),
    };
    if let Some(name) = json.get("tensor") {
        return Some(Spec::Tensor { dtype: dtype(name)?, shape });
    }
    if let Some(name) = json.get("sparse") {
        return Some(Spec::Sparse { dtype: dtype(name)?, shape });
    }
    let [ragged_rank, splits] = json.get("splits")?.as_array()?.as_slice() else { return None };
    let ragged_rank = usize::try_from(ragged_rank.as_u64()?).ok()?;
    let (dtype, splits_dtype) = (dtype(json.get("ragged")?)?, dtype(splits)?);
    Some(Spec::Ragged { dtype, shape, ragged_rank, splits_dtype })
}
