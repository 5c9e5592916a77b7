//! The NumPy edge: arrays and scalars over our memory, and the memory of arrays.
//!
//! Arrays are made by NumPy's C API. Memory of ours that one tensor alone holds is given to the
//! array, whose base object is then a [`Memory`]; anything else is copied. rust-numpy's borrow
//! checking is left out: it is global and panics where threads meet.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_long, c_void};
use std::ptr;
use std::sync::Arc;

use headrace::data::{Buffer, BufferMut, DType, Dims};
use numpy::npyffi::objects::{PyArray_Descr, PyArrayObject};
use numpy::npyffi::types::NPY_TYPES;
use numpy::npyffi::{NpyTypes, PY_ARRAY_API, flags, get_type_object};
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::errors::{Result, invalid};
use crate::imports;
use crate::scalars;

/// Arrays below this are copied into memory of NumPy's: cheaper than a base object. Larger ones
/// stay 64-byte aligned, so that JAX can take them as they are.
const SMALL: usize = 1024;

/// Keeps the memory of an array alive.
#[pyclass(frozen, module = "headrace._headrace")]
pub(crate) struct Memory {
    #[allow(dead_code)]
    buffer: Buffer,
}

/// Keeps the owner of borrowed memory alive.
struct Held(#[allow(dead_code)] Py<PyAny>);

/// Whether an array may be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Handed to the user: owned and writable.
    Own,
    /// Shown to a function: may share memory, read-only.
    View,
}

/// NumPy's number of a type; `None` for those that it has no number for.
fn type_number(dtype: DType) -> Option<c_int> {
    let long = size_of::<c_long>() == 8;
    Some(match dtype {
        DType::Bool => NPY_TYPES::NPY_BOOL,
        DType::Int8 => NPY_TYPES::NPY_BYTE,
        DType::Int16 => NPY_TYPES::NPY_SHORT,
        DType::Int32 if long => NPY_TYPES::NPY_INT,
        DType::Int32 => NPY_TYPES::NPY_LONG,
        DType::Int64 if long => NPY_TYPES::NPY_LONG,
        DType::Int64 => NPY_TYPES::NPY_LONGLONG,
        DType::UInt8 => NPY_TYPES::NPY_UBYTE,
        DType::UInt16 => NPY_TYPES::NPY_USHORT,
        DType::UInt32 if long => NPY_TYPES::NPY_UINT,
        DType::UInt32 => NPY_TYPES::NPY_ULONG,
        DType::UInt64 if long => NPY_TYPES::NPY_ULONG,
        DType::UInt64 => NPY_TYPES::NPY_ULONGLONG,
        DType::Float16 => NPY_TYPES::NPY_HALF,
        DType::Float32 => NPY_TYPES::NPY_FLOAT,
        DType::Float64 => NPY_TYPES::NPY_DOUBLE,
        DType::Complex64 => NPY_TYPES::NPY_CFLOAT,
        DType::Complex128 => NPY_TYPES::NPY_CDOUBLE,
        DType::Bytes | DType::Str => NPY_TYPES::NPY_OBJECT,
        DType::BFloat16 => return None,
    } as c_int)
}

/// What a NumPy type is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Fixed-size values, or object arrays that we make of text.
    Fixed(DType),
    /// `S`, `U` or `StringDType`: to be read as Python strings.
    Text,
    /// Python objects.
    Object,
    /// Anything else.
    Other,
}

pub(crate) fn kind(number: c_int) -> Kind {
    let int = |bytes: usize, signed: bool| match (bytes, signed) {
        (4, true) => DType::Int32,
        (4, false) => DType::UInt32,
        (_, true) => DType::Int64,
        (_, false) => DType::UInt64,
    };
    Kind::Fixed(match number {
        0 => DType::Bool,
        1 => DType::Int8,
        2 => DType::UInt8,
        3 => DType::Int16,
        4 => DType::UInt16,
        5 => DType::Int32,
        6 => DType::UInt32,
        7 => int(size_of::<c_long>(), true),
        8 => int(size_of::<c_long>(), false),
        9 => DType::Int64,
        10 => DType::UInt64,
        11 => DType::Float32,
        12 => DType::Float64,
        14 => DType::Complex64,
        15 => DType::Complex128,
        23 => DType::Float16,
        17 => return Kind::Object,
        18 | 19 | 2056 => return Kind::Text,
        _ => return Kind::Other,
    })
}

