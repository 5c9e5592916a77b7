//! What flows: typed buffers, tensors, columns, and the chunks they make up.

pub mod buffer;
pub mod bytes;
pub mod chunk;
pub mod column;
pub mod dtype;
pub mod foreign;
pub mod kept;
pub mod lent;
pub mod mark;
pub mod rows;
pub mod shape;
pub mod spec;
pub mod store;
pub mod tensor;

pub use buffer::{Buffer, BufferMut, Lender};
pub use bytes::{BytesArray, BytesBuilder, View};
pub use chunk::Chunk;
pub use column::{Column, RaggedColumn, SparseColumn, Value, Wanted};
pub use dtype::{DType, Element};
pub use foreign::ForeignValue;
pub use mark::{Mark, Position};
pub use rows::Rows;
pub use shape::{Dims, PartialShape};
pub use spec::{ElementSpec, Spec, Structure};
pub use tensor::{Data, Tensor};
