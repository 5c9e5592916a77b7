//! What elements look like: their nesting ([`Structure`]) and the type of each component
//! ([`Spec`]).

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::data::dtype::DType;
use crate::data::shape::{PartialShape, volume};

/// A type of the caller's language that elements are made of: a namedtuple, a dataclass, an
/// attrs class. Opaque to the core.
pub trait ForeignType: Any + Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> String;
    /// True if `other` is the same type.
    fn same(&self, other: &dyn ForeignType) -> bool;
    /// For the binding, to find its own type again.
    fn as_any(&self) -> &dyn Any;
}

/// Key of a mapping.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// An integer key.
    Int(i64),
    /// A text key.
    Str(Arc<str>),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Int(key) => write!(f, "{key}"),
            Key::Str(key) => write!(f, "{key:?}"),
        }
    }
}

/// The nesting of an element. Leaves are counted in depth-first order; the fields of a mapping
/// keep their order.
#[derive(Clone)]
pub enum Structure {
    /// One component.
    Leaf,
    /// `None`: part of the structure, without a component.
    Nothing,
    /// A plain tuple.
    Tuple(Vec<Structure>),
    /// A dict.
    Dict(Vec<(Key, Structure)>),
    /// An instance of a type of the caller, with its fields in order.
    Record(Arc<dyn ForeignType>, Vec<(Arc<str>, Structure)>),
}

impl Structure {
    /// Number of components.
    pub fn leaves(&self) -> usize {
        match self {
            Structure::Leaf => 1,
            Structure::Nothing => 0,
            Structure::Tuple(items) => items.iter().map(Structure::leaves).sum(),
            Structure::Dict(items) => items.iter().map(|(_, item)| item.leaves()).sum(),
            Structure::Record(_, items) => items.iter().map(|(_, item)| item.leaves()).sum(),
        }
    }
}

impl PartialEq for Structure {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Structure::Leaf, Structure::Leaf) | (Structure::Nothing, Structure::Nothing) => true,
            (Structure::Tuple(a), Structure::Tuple(b)) => a == b,
            (Structure::Dict(a), Structure::Dict(b)) => a == b,
            (Structure::Record(ta, a), Structure::Record(tb, b)) => ta.same(&**tb) && a == b,
            _ => false,
        }
    }
}

impl fmt::Debug for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Structure::Leaf => f.write_str("*"),
            Structure::Nothing => f.write_str("None"),
            Structure::Tuple(items) => {
                let mut tuple = f.debug_tuple("");
                items.iter().for_each(|item| {
                    tuple.field(item);
                });
                tuple.finish()
            }
            Structure::Dict(items) => {
                let mut map = f.debug_map();
                items.iter().for_each(|(key, item)| {
                    map.entry(&format_args!("{key}"), item);
                });
                map.finish()
            }
            Structure::Record(kind, items) => {
                let mut record = f.debug_struct(&kind.name());
                items.iter().for_each(|(name, item)| {
                    record.field(name, item);
                });
                record.finish()
            }
        }
    }
}

/// The type of one component.
#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    /// A dense array.
    Tensor {
        /// Element type.
        dtype: DType,
        /// Shape, perhaps known in part.
        shape: PartialShape,
    },
    /// A sparse array in coordinate form.
    Sparse {
        /// Type of the values.
        dtype: DType,
        /// Dense shape, perhaps known in part.
        shape: PartialShape,
    },
    /// Nested rows of differing lengths.
    Ragged {
        /// Type of the values.
        dtype: DType,
        /// Shape with `None` at ragged axes.
        shape: PartialShape,
        /// Number of row partitions.
        ragged_rank: usize,
        /// Type of the row splits, int32 or int64.
        splits_dtype: DType,
    },
    /// Datasets of one kind.
    Dataset {
        /// What the elements of each look like.
        element: Box<ElementSpec>,
        /// How many there are along each axis; a single one has none.
        shape: PartialShape,
    },
    /// An element that may be missing, with what it looks like.
    Optional(Box<ElementSpec>),
    /// An opaque object of the caller.
    Object,
}

impl Spec {
    /// A dense array of known rank.
    pub fn tensor(dtype: DType, dims: impl IntoIterator<Item = Option<usize>>) -> Self {
        Spec::Tensor { dtype, shape: PartialShape::new(dims) }
    }

    /// A scalar.
    pub fn scalar(dtype: DType) -> Self {
        Spec::Tensor { dtype, shape: PartialShape::scalar() }
    }

    /// What a value takes, of a dense array of known shape and of numbers.
    pub fn bytes(&self) -> Option<usize> {
        let Spec::Tensor { dtype, shape } = self else { return None };
        volume(&shape.known()?).ok()?.checked_mul(dtype.size()?)
    }

    /// A single dataset.
    pub fn dataset(element: ElementSpec) -> Self {
        Spec::Dataset { element: Box::new(element), shape: PartialShape::scalar() }
    }

    /// The element type; `None` for opaque objects.
    pub fn dtype(&self) -> Option<DType> {
        match self {
            Spec::Tensor { dtype, .. }
            | Spec::Sparse { dtype, .. }
            | Spec::Ragged { dtype, .. } => Some(*dtype),
            Spec::Dataset { .. } | Spec::Optional(_) | Spec::Object => None,
        }
    }