/// The descriptors of our types, by `DType as usize`.
struct Descriptors([Option<Py<PyAny>>; 17]);

/// The NumPy dtype; object for text.
pub(crate) fn descriptor(py: Python<'_>, dtype: DType) -> PyResult<&Bound<'_, PyAny>> {
    static ALL: PyOnceLock<Descriptors> = PyOnceLock::new();
    let all = ALL.get_or_init(py, || {
        Descriptors(DType::ALL.map(|dtype| {
            let number = type_number(dtype)?;
            // SAFETY: a new reference to a built-in descriptor, which NumPy always has.
            unsafe {
                let descr = PY_ARRAY_API.PyArray_DescrFromType(py, number);
                Some(Bound::from_owned_ptr(py, descr.cast()).unbind())
            }
        }))
    });
    match all.0.get(dtype as usize).and_then(Option::as_ref) {
        Some(descr) => Ok(descr.bind(py)),
        None => bfloat16(py),
    }
}

/// Finds NumPy's C API and dtypes, which the first array would do otherwise.
pub(crate) fn load(py: Python<'_>) -> PyResult<()> {
    PyModule::import(py, "numpy")?;
    descriptor(py, DType::Int64).map(|_| ())
}

/// The dtype of the extra package that gives NumPy bfloat16.
fn bfloat16(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static DESCR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let descr = DESCR.get_or_try_init(py, || {
        let module = py.import("ml_dtypes").map_err(|cause| {
            let error = PyImportError::new_err(
                "NumPy has no bfloat16 of its own: install ml_dtypes, or cast to float32 in `map`",
            );
            error.set_cause(py, Some(cause));
            error
        })?;
        imports::np_dtype(py)?.call1((module.getattr("bfloat16")?,)).map(Bound::unbind)
    })?;
    Ok(descr.bind(py))
}

/// A new array; NumPy allocates where `data` is null.
fn new_array<'py>(
    py: Python<'py>,
    dtype: DType,
    dims: &[usize],
    data: *mut c_void,
    flags: c_int,
) -> PyResult<Bound<'py, PyAny>> {
    let descr = descriptor(py, dtype)?.clone();
    let mut sizes: smallvec::SmallVec<[isize; 8]> = dims.iter().map(|dim| *dim as isize).collect();
    // SAFETY: the descriptor's reference is given away, as NumPy takes it; `sizes` has as many
    // entries as told; the callers vouch for `data`.
    unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            descr.into_ptr().cast::<PyArray_Descr>(),
            sizes.len() as c_int,
            sizes.as_mut_ptr(),
            ptr::null_mut(),
            data,
            flags,
            ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, array)
    }
}

/// An array of fixed-size values.
pub(crate) fn array<'py>(
    py: Python<'py>,
    dtype: DType,
    dims: &[usize],
    #[allow(dead_code)] buffer: Buffer,
    access: Access,
) -> Result<Bound<'py, PyAny>> {
    if buffer.len() < SMALL {
        return array_from_bytes(py, dtype, dims, &buffer, access);
    }
    let buffer = match access {
        Access::Own if !buffer.is_owned() => Buffer::copy_from(&buffer)?,
        _ => buffer,
    };
    let flags = match access {
        Access::Own => flags::NPY_ARRAY_CARRAY,
        Access::View => flags::NPY_ARRAY_CARRAY_RO,
    };
    let data = buffer.as_ptr().cast_mut().cast();
    let memory = Bound::new(py, Memory { buffer })?;
    let array = new_array(py, dtype, dims, data, flags)?;
    // SAFETY: `memory` keeps the data of the array alive and is given away. A writable array is
    // the only holder of its block, as `is_owned` has said or the copy made it.
    let failed =
        unsafe { PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_ptr().cast(), memory.into_ptr()) };
    if failed < 0 {
        return Err(PyErr::fetch(py).into());
    }
    Ok(array)
}

/// An array of a copy of fixed-size values.
pub(crate) fn array_from_bytes<'py>(
    py: Python<'py>,
    dtype: DType,
    dims: &[usize],
    bytes: &[u8],
    access: Access,
) -> Result<Bound<'py, PyAny>> {
    if bytes.len() >= SMALL {
        return array(py, dtype, dims, Buffer::copy_from(bytes)?, access);
    }
    let array = new_array(py, dtype, dims, ptr::null_mut(), 0)?;
    let object = array.as_ptr().cast::<PyArrayObject>();
    // SAFETY: NumPy has allocated room for `dims` values, which is what a tensor holds in
    // `bytes`; nobody else has seen the array.
    unsafe {
        ptr::copy_nonoverlapping(bytes.as_ptr(), (*object).data.cast(), bytes.len());
        if access == Access::View {
            (*object).flags &= !flags::NPY_ARRAY_WRITEABLE;
        }
    }
    Ok(array)
}

