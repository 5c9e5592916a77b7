//! One function per dataset op that reads or writes files, as in `plan`.

use headrace::transforms::cache::CacheNode;
use pyo3::prelude::*;

use crate::plan::{Plan, plan};

#[pyfunction]
#[pyo3(signature = (input, filename))]
pub(crate) fn cache(input: &Bound<'_, Plan>, filename: Option<String>) -> Plan {
    Plan(CacheNode::plan(plan(input), filename))
}
