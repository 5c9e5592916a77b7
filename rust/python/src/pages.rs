//! The code of this library, mapped into the process while it is imported.
//!
//! The system maps code where it is first run, a few pages at a time, and whoever runs it waits some
//! microseconds each time: a first short run comes to sixty such places. To touch them all in order
//! takes half a millisecond once.

#![cfg_attr(target_os = "linux", allow(unsafe_code))]

/// Maps the code of this library.
#[cfg(not(target_os = "linux"))]
pub(crate) fn touch() {}

#[cfg(target_os = "linux")]
pub(crate) use linux::touch;

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{c_int, c_void};
    use std::ptr;
    use std::slice;

    /// What the system maps at once: so many bytes, at a multiple of them.
    const AROUND: usize = 64 << 10;

    /// Maps the code of this library.
    pub(crate) fn touch() {
        // SAFETY: `touch_own` is told of libraries that stay loaded during the call, and its last
        // argument is not used.
        unsafe { libc::dl_iterate_phdr(Some(touch_own), ptr::null_mut()) };
    }

    unsafe extern "C" fn touch_own(
        library: *mut libc::dl_phdr_info,
        _: usize,
        _: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader hands over a description of a library, with as many headers as it says.
        let (base, headers) = unsafe {
            let library = &*library;
            (library.dlpi_addr, slice::from_raw_parts(library.dlpi_phdr, library.dlpi_phnum.into()))
        };
        let here = touch as *const () as usize;
        let code = headers.iter().find_map(|header| {
            let start = base.wrapping_add(header.p_vaddr) as usize;
            let code = start..start.checked_add(header.p_memsz as usize)?;
            let can_be_read = header.p_flags & libc::PF_R != 0;
            let is_own = header.p_type == libc::PT_LOAD && can_be_read && code.contains(&here);
            is_own.then_some(code)
        });
        let Some(code) = code else { return 0 };
        let mut at = code.start;
        while at < code.end {
            // SAFETY: code can be read, and this is within the segment that holds this function.
            let _ = unsafe { ptr::with_exposed_provenance::<u8>(at).read_volatile() };
            at = (at + 1).next_multiple_of(AROUND);
        }
        1
    }
}