/// A NumPy scalar; `bytes` holds one value.
pub(crate) fn scalar<'py>(
    py: Python<'py>,
    dtype: DType,
    bytes: &[u8],
) -> Result<Bound<'py, PyAny>> {
    if dtype.size() != Some(bytes.len()) {
        return Err(headrace::Error::internal("a scalar of the wrong size").into());
    }
    if let Some(scalar) = scalars::make(py, dtype, bytes) {
        return Ok(scalar?);
    }
    let descr = descriptor(py, dtype)?;
    let data = bytes.as_ptr().cast_mut().cast();
    // SAFETY: `data` holds one value of the type, which NumPy copies.
    let scalar = unsafe {
        let scalar = PY_ARRAY_API.PyArray_Scalar(py, data, descr.as_ptr().cast(), ptr::null_mut());
        Bound::from_owned_ptr_or_err(py, scalar)?
    };
    Ok(scalar)
}

/// An object array; `dims` must hold as many items as there are.
pub(crate) fn object_array<'py>(
    py: Python<'py>,
    dims: &[usize],
    items: impl ExactSizeIterator<Item = Result<Bound<'py, PyAny>>>,
    access: Access,
) -> Result<Bound<'py, PyAny>> {
    if dims.iter().product::<usize>() != items.len() {
        return Err(headrace::Error::internal("an object array of the wrong size").into());
    }
    let array = new_array(py, DType::Bytes, dims, ptr::null_mut(), 0)?;
    let object = array.as_ptr().cast::<PyArrayObject>();
    for (index, item) in items.enumerate() {
        // SAFETY: NumPy has allocated one zeroed pointer for each item; `index` is below their
        // number. The array takes over the reference.
        unsafe { (*object).data.cast::<*mut ffi::PyObject>().add(index).write(item?.into_ptr()) };
    }
    if access == Access::View {
        // SAFETY: nobody else has seen the array.
        unsafe { (*object).flags &= !flags::NPY_ARRAY_WRITEABLE };
    }
    Ok(array)
}

/// A NumPy array of the user.
pub(crate) struct Array<'py>(Bound<'py, PyAny>);

impl<'py> Array<'py> {
    /// The object as an array, if it is one.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> Option<Self> {
        // SAFETY: a type check on a valid object.
        let is_array = unsafe {
            let class = get_type_object(object.py(), NpyTypes::PyArray_Type);
            ffi::PyObject_TypeCheck(object.as_ptr(), class) != 0
        };
        is_array.then(|| Array(object.clone()))
    }

    fn object(&self) -> *mut PyArrayObject {
        self.0.as_ptr().cast()
    }

    fn descr(&self) -> *mut PyArray_Descr {
        // SAFETY: a valid array always has a descriptor.
        unsafe { (*self.object()).descr }
    }

    /// What its values are.
    pub(crate) fn kind(&self) -> Kind {
        // SAFETY: as above.
        match kind(unsafe { (*self.descr()).type_num }) {
            Kind::Other if is_bfloat16(&self.0) => Kind::Fixed(DType::BFloat16),
            kind => kind,
        }
    }

    /// The sizes of its axes.
    pub(crate) fn dims(&self) -> Dims {
        // SAFETY: `dimensions` holds `nd` sizes, none of them negative.
        unsafe {
            let object = self.object();
            let count = (*object).nd as usize;
            (0..count).map(|axis| *(*object).dimensions.add(axis) as usize).collect()
        }
    }

    /// The same values in native byte order, aligned and contiguous: itself if it is so.
    pub(crate) fn plain(self, dtype: DType) -> PyResult<Self> {
        let wanted = flags::NPY_ARRAY_CARRAY_RO;
        // SAFETY: fields of a valid array and its descriptor.
        let (own, order) = unsafe { ((*self.object()).flags, (*self.descr()).byteorder as u8) };
        let swapped = if cfg!(target_endian = "little") { b'>' } else { b'<' };
        if own & wanted == wanted && order != swapped {
            return Ok(self);
        }
        let py = self.0.py();
        let descr = descriptor(py, dtype)?.clone();
        // SAFETY: the descriptor's reference is given away, as NumPy takes it.
        let array = unsafe {
            let descr = descr.into_ptr().cast();
            let array = PY_ARRAY_API.PyArray_FromArray(py, self.object(), descr, wanted);
            Bound::from_owned_ptr_or_err(py, array)?
        };
        Ok(Array(array))
    }

    /// Number of bytes of a plain array of values of `size` bytes.
    fn len_bytes(&self, size: usize) -> usize {
        self.dims().iter().product::<usize>() * size
    }

    /// The memory of a plain array, which is kept alive, without a copy.
    pub(crate) fn borrow(self, size: usize) -> Buffer {
        let len = self.len_bytes(size);
        // SAFETY: as in `kind`.
        let data = unsafe { (*self.object()).data.cast_const().cast() };
        let owner = Arc::new(Held(self.0.unbind()));
        // SAFETY: a contiguous array holds `len` bytes, which it keeps while it lives. (NumPy
        // refuses to resize an array that somebody else refers to.)
        unsafe { Buffer::borrow(data, len, owner) }
    }

    /// Copies a plain array to the start of `out`, which must be long enough.
    pub(crate) fn copy_to(&self, size: usize, out: &mut [u8]) {
        let len = self.len_bytes(size).min(out.len());
        // SAFETY: a contiguous array holds at least `len` bytes, `out` too, and nothing that we
        // may write is memory of an array.
        unsafe { ptr::copy_nonoverlapping((*self.object()).data.cast(), out.as_mut_ptr(), len) };
    }

    /// A copy of a plain array.
    pub(crate) fn copy(&self, size: usize) -> headrace::Result<Buffer> {
        let mut out = BufferMut::scratch(self.len_bytes(size))?;
        self.copy_to(size, &mut out);
        Ok(out.freeze())
    }
}

