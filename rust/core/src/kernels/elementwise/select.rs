//! `select`: values of one input or the other, by a condition (`numpy.where`).

use bytemuck::Pod;
use num_complex::Complex;

use crate::data::{BufferMut, BytesArray, Column, DType, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::{dense, inputs, scratch};
use crate::kernels::elementwise::binary::same_types;
use crate::kernels::elementwise::loops::{Loops, broadcast_partial};

#[derive(Debug)]
pub(super) struct Select;

/// Chooses among values of a type of the right size.
fn choose<T: Pod>(loops: &Loops<3>, condition: &[u8], a: &[u8], b: &[u8]) -> Result<BufferMut> {
    let cast = |bytes| {
        bytemuck::try_cast_slice::<u8, T>(bytes).map_err(|e| Error::internal(e.to_string()))
    };
    let (a, b) = (cast(a)?, cast(b)?);
    let mut out = scratch::<T>(loops.len)?;
    let result: &mut [T] = bytemuck::cast_slice_mut(&mut out);
    let steps = loops.steps;
    loops.run(&mut |start, count, [c, i, j]| {
        let out = &mut result[start..start + count];
        if steps == [1, 1, 1] {
            let inputs = condition[c..c + count].iter().zip(&a[i..i + count]).zip(&b[j..j + count]);
            for (out, ((condition, a), b)) in out.iter_mut().zip(inputs) {
                *out = if *condition != 0 { *a } else { *b };
            }
            return;
        }
        for (k, out) in out.iter_mut().enumerate() {
            let taken = condition[c + k * steps[0]] != 0;
            *out = if taken { a[i + k * steps[1]] } else { b[j + k * steps[2]] };
        }
    });
    Ok(out)
}

/// Chooses among strings: by their places in both arrays laid end to end.
fn choose_text(loops: &Loops<3>, condition: &[u8], a: &BytesArray, b: &BytesArray) -> BytesArray {
    let mut places = vec![0; loops.len];
    let steps = loops.steps;
    loops.run(&mut |start, count, [c, i, j]| {
        for k in 0..count {
            let taken = condition[c + k * steps[0]] != 0;
            places[start + k] = if taken { i + k * steps[1] } else { a.len() + j + k * steps[2] };
        }
    });
    BytesArray::concat(&[a, b]).gather(&places)
}

impl Kernel for Select {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [condition, a, b] = inputs(specs)?;
        let (condition, shape) = dense(condition)?;
        if condition != DType::Bool {
            let text = format!("the condition of select must be bool, got {condition}");
            return Err(Error::invalid_argument(text));
        }
        let (dtype, both) = same_types("select", &[a.clone(), b.clone()])?;
        Ok(vec![Spec::Tensor { dtype, shape: broadcast_partial(shape, &both)? }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let args = inputs(args)?;
        let loops = Loops::new(args, rows)?;
        let condition = args[0].tensor()?.values::<u8>()?;
        let (a, b) = (args[1].tensor()?, args[2].tensor()?);
        let dtype = a.dtype();
        let Some(size) = dtype.size() else {
            let chosen = choose_text(&loops, condition, a.strings()?, b.strings()?);
            return Ok(vec![Column::Stacked(Tensor::text(dtype, loops.dims, chosen)?)]);
        };
        let (a, b) = (a.bytes()?, b.bytes()?);
        let out = match size {
            1 => choose::<u8>(&loops, condition, a, b)?,
            2 => choose::<u16>(&loops, condition, a, b)?,
            4 => choose::<u32>(&loops, condition, a, b)?,
            8 => choose::<u64>(&loops, condition, a, b)?,
            _ => choose::<Complex<f64>>(&loops, condition, a, b)?,
        };
        Ok(vec![Column::Stacked(Tensor::fixed(dtype, loops.dims, out.freeze())?)])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Moved
    }
}