    /// Kind and dtype, for messages where shapes do not matter.
    pub fn kind(&self) -> String {
        let name = self.dtype().map_or("object", DType::name);
        match self {
            Spec::Sparse { .. } => format!("sparse {name}"),
            Spec::Ragged { .. } => format!("ragged {name}"),
            Spec::Dataset { .. } => "dataset".into(),
            Spec::Optional(_) => "optional".into(),
            Spec::Tensor { .. } | Spec::Object => name.into(),
        }
    }

    /// The shape; unknown for opaque objects.
    pub fn shape(&self) -> PartialShape {
        match self {
            Spec::Tensor { shape, .. }
            | Spec::Sparse { shape, .. }
            | Spec::Ragged { shape, .. }
            | Spec::Dataset { shape, .. } => shape.clone(),
            Spec::Optional(_) | Spec::Object => PartialShape::UNKNOWN,
        }
    }

    /// The same spec with its shape changed.
    #[must_use]
    pub fn map_shape(&self, change: impl FnOnce(&PartialShape) -> PartialShape) -> Self {
        let mut spec = self.clone();
        match &mut spec {
            Spec::Tensor { shape, .. }
            | Spec::Sparse { shape, .. }
            | Spec::Ragged { shape, .. }
            | Spec::Dataset { shape, .. } => {
                *shape = change(shape);
            }
            Spec::Optional(_) | Spec::Object => {}
        }
        spec
    }

    /// The spec that describes components of either; `None` if dtype or kind differ.
    pub fn widen(&self, other: &Self) -> Option<Self> {
        if let (Spec::Optional(own), Spec::Optional(other)) = (self, other) {
            return Some(Spec::Optional(Box::new(own.widen(other)?)));
        }
        let shape = self.shape().widen(&other.shape());
        if let (Spec::Dataset { element, .. }, Spec::Dataset { element: other, .. }) = (self, other)
        {
            return Some(Spec::Dataset { element: Box::new(element.widen(other)?), shape });
        }
        let widened = self.map_shape(|_| shape.clone());
        (widened == other.map_shape(|_| shape)).then_some(widened)
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spec::Tensor { dtype, shape } => write!(f, "{dtype}{shape}"),
            Spec::Sparse { dtype, shape } => write!(f, "sparse {dtype}{shape}"),
            Spec::Ragged { dtype, shape, .. } => write!(f, "ragged {dtype}{shape}"),
            Spec::Dataset { element, shape } => match shape.dims() {
                Some([]) => write!(f, "dataset of {element}"),
                _ => write!(f, "datasets{shape} of {element}"),
            },
            Spec::Optional(spec) => write!(f, "optional {spec}"),
            Spec::Object => f.write_str("object"),
        }
    }
}

/// What the elements of a dataset look like.
#[derive(Clone, Debug, PartialEq)]
pub enum ElementSpec {
    /// Nesting, and one spec per leaf.
    Known(Arc<Structure>, Arc<[Spec]>),
    /// Only a run can tell: the result of a function that could not be traced.
    Unknown,
}

impl ElementSpec {
    /// Elements of one component.
    pub fn leaf(spec: Spec) -> Self {
        ElementSpec::Known(Arc::new(Structure::Leaf), [spec].into())
    }

    /// The specs of the leaves, if known.
    pub fn specs(&self) -> Option<&[Spec]> {
        match self {
            ElementSpec::Known(_, specs) => Some(specs),
            ElementSpec::Unknown => None,
        }
    }

    /// The spec that describes elements of either; `None` if structures, dtypes or kinds differ.
    pub fn widen(&self, other: &Self) -> Option<Self> {
        let (ElementSpec::Known(structure, own), ElementSpec::Known(others, specs)) = (self, other)
        else {
            return Some(ElementSpec::Unknown);
        };
        if structure != others {
            return None;
        }
        let widened = own.iter().zip(specs.iter()).map(|(a, b)| a.widen(b));
        Some(ElementSpec::Known(Arc::clone(structure), widened.collect::<Option<_>>()?))
    }

    /// The same nesting with each spec changed.
    ///
    /// # Errors
    /// The first error of `change`.
    pub fn try_map<E>(&self, change: impl FnMut(&Spec) -> Result<Spec, E>) -> Result<Self, E> {
        Ok(match self {
            ElementSpec::Known(structure, specs) => {
                let specs = specs.iter().map(change).collect::<Result<_, E>>()?;
                ElementSpec::Known(Arc::clone(structure), specs)
            }
            ElementSpec::Unknown => ElementSpec::Unknown,
        })
    }
}

impl fmt::Display for ElementSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ElementSpec::Known(structure, specs) => match (&**structure, &specs[..]) {
                (Structure::Leaf, [spec]) => spec.fmt(f),
                _ => {
                    let list = specs.iter().map(Spec::to_string).collect::<Vec<_>>().join(", ");
                    write!(f, "{structure} of ({list})")
                }
            },
            ElementSpec::Unknown => f.write_str("unknown elements"),
        }
    }
}
