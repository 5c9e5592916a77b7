//! The static arguments of an operation: comparable, printable, and hashed the same everywhere.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::data::{DType, Data, PartialShape, Tensor};
use crate::error::{Error, Result};
use crate::graph::graph::Graph;
use crate::graph::hash::Fnv;

/// One static argument.
#[derive(Clone, Debug)]
pub enum Attr {
    /// Nothing: Python's `None`.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float; equal if its bits are.
    Float(f64),
    /// A text.
    Str(String),
    /// An element type.
    DType(DType),
    /// A shape, perhaps known in part.
    Shape(PartialShape),
    /// An array.
    Tensor(Tensor),
    /// Several, in order.
    List(Vec<Attr>),
    /// Several by name, in order.
    Map(Vec<(String, Attr)>),
    /// A graph that the operation runs.
    Graph(Arc<Graph>),
}

impl Attr {
    /// What messages call this kind of argument.
    fn kind(&self) -> &'static str {
        match self {
            Attr::None => "None",
            Attr::Bool(_) => "a bool",
            Attr::Int(_) => "an int",
            Attr::Float(_) => "a float",
            Attr::Str(_) => "a str",
            Attr::DType(_) => "a dtype",
            Attr::Shape(_) => "a shape",
            Attr::Tensor(_) => "an array",
            Attr::List(_) => "a list",
            Attr::Map(_) => "a dict",
            Attr::Graph(_) => "a graph",
        }
    }

    /// Adds the argument to a hash.
    pub fn feed(&self, fnv: &mut Fnv) {
        fnv.bytes(self.kind().as_bytes());
        match self {
            Attr::None => {}
            Attr::Bool(value) => fnv.number(u64::from(*value)),
            Attr::Int(value) => fnv.number(*value as u64),
            Attr::Float(value) => fnv.number(value.to_bits()),
            Attr::Str(value) => fnv.bytes(value.as_bytes()),
            Attr::DType(value) => fnv.bytes(value.name().as_bytes()),
            Attr::Shape(value) => fnv.bytes(value.to_string().as_bytes()),
            Attr::Tensor(value) => feed_tensor(value, fnv),
            Attr::List(items) => {
                fnv.number(items.len() as u64);
                items.iter().for_each(|item| item.feed(fnv));
            }
            Attr::Map(items) => {
                fnv.number(items.len() as u64);
                for (name, item) in items {
                    fnv.bytes(name.as_bytes());
                    item.feed(fnv);
                }
            }
            Attr::Graph(graph) => graph.feed(fnv),
        }
    }
}

/// Adds a tensor, bit by bit, to a hash.
pub(crate) fn feed_tensor(tensor: &Tensor, fnv: &mut Fnv) {
    fnv.bytes(tensor.dtype().name().as_bytes());
    fnv.number(tensor.dims().len() as u64);
    tensor.dims().iter().for_each(|dim| fnv.number(*dim as u64));
    match tensor.data() {
        Data::Fixed(buffer) => fnv.bytes(buffer),
        Data::Text(values) => {
            let step = fnv.step(values.len());
            values.iter().step_by(step).for_each(|value| fnv.bytes(value));
        }
    }
}

impl PartialEq for Attr {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Attr::None, Attr::None) => true,
            (Attr::Bool(a), Attr::Bool(b)) => a == b,
            (Attr::Int(a), Attr::Int(b)) => a == b,
            (Attr::Float(a), Attr::Float(b)) => a.to_bits() == b.to_bits(),
            (Attr::Str(a), Attr::Str(b)) => a == b,
            (Attr::DType(a), Attr::DType(b)) => a == b,
            (Attr::Shape(a), Attr::Shape(b)) => a == b,
            (Attr::Tensor(a), Attr::Tensor(b)) => a == b,
            (Attr::List(a), Attr::List(b)) => a == b,
            (Attr::Map(a), Attr::Map(b)) => a == b,
            (Attr::Graph(a), Attr::Graph(b)) => a == b,
            _ => false,
        }
    }
}

