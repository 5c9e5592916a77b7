//! What a traced function becomes: a graph of kernels that is evaluated on whole columns.
//!
//! A [`GraphBuilder`] records operations, each with the shape and dtype rule of its [`Kernel`];
//! the finished [`Graph`] is evaluated on a chunk at a time. [`FunctionRun`] is how stages call a
//! user's function, be it a graph on trial or foreign code.

pub mod attr;
pub mod call;
pub(crate) mod check;
mod display;
mod eval;
#[expect(clippy::module_inception)]
pub mod graph;
pub mod hash;
pub mod kernel;
pub mod rows;
mod trial;

pub use attr::{Attr, Attrs};
pub use call::{Called, FunctionRun, Prepared, UserFunction, Verdict};
pub use graph::{Graph, GraphBuilder, ValueId};
pub use hash::Fnv;
pub use kernel::{Arg, Kernel, Tolerance};
