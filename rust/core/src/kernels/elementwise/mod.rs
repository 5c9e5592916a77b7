//! Operations that compute each value of the result from one value of each input, with NumPy's
//! broadcasting over the shapes of rows.

pub(crate) mod binary;
mod compare;
pub(crate) mod complex;
mod higher;
mod inverse;
pub(crate) mod loops;
pub(crate) mod number;
mod parted;
mod select;
mod special;
pub(crate) mod unary;
mod wide;

use std::sync::Arc;

use crate::error::Result;
use crate::graph::attr::Attrs;
use crate::graph::kernel::Kernel;

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let kernel: Arc<dyn Kernel> = if let Some(op) = binary::Binary::named(op) {
        Arc::new(op)
    } else if let Some(op) = compare::Compare::named(op) {
        Arc::new(op)
    } else if let Some(op) = unary::Unary::named(op) {
        Arc::new(op)
    } else if let Some(op) = parted::Parted::named(op) {
        Arc::new(op)
    } else if op == "ldexp" {
        Arc::new(parted::Ldexp)
    } else if op == "select" {
        Arc::new(select::Select)
    } else {
        return Ok(None);
    };
    attrs.only(&[])?;
    Ok(Some(kernel))
}