impl fmt::Display for Attr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attr::None => f.write_str("None"),
            Attr::Bool(true) => f.write_str("True"),
            Attr::Bool(false) => f.write_str("False"),
            Attr::Int(value) => write!(f, "{value}"),
            Attr::Float(value) => write!(f, "{value:?}"),
            Attr::Str(value) => write!(f, "{value:?}"),
            Attr::DType(value) => write!(f, "{value}"),
            Attr::Shape(value) => write!(f, "{value}"),
            Attr::Tensor(value) => write_tensor(f, value),
            Attr::List(items) => {
                f.write_str("(")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            Attr::Map(items) => {
                f.write_str("{")?;
                for (i, (name, item)) in items.iter().enumerate() {
                    write!(f, "{}{name:?}: {item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
            // Its lines would stand among those of the graph around it.
            Attr::Graph(graph) => {
                let lines: Vec<String> =
                    graph.to_string().lines().map(|line| line.trim().to_owned()).collect();
                write!(f, "{{{}}}", lines.join("; "))
            }
        }
    }
}

/// Shows a scalar by its value, other tensors by dtype and shape.
pub(crate) fn write_tensor(f: &mut fmt::Formatter<'_>, tensor: &Tensor) -> fmt::Result {
    macro_rules! scalar {
        ($type:ty) => {
            if let Ok([value]) = tensor.values::<$type>() {
                return write!(f, "{value:?}");
            }
        };
    }
    if tensor.dims().is_empty() {
        match tensor.dtype() {
            DType::Bool => {
                let set = tensor.values::<u8>().is_ok_and(|values| values == [1]);
                return f.write_str(if set { "True" } else { "False" });
            }
            DType::Int8 => scalar!(i8),
            DType::Int16 => scalar!(i16),
            DType::Int32 => scalar!(i32),
            DType::Int64 => scalar!(i64),
            DType::UInt8 => scalar!(u8),
            DType::UInt16 => scalar!(u16),
            DType::UInt32 => scalar!(u32),
            DType::UInt64 => scalar!(u64),
            DType::Float32 => scalar!(f32),
            DType::Float64 => scalar!(f64),
            DType::Bytes | DType::Str => {
                if let Ok(values) = tensor.strings()
                    && values.get(0).len() <= 32
                {
                    let prefix = if tensor.dtype() == DType::Bytes { "b" } else { "" };
                    return write!(f, "{prefix}\"{}\"", values.get(0).escape_ascii());
                }
            }
            _ => {}
        }
    }
    write!(f, "{}{}", tensor.dtype(), PartialShape::from(tensor.dims()))
}

/// The static arguments of an operation by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attrs(BTreeMap<String, Attr>);

impl Attrs {
    /// No arguments.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more argument.
    #[must_use]
    pub fn with(mut self, name: &str, attr: Attr) -> Self {
        self.0.insert(name.to_owned(), attr);
        self
    }

    /// Adds or replaces an argument.
    pub fn insert(&mut self, name: impl Into<String>, attr: Attr) {
        self.0.insert(name.into(), attr);
    }

    /// The argument of this name.
    pub fn get(&self, name: &str) -> Option<&Attr> {
        self.0.get(name)
    }

    /// All, by ascending name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Attr)> {
        self.0.iter().map(|(name, attr)| (name.as_str(), attr))
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds all to a hash.
    pub fn feed(&self, fnv: &mut Fnv) {
        fnv.number(self.0.len() as u64);
        for (name, attr) in &self.0 {
            fnv.bytes(name.as_bytes());
            attr.feed(fnv);
        }
    }

    /// Refuses arguments of other names.
    ///
    /// # Errors
    /// `InvalidArgument` that names the first unknown one.
    pub fn only(&self, names: &[&str]) -> Result<()> {
        match self.0.keys().find(|key| !names.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let text = format!("unknown argument {key:?}, expected one of {names:?}");
                Err(Error::invalid_argument(text))
            }
        }
    }

    fn required<T>(&self, name: &str, found: Option<T>) -> Result<T> {
        found.ok_or_else(|| Error::invalid_argument(format!("argument {name:?} is missing")))
    }

    fn wrong(name: &str, wanted: &str, attr: &Attr) -> Error {
        let kind = attr.kind();
        Error::invalid_argument(format!("argument {name:?} must be {wanted}, got {kind}: {attr}"))
    }

    /// An argument that is there and not `None`.
    fn some(&self, name: &str) -> Option<&Attr> {
        self.0.get(name).filter(|attr| !matches!(attr, Attr::None))
    }

    /// An integer, or `None` if it is missing or `None`.
    ///
    /// # Errors
    /// `InvalidArgument` if it is something else.
    pub fn opt_int(&self, name: &str) -> Result<Option<i64>> {
        match self.some(name) {
            None => Ok(None),
            Some(Attr::Int(value)) => Ok(Some(*value)),
            Some(other) => Err(Self::wrong(name, "an int", other)),
        }
    }

    /// An integer.
    ///
    /// # Errors
    /// `InvalidArgument` if it is missing or something else.
    pub fn int(&self, name: &str) -> Result<i64> {
        self.required(name, self.opt_int(name)?)
    }

    /// A number, or `None` if it is missing or `None`.
    ///
    /// # Errors
    /// `InvalidArgument` if it is something else.
    pub fn opt_float(&self, name: &str) -> Result<Option<f64>> {
        match self.some(name) {
            None => Ok(None),
            Some(Attr::Float(value)) => Ok(Some(*value)),
            Some(Attr::Int(value)) => Ok(Some(*value as f64)),
            Some(other) => Err(Self::wrong(name, "a float", other)),
        }
    }

    /// A number.
    ///
    /// # Errors
    /// `InvalidArgument` if it is missing or something else.
    pub fn float(&self, name: &str) -> Result<f64> {
        self.required(name, self.opt_float(name)?)
    }

    /// A truth value, `default` if it is missing or `None`.
    ///
    /// # Errors
    /// `InvalidArgument` if it is something else.
    pub fn bool_or(&self, name: &str, default: bool) -> Result<bool> {
        match self.some(name) {
            None => Ok(default),
            Some(Attr::Bool(value)) => Ok(*value),
            Some(other) => Err(Self::wrong(name, "a bool", other)),
        }
    }

    /// A text, or `None` if it is missing or `None`.
    ///
    /// # Errors
    /// `InvalidArgument` if it is something else.
    pub fn opt_str(&self, name: &str) -> Result<Option<&str>> {
        match self.some(name) {
            None => Ok(None),
            Some(Attr::Str(value)) => Ok(Some(value)),
            Some(other) => Err(Self::wrong(name, "a str", other)),
        }
    }

    /// A text.
    ///
    /// # Errors
    /// `InvalidArgument` if it is missing or something else.
    pub fn str(&self, name: &str) -> Result<&str> {
        self.required(name, self.opt_str(name)?)
    }

    /// An element type, by itself or by name, or `None` if it is missing or `None`.
    ///
    /// # Errors
    /// `InvalidArgument` if it is something else.
    pub fn opt_dtype(&self, name: &str) -> Result<Option<DType>> {
        match self.some(name) {
            None => Ok(None),
            Some(Attr::DType(value)) => Ok(Some(*value)),
            Some(Attr::Str(value)) => DType::from_name(value).map(Some),
            Some(other) => Err(Self::wrong(name, "a dtype", other)),
        }
    }

    /// An element type.
    ///
    /// # Errors
    /// `InvalidArgument` if it is missing or something else.
    pub fn dtype(&self, name: &str) -> Result<DType> {
        self.required(name, self.opt_dtype(name)?)
    }

    /// Integers; a single one stands for a list of it; `None` if it is missing or `None`.
    ///
    /// # Errors
    /// `InvalidArgument` if it is something else.
    pub fn opt_ints(&self, name: &str) -> Result<Option<Vec<i64>>> {
        let wrong = |attr: &Attr| Self::wrong(name, "a list of ints", attr);
        match self.some(name) {
            None => Ok(None),
            Some(Attr::Int(value)) => Ok(Some(vec![*value])),
            Some(Attr::List(items)) => {
                let int = |item: &Attr| match item {
                    Attr::Int(value) => Ok(*value),
                    other => Err(wrong(other)),
                };
                items.iter().map(int).collect::<Result<_>>().map(Some)
            }
            Some(attr @ Attr::Shape(shape)) => {
                let dims = shape.known().ok_or_else(|| wrong(attr))?;
                Ok(Some(dims.iter().map(|dim| *dim as i64).collect()))
            }
            Some(other) => Err(wrong(other)),
        }
    }

    /// Integers; a single one stands for a list of it.
    ///
    /// # Errors
    /// `InvalidArgument` if it is missing or something else.
    pub fn ints(&self, name: &str) -> Result<Vec<i64>> {
        self.required(name, self.opt_ints(name)?)
    }

    /// A list.
    ///
    /// # Errors
    /// `InvalidArgument` if it is missing or something else.
    pub fn list(&self, name: &str) -> Result<&[Attr]> {
        match self.required(name, self.get(name))? {
            Attr::List(items) => Ok(items),
            other => Err(Self::wrong(name, "a list", other)),
        }
    }

    /// A mapping.
    ///
    /// # Errors
    /// `InvalidArgument` if it is missing or something else.
    pub fn map(&self, name: &str) -> Result<&[(String, Attr)]> {
        match self.required(name, self.get(name))? {
            Attr::Map(items) => Ok(items),
            other => Err(Self::wrong(name, "a dict", other)),
        }
    }

    /// An array, or `None` if it is missing or `None`.
    ///
    /// # Errors
    /// `InvalidArgument` if it is something else.
    pub fn opt_tensor(&self, name: &str) -> Result<Option<&Tensor>> {
        match self.some(name) {
            None => Ok(None),
            Some(Attr::Tensor(value)) => Ok(Some(value)),
            Some(other) => Err(Self::wrong(name, "an array", other)),
        }
    }

    /// A shape, perhaps known in part: a shape, or a list of ints in which `None` is unknown.
    ///
    /// # Errors
    /// `InvalidArgument` if it is missing or something else.
    pub fn shape(&self, name: &str) -> Result<PartialShape> {
        match self.required(name, self.get(name))? {
            Attr::Shape(shape) => Ok(shape.clone()),
            Attr::List(items) => {
                let dim = |item: &Attr| match item {
                    Attr::None => Ok(None),
                    Attr::Int(dim) if *dim >= 0 => Ok(Some(*dim as usize)),
                    other => Err(Self::wrong(name, "a shape", other)),
                };
                Ok(PartialShape::new(items.iter().map(dim).collect::<Result<Vec<_>>>()?))
            }
            other => Err(Self::wrong(name, "a shape", other)),
        }
    }
}

