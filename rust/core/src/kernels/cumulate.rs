//! `cumulate`: each value combined with all before it along an axis (`numpy.cumsum`,
//! `ufunc.accumulate`).
//!
//! Results are rounded after each step, as NumPy does. Along an axis that is not the last, whole
//! runs of the axes after it are combined at once.

use std::sync::Arc;

use num_complex::Complex;

use crate::data::{Column, DType, Dims, Element, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{Bool, dense, inputs, scratch};
use crate::kernels::dispatch::with_type;
use crate::kernels::elementwise::binary::multiply_complex;
use crate::kernels::elementwise::complex::{Part, extreme};
use crate::kernels::elementwise::number::{Integer, Number};
use crate::kernels::shape::{normal_axis, stacked};

const OPS: &[&str] = &[
    "add",
    "multiply",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
];

#[derive(Debug)]
struct Cumulate {
    op: &'static str,
    axis: i64,
    /// Each result leaves out the value at its own place; the first is 0 for sums, 1 for products.
    exclusive: bool,
    /// From the last value to the first.
    reverse: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "cumulate" {
        return Ok(None);
    }
    attrs.only(&["op", "axis", "exclusive", "reverse"])?;
    let name = attrs.str("op")?;
    let Some(op) = OPS.iter().find(|op| **op == name) else {
        let text = format!("cumulate does not know {name:?}, expected one of {OPS:?}");
        return Err(Error::invalid_argument(text));
    };
    let exclusive = attrs.bool_or("exclusive", false)?;
    if exclusive && !matches!(*op, "add" | "multiply") {
        let text = format!("{op} has no first value, which an exclusive cumulate starts with");
        return Err(Error::invalid_argument(text));
    }
    let (axis, reverse) = (attrs.int("axis")?, attrs.bool_or("reverse", false)?);
    Ok(Some(Arc::new(Cumulate { op, axis, exclusive, reverse })))
}

/// The places of an axis: `outer` times `n` times `inner` values.
struct Layout {
    outer: usize,
    n: usize,
    inner: usize,
}

impl Layout {
    fn of(dims: &[usize], axis: usize) -> Self {
        let size = |dims: &[usize]| dims.iter().product();
        Layout { outer: size(&dims[..axis]), n: dims[axis], inner: size(&dims[axis + 1..]) }
    }
}

impl Cumulate {
    fn accepts_dtype(&self, dtype: DType) -> bool {
        let real = dtype.is_integer() || dtype.is_float();
        match self.op {
            "add" | "multiply" => !dtype.is_text() && dtype != DType::Bool,
            "maximum" | "minimum" => !dtype.is_text(),
            "fmax" | "fmin" => real || dtype == DType::Bool,
            "logical_and" | "logical_or" | "logical_xor" => dtype == DType::Bool,
            _ => dtype.is_integer() || dtype == DType::Bool,
        }
    }

    fn compute(&self, x: &Tensor, layout: &Layout) -> Result<Tensor> {
        let dtype = x.dtype();
        let unknown = || Error::internal(format!("cumulate of {dtype} by {}", self.op));
        let bool = |value: bool| Bool(u8::from(value));
        match self.op {
            "logical_and" => self.walk::<Bool>(x, layout, bool(true), |a, b| Bool(a.0 & b.0)),
            "logical_or" => self.walk::<Bool>(x, layout, bool(false), |a, b| Bool(a.0 | b.0)),
            "logical_xor" => self.walk::<Bool>(x, layout, bool(false), |a, b| Bool(a.0 ^ b.0)),
            "bitwise_and" | "bitwise_or" | "bitwise_xor" => {
                let stored = if dtype == DType::Bool { DType::UInt8 } else { dtype };
                with_type!(stored, T: [int] => match self.op {
                    "bitwise_and" => self.walk::<T>(x, layout, T::zero(), T::and),
                    "bitwise_or" => self.walk::<T>(x, layout, T::zero(), T::or),
                    _ => self.walk::<T>(x, layout, T::zero(), T::xor),
                }, else Err(unknown()))
            }
            _ => match dtype {
                DType::Complex64 => self.complex::<f32>(x, layout),
                DType::Complex128 => self.complex::<f64>(x, layout),
                _ => {
                    let stored = if dtype == DType::Bool { DType::UInt8 } else { dtype };
                    with_type!(stored, T: [int, float] => {
                        self.real::<T>(x, layout)
                    }, else Err(unknown()))
                }
            },
        }
    }

    fn real<T: Number>(&self, x: &Tensor, layout: &Layout) -> Result<Tensor> {
        match self.op {
            "add" => self.walk::<T>(x, layout, T::from_bool(false), T::add),
            "multiply" => self.walk::<T>(x, layout, T::from_bool(true), T::multiply),
            "maximum" => self.walk::<T>(x, layout, T::from_bool(false), T::maximum),
            "minimum" => self.walk::<T>(x, layout, T::from_bool(false), T::minimum),
            "fmax" => self.walk::<T>(x, layout, T::from_bool(false), T::fmax),
            _ => self.walk::<T>(x, layout, T::from_bool(false), T::fmin),
        }
    }

    fn complex<P: Part>(&self, x: &Tensor, layout: &Layout) -> Result<Tensor>
    where
        Complex<P>: Element,
    {
        type C<P> = Complex<P>;
        let (zero, one) = (P::ZERO, P::ONE);
        let first = C { re: if self.op == "multiply" { one } else { zero }, im: zero };
        match self.op {
            "add" => self.walk::<C<P>>(x, layout, first, |a, b| C {
                re: a.re.add(b.re),
                im: a.im.add(b.im),
            }),
            "multiply" => self.walk::<C<P>>(x, layout, first, multiply_complex),
            "maximum" => self.walk::<C<P>>(x, layout, first, |a, b| extreme(a, b, a, true)),
            _ => self.walk::<C<P>>(x, layout, first, |a, b| extreme(a, b, a, false)),
        }
    }

    #[inline(always)]
    fn walk<T: Element>(
        &self,
        x: &Tensor,
        layout: &Layout,
        first: T,
        f: impl Fn(T, T) -> T,
    ) -> Result<Tensor> {
        let values = x.values::<T>()?;
        let Layout { outer, n, inner } = *layout;
        let mut out = scratch::<T>(values.len())?;
        let result = out.typed_mut::<T>();
        let block = n * inner;
        let place = |k: usize| if self.reverse { n - 1 - k } else { k };
        for o in 0..if block == 0 { 0 } else { outer } {
            let (values, result) =
                (&values[o * block..(o + 1) * block], &mut result[o * block..(o + 1) * block]);
            if inner == 1 {
                // One running value, kept in a register.
                let mut running = if self.exclusive { first } else { values[place(0)] };
                result[place(0)] = running;
                for k in 1..n {
                    let next = if self.exclusive { place(k - 1) } else { place(k) };
                    running = f(running, values[next]);
                    result[place(k)] = running;
                }
                continue;
            }
            let at = place(0) * inner;
            match self.exclusive {
                true => result[at..at + inner].fill(first),
                false => result[at..at + inner].copy_from_slice(&values[at..at + inner]),
            }
            for k in 1..n {
                let (before, own) = (place(k - 1) * inner, place(k) * inner);
                let next = if self.exclusive { before } else { own };
                let (low, high) = result.split_at_mut(before.max(own));
                let (done, out) = match before < own {
                    true => (&low[before..before + inner], &mut high[..inner]),
                    false => (&high[..inner], &mut low[own..own + inner]),
                };
                let values = &values[next..next + inner];
                for (out, (a, b)) in out.iter_mut().zip(done.iter().zip(values)) {
                    *out = f(*a, *b);
                }
            }
        }
        Tensor::fixed(x.dtype(), x.dims().into(), out.freeze())
    }
}

impl Kernel for Cumulate {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        let (dtype, shape) = dense(spec)?;
        if !self.accepts_dtype(dtype) {
            let text = format!("cumulate by {} does not take {dtype}", self.op);
            return Err(Error::invalid_argument(text));
        }
        if let Some(rank) = shape.rank() {
            normal_axis(self.axis, rank)?;
        }
        Ok(vec![spec.clone()])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let tensor = stacked(arg, rows)?;
        let dims: Dims = tensor.dims().into();
        let axis = normal_axis(self.axis, dims.len().saturating_sub(1))? + 1;
        Ok(vec![Column::Stacked(self.compute(&tensor, &Layout::of(&dims, axis))?)])
    }

    fn tolerance(&self) -> Tolerance {
        match self.op {
            "add" | "multiply" => Tolerance::Sum,
            "maximum" | "minimum" | "fmax" | "fmin" => Tolerance::Moved,
            _ => Tolerance::Exact,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::attr::Attr;

    fn cumulate(attrs: Attrs, tensor: Tensor) -> Vec<i64> {
        let kernel = build("cumulate", &attrs).unwrap().unwrap();
        let column = kernel.run(&[Arg::Const(tensor)], 1, &[Wanted::All]).unwrap().remove(0);
        stacked(&Arg::Column(column), 1).unwrap().values::<i64>().unwrap().to_vec()
    }

    #[test]
    fn values_add_up_along_each_axis_and_from_each_end() {
        let tensor = Tensor::from_values(&[2, 3], &[1_i64, 2, 3, 4, 5, 6]).unwrap();
        let sum = |axis| Attrs::from([("op", Attr::Str("add".into())), ("axis", Attr::Int(axis))]);
        let flag = |attrs: Attrs, name| attrs.with(name, Attr::Bool(true));
        assert_eq!(cumulate(sum(1), tensor.clone()), [1, 3, 6, 4, 9, 15]);
        assert_eq!(cumulate(sum(0), tensor.clone()), [1, 2, 3, 5, 7, 9]);
        assert_eq!(cumulate(flag(sum(0), "reverse"), tensor.clone()), [5, 7, 9, 4, 5, 6]);
        assert_eq!(cumulate(flag(sum(-1), "exclusive"), tensor.clone()), [0, 1, 3, 0, 4, 9]);
        let both = flag(flag(sum(0), "exclusive"), "reverse");
        assert_eq!(cumulate(both, tensor), [4, 5, 6, 0, 0, 0]);
        let empty = Tensor::from_values::<i64>(&[0, 3], &[]).unwrap();
        assert!(cumulate(sum(0), empty).is_empty());
    }
}
