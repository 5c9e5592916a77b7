//! Components that the columns do not lay out: datasets, optionals, opaque objects of the caller.

use std::any::Any;
use std::sync::Arc;

use crate::data::chunk::Chunk;
use crate::data::shape::{Dims, PartialShape};
use crate::data::spec::{ElementSpec, Spec};

/// An object of the caller: an opaque value, a nested plan, an optional.
pub type ForeignValue = Arc<dyn Any + Send + Sync>;

/// A dataset as a component.
pub struct DatasetValue {
    /// What its elements look like.
    pub element_spec: ElementSpec,
    /// The plan, which only the engine looks into.
    pub plan: ForeignValue,
}

/// An element that may be missing, as a component.
pub struct OptionalValue {
    /// What the element looks like, or would look like.
    pub element_spec: ElementSpec,
    /// The element, in one row.
    pub value: Option<Chunk>,
}

/// Several of them in one component: datasets, or opaque objects, which the binding makes an object
/// array of.
pub struct ForeignArray {
    /// The objects in row-major order.
    pub items: Vec<ForeignValue>,
    /// The shape.
    pub dims: Dims,
}

/// What all of these look like: datasets and optionals of one kind, else opaque objects.
pub(crate) fn spec_of(values: &[ForeignValue]) -> Spec {
    let widened = values.iter().map(spec_of_one).reduce(|a, b| a?.widen(&b?));
    widened.flatten().unwrap_or(Spec::Object)
}

fn spec_of_one(value: &ForeignValue) -> Option<Spec> {
    if let Some(dataset) = value.downcast_ref::<DatasetValue>() {
        return Some(Spec::dataset(dataset.element_spec.clone()));
    }
    if let Some(optional) = value.downcast_ref::<OptionalValue>() {
        return Some(Spec::Optional(Box::new(optional.element_spec.clone())));
    }
    let array = value.downcast_ref::<ForeignArray>()?;
    let items = array.items.iter().map(spec_of_one).reduce(|a, b| a?.widen(&b?));
    match items?? {
        Spec::Dataset { element, .. } => {
            Some(Spec::Dataset { element, shape: PartialShape::from(&array.dims[..]) })
        }
        _ => None,
    }
}

impl ForeignArray {
    /// The slices along the first axis, one value each; `None` if there is no axis.
    pub fn rows(&self) -> Option<Vec<ForeignValue>> {
        let (rows, rest) = self.dims.split_first()?;
        if rest.is_empty() {
            return Some(self.items.clone());
        }
        let size = rest.iter().product::<usize>();
        let row = |row: usize| {
            let items = self.items.iter().skip(row * size).take(size).cloned().collect();
            Arc::new(ForeignArray { items, dims: rest.into() }) as ForeignValue
        };
        Some((0..*rows).map(row).collect())
    }
}
