//! Element types and the Rust type of each.

use std::fmt;

use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::Complex;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The type of one value. Names are NumPy's, `bytes` and `str` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum DType {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float16,
    BFloat16,
    Float32,
    Float64,
    Complex64,
    Complex128,
    /// Byte strings of any length.
    Bytes,
    /// UTF-8 text of any length; laid out as [`DType::Bytes`].
    Str,
}

impl DType {
    /// Every type, in the order of the enum.
    pub const ALL: [DType; 17] = [
        DType::Bool,
        DType::Int8,
        DType::Int16,
        DType::Int32,
        DType::Int64,
        DType::UInt8,
        DType::UInt16,
        DType::UInt32,
        DType::UInt64,
        DType::Float16,
        DType::BFloat16,
        DType::Float32,
        DType::Float64,
        DType::Complex64,
        DType::Complex128,
        DType::Bytes,
        DType::Str,
    ];

    /// NumPy's name.
    pub fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::Int8 => "int8",
            DType::Int16 => "int16",
            DType::Int32 => "int32",
            DType::Int64 => "int64",
            DType::UInt8 => "uint8",
            DType::UInt16 => "uint16",
            DType::UInt32 => "uint32",
            DType::UInt64 => "uint64",
            DType::Float16 => "float16",
            DType::BFloat16 => "bfloat16",
            DType::Float32 => "float32",
            DType::Float64 => "float64",
            DType::Complex64 => "complex64",
            DType::Complex128 => "complex128",
            DType::Bytes => "bytes",
            DType::Str => "str",
        }
    }

    /// The type of this name.
    ///
    /// # Errors
    /// `InvalidArgument` for an unknown name.
    pub fn from_name(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|dtype| dtype.name() == name);
        found.ok_or_else(|| Error::invalid_argument(format!("{name:?} is not a dtype of headrace")))
    }

    /// Bytes of one value; `None` for text, whose values differ in length.
    pub fn size(self) -> Option<usize> {
        match self {
            DType::Bool | DType::Int8 | DType::UInt8 => Some(1),
            DType::Int16 | DType::UInt16 | DType::Float16 | DType::BFloat16 => Some(2),
            DType::Int32 | DType::UInt32 | DType::Float32 => Some(4),
            DType::Int64 | DType::UInt64 | DType::Float64 | DType::Complex64 => Some(8),
            DType::Complex128 => Some(16),
            DType::Bytes | DType::Str => None,
        }
    }

    /// True for `bytes` and `str`.
    pub fn is_text(self) -> bool {
        self.size().is_none()
    }

    /// True for signed and unsigned integers.
    pub fn is_integer(self) -> bool {
        use DType::*;
        matches!(self, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
    }

    /// True for real floating types.
    pub fn is_float(self) -> bool {
        matches!(self, DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A Rust type that fixed-size values of a [`DType`] are read as.
pub trait Element: Pod + PartialEq + Send + Sync + fmt::Debug {
    /// The matching type; booleans are stored as `u8` and reached through [`DType::Bool`] by hand.
    const DTYPE: DType;
}

macro_rules! element {
    ($($rust:ty => $dtype:ident),* $(,)?) => {
        $(impl Element for $rust { const DTYPE: DType = DType::$dtype; })*
    };
}

element! {
    i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64,
    u8 => UInt8, u16 => UInt16, u32 => UInt32, u64 => UInt64,
    f16 => Float16, bf16 => BFloat16, f32 => Float32, f64 => Float64,
    Complex<f32> => Complex64, Complex<f64> => Complex128,
}
