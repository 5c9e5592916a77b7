//! NumPy's scalars of numbers, read and made without a call into NumPy.
//!
//! The memory of such a scalar is the head of an object and the value (`arrayscalars.h`). NumPy's
//! functions for them look for the class by name or one by one, which costs as much as calling a
//! small function of the user. The layout of each class is checked once against a scalar that NumPy
//! made; a class that has another one is left to NumPy.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::{mem, ptr, slice};

use headrace::data::DType;
use numpy::npyffi::PY_ARRAY_API;
use numpy::npyffi::objects::PyArray_Descr;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::convert::{Kind, kind};

/// Where the value stands.
const HEAD: usize = size_of::<ffi::PyObject>();

/// The type numbers of NumPy's numbers, the common ones first.
const NUMBERS: [c_int; 16] = [7, 12, 11, 5, 2, 0, 9, 1, 3, 4, 6, 8, 10, 23, 14, 15];

/// A class whose layout is known.
struct Class {
    dtype: DType,
    object: *mut ffi::PyTypeObject,
    /// Its own allocator; `None` for bool, of which there are but two objects.
    alloc: Option<ffi::allocfunc>,
}

/// The classes, by how common they are; and of each dtype the place of the class that NumPy gives.
struct Classes {
    all: Vec<Class>,
    by_dtype: [Option<usize>; 17],
}

// SAFETY: the classes are static objects of NumPy, which live as long as the process.
unsafe impl Send for Classes {}
// SAFETY: as above; nothing is changed after it is made.
unsafe impl Sync for Classes {}

fn classes(py: Python<'_>) -> &'static Classes {
    static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();
    CLASSES.get_or_init(py, || {
        let all: Vec<Class> = NUMBERS.iter().filter_map(|number| class(py, *number)).collect();
        let mut by_dtype = [None; 17];
        for (at, class) in all.iter().enumerate() {
            if let Some(slot) = by_dtype.get_mut(class.dtype as usize) {
                // `longlong` is another class than `int64` where both have 64 bits.
                slot.get_or_insert(at);
            }
        }
        Classes { all, by_dtype }
    })
}

/// The class of a type number, if a scalar of it looks as expected.
fn class(py: Python<'_>, number: c_int) -> Option<Class> {
    let Kind::Fixed(dtype) = kind(number) else { return None };
    let size = dtype.size()?;
    // Bools are 0 or 1; any bytes are a number of the other types.
    let value: [u8; 16] =
        if dtype == DType::Bool { [1; 16] } else { std::array::from_fn(|i| i as u8 + 1) };
    // SAFETY: a new reference to a built-in descriptor, which NumPy always has; the scalar is made
    // of a copy of `value`, which is long enough. An object has at least the size that its class
    // says, so that the bytes compared are its own.
    unsafe {
        let descr = PY_ARRAY_API.PyArray_DescrFromType(py, number);
        let descr = Bound::from_owned_ptr_or_opt(py, descr.cast())?;
        let data = value.as_ptr().cast_mut().cast::<c_void>();
        let base = ptr::null_mut();
        let scalar = PY_ARRAY_API.PyArray_Scalar(py, data, descr.as_ptr().cast(), base);
        let scalar = Bound::from_owned_ptr_or_opt(py, scalar)?;
        let object = (*descr.as_ptr().cast::<PyArray_Descr>()).typeobj;
        let basic: usize = scalar.get_type().getattr("__basicsize__").ok()?.extract().ok()?;
        if ffi::Py_TYPE(scalar.as_ptr()) != object || basic < HEAD + size {
            return None;
        }
        let seen = slice::from_raw_parts(scalar.as_ptr().cast::<u8>().add(HEAD), size);
        if seen != &value[..size] {
            return None;
        }
        let alloc = ffi::PyType_GetSlot(object, ffi::Py_tp_alloc);
        let alloc = (dtype != DType::Bool && !alloc.is_null())
            .then(|| mem::transmute::<*mut c_void, ffi::allocfunc>(alloc));
        Some(Class { dtype, object, alloc })
    }
}

fn class_of(object: &Bound<'_, PyAny>) -> Option<&'static Class> {
    let class = object.get_type_ptr();
    classes(object.py()).all.iter().find(|known| ptr::eq(known.object, class))
}

/// True for a scalar of one of the classes.
pub(crate) fn is_plain(object: &Bound<'_, PyAny>) -> bool {
    class_of(object).is_some()
}

/// Type and value of a scalar of one of the classes.
pub(crate) fn read(object: &Bound<'_, PyAny>) -> Option<(DType, [u8; 16])> {
    let dtype = class_of(object)?.dtype;
    let mut value = [0; 16];
    let size = dtype.size()?.min(value.len());
    // SAFETY: the layout of the class was checked: `size` bytes of value follow the head.
    unsafe {
        let data = object.as_ptr().cast::<u8>().add(HEAD);
        ptr::copy_nonoverlapping(data, value.as_mut_ptr(), size);
    }
    Some((dtype, value))
}

/// A scalar of `bytes`, which must be of the size of the type; `None` if it is not for us.
pub(crate) fn make<'py>(
    py: Python<'py>,
    dtype: DType,
    bytes: &[u8],
) -> Option<PyResult<Bound<'py, PyAny>>> {
    let classes = classes(py);
    let class = &classes.all[(*classes.by_dtype.get(dtype as usize)?)?];
    let alloc = class.alloc?;
    // SAFETY: the allocator of the class, called as `PyType_GenericAlloc` is; the layout was
    // checked, and nobody else has seen the object.
    Some(unsafe {
        let object = alloc(class.object, 0);
        if object.is_null() {
            Err(PyErr::fetch(py))
        } else {
            let data = object.cast::<u8>().add(HEAD);
            ptr::copy_nonoverlapping(bytes.as_ptr(), data, bytes.len());
            Ok(Bound::from_owned_ptr(py, object))
        }
    })
}
