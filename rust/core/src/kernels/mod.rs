//! The operations a graph can hold: each has a shape and dtype rule and a vectorised run.
//!
//! Each file knows some operations by name; [`build`] asks one after the other.

mod audio;
mod axes;
pub(crate) mod cast;
mod coding;
mod control;
mod create;
mod crossing;
mod csv;
mod cumulate;
mod dispatch;
mod elementwise;
mod fancy;
mod fft;
mod files;
mod frame;
mod gather;
mod image;
mod index;
mod interpolate;
mod join;
mod linalg;
mod lookup;
pub(crate) mod order;
mod parse;
mod parse_sequence;
mod parts;
mod places;
mod products;
mod quantile;
mod ragged;
mod random;
mod rates;
mod raw;
mod reduce;
mod scatter;
mod search;
mod sets;
mod shape;
mod shuffle_index;
mod solve;
mod sort;
mod strided;
mod strings;
mod sums;
mod unique;
mod variance;
mod while_loop;

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::Kernel;

/// Makes the kernel of an operation; `None` if the operation is not of this family.
type Family = fn(&str, &Attrs) -> Result<Option<Arc<dyn Kernel>>>;

/// All families of operations.
const FAMILIES: &[Family] = &[
    elementwise::build,
    cast::build,
    shape::build,
    axes::build,
    index::build,
    fancy::build,
    gather::build,
    join::build,
    reduce::build,
    random::build,
    rates::build,
    shuffle_index::build,
    search::build,
    unique::build,
    sets::build,
    crossing::build,
    scatter::build,
    lookup::build,
    create::build,
    control::build,
    while_loop::build,
    ragged::build,
    cumulate::build,
    sort::build,
    linalg::build,
    fft::build,
    frame::build,
    solve::build,
    variance::build,
    quantile::build,
    interpolate::build,
    raw::build,
    strings::build,
    audio::build,
    coding::build,
    files::build,
    csv::build,
    parts::build,
    parse::build,
    parse_sequence::build,
    image::build,
];

/// The kernel of an operation with its static arguments.
///
/// # Errors
/// `Unimplemented` for an unknown operation, `InvalidArgument` for arguments that do not fit.
pub fn build(op: &str, attrs: &Attrs) -> Result<Arc<dyn Kernel>> {
    for family in FAMILIES {
        if let Some(kernel) = family(op, attrs)? {
            return Ok(kernel);
        }
    }
    Err(Error::new(ErrorKind::Unimplemented, format!("there is no operation {op:?}")))
}
