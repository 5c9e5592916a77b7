//! Whether work is still wanted: kernels that may go on for long ask.

use std::cell::RefCell;
use std::sync::Arc;

use crate::error::Result;
use crate::graph::call::Check;

thread_local! {
    static CHECK: RefCell<Option<Check>> = const { RefCell::new(None) };
}

/// Does `work`, whose kernels ask `check`.
pub(crate) fn under<T>(check: &Check, work: impl FnOnce() -> T) -> T {
    struct Outer(Option<Check>);
    impl Drop for Outer {
        fn drop(&mut self) {
            CHECK.set(self.0.take());
        }
    }
    let _outer = Outer(CHECK.replace(Some(Arc::clone(check))));
    work()
}

/// Fails once what this thread does is no longer wanted.
///
/// # Errors
/// Those of the check.
pub(crate) fn ask() -> Result<()> {
    // The check may run the caller's code, which may come back here.
    let check = CHECK.with_borrow(Clone::clone);
    check.map_or(Ok(()), |check| check())
}