impl<const N: usize> From<[(&str, Attr); N]> for Attrs {
    fn from(items: [(&str, Attr); N]) -> Self {
        Attrs(items.into_iter().map(|(name, attr)| (name.to_owned(), attr)).collect())
    }
}

impl FromIterator<(String, Attr)> for Attrs {
    fn from_iter<I: IntoIterator<Item = (String, Attr)>>(items: I) -> Self {
        Attrs(items.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn getters_name_the_argument_and_what_it_must_be() {
        let attrs = Attrs::from([("axis", Attr::Str("x".into())), ("none", Attr::None)]);
        let text = attrs.int("axis").unwrap_err().to_string();
        assert_eq!(text, "argument \"axis\" must be an int, got a str: \"x\"");
        assert_eq!(attrs.opt_int("none").unwrap(), None);
        assert!(attrs.int("none").is_err());
        assert!(attrs.only(&["axis"]).is_err());
    }

    #[test]
    fn shows_as_python_would() {
        let shape = Attr::List(vec![Attr::Int(28), Attr::Int(-1)]);
        assert_eq!(shape.to_string(), "(28, -1)");
        assert_eq!(Attr::List(vec![Attr::Bool(true)]).to_string(), "(True,)");
        let features = Attr::Map(vec![("a".into(), Attr::DType(DType::Int64))]);
        assert_eq!(features.to_string(), "{\"a\": int64}");
    }

    #[test]
    fn floats_are_equal_by_their_bits() {
        assert_eq!(Attr::Float(f64::NAN), Attr::Float(f64::NAN));
        assert_ne!(Attr::Float(0.0), Attr::Float(-0.0));
    }
}