fn is_bfloat16(array: &Bound<'_, PyAny>) -> bool {
    let name = array.getattr("dtype").and_then(|dtype| dtype.getattr("name"));
    name.is_ok_and(|name| name.eq("bfloat16").unwrap_or(false))
}

/// True for a scalar of NumPy's.
pub(crate) fn is_scalar(object: &Bound<'_, PyAny>) -> bool {
    if scalars::is_plain(object) {
        return true;
    }
    // SAFETY: a type check on a valid object.
    unsafe {
        let class = get_type_object(object.py(), NpyTypes::PyGenericArrType_Type);
        ffi::PyObject_TypeCheck(object.as_ptr(), class) != 0
    }
}

/// Type and value of a NumPy scalar; `None` for types that must go through an array.
pub(crate) fn scalar_value(object: &Bound<'_, PyAny>) -> Option<(DType, [u8; 16])> {
    if let Some(plain) = scalars::read(object) {
        return Some(plain);
    }
    let py = object.py();
    let mut value = [0_u8; 16];
    // SAFETY: the object is a NumPy scalar. Only values of at most 16 bytes are written, as the
    // types in `kind` have; the descriptor is a new reference.
    unsafe {
        let descr = PY_ARRAY_API.PyArray_DescrFromScalar(py, object.as_ptr());
        let descr = Bound::from_owned_ptr_or_opt(py, descr.cast())?;
        let Kind::Fixed(dtype) = kind((*descr.as_ptr().cast::<PyArray_Descr>()).type_num) else {
            return None;
        };
        PY_ARRAY_API.PyArray_ScalarAsCtype(py, object.as_ptr(), value.as_mut_ptr().cast());
        Some((dtype, value))
    }
}

/// The type of a NumPy dtype object.
pub(crate) fn dtype_of(descr: &Bound<'_, PyAny>) -> Result<DType> {
    if !descr.is_instance(imports::np_dtype(descr.py())?)? {
        return invalid(format!("expected a dtype, got {descr}"));
    }
    // SAFETY: the object is a descriptor, as just checked.
    let (number, letter) = unsafe {
        let descr = descr.as_ptr().cast::<PyArray_Descr>();
        ((*descr).type_num, (*descr).kind as u8)
    };
    match (kind(number), letter) {
        (Kind::Fixed(dtype), _) => Ok(dtype),
        (Kind::Text, b'S') => Ok(DType::Bytes),
        (Kind::Text, _) => Ok(DType::Str),
        _ if descr.getattr("name")?.eq("bfloat16")? => Ok(DType::BFloat16),
        _ => invalid(format!("dtype {descr} is not supported by headrace")),
    }
}
