//! `substr`: a part of each string, by bytes or characters; positions may be negative.

use std::sync::Arc;

use crate::data::{BytesArray, Column, DType, Spec, Tensor, View, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, dense, inputs};
use crate::kernels::elementwise::loops::{Loops, broadcast_partial};
use crate::kernels::strings::check_text;
use crate::kernels::strings::length::{begins, unit};

#[derive(Debug)]
struct Substr {
    characters: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "substr" {
        return Ok(None);
    }
    attrs.only(&["unit"])?;
    Ok(Some(Arc::new(Substr { characters: unit(attrs)? })))
}

/// The bytes `pos..pos + len` of a string, within it; a negative length is all the rest.
fn bytes(value: &[u8], pos: i64, len: i64) -> Result<(usize, usize)> {
    let size = value.len() as i64;
    if !(-size..=size).contains(&pos) {
        let shown = String::from_utf8_lossy(&value[..value.len().min(64)]);
        return Err(Error::invalid_argument(format!(
            "pos {pos} out of range for string b'{shown}'"
        ))
        .with_hint(format!("it has {size} bytes")));
    }
    let start = if pos < 0 { pos + size } else { pos };
    let len = if len < 0 { size } else { len.min(size - start) };
    Ok((start as usize, len.min(size - start) as usize))
}

/// The same in characters of UTF-8; a negative length is none.
fn characters(value: &[u8], pos: i64, len: i64) -> Result<(usize, usize)> {
    let count = value.iter().filter(|byte| begins(**byte)).count() as i64;
    if !(-count..=count).contains(&pos) || (pos < 0 && len < 0) {
        return Err(Error::invalid_argument(format!("pos {pos} out of range for string"))
            .with_hint(format!("it has {count} characters")));
    }
    let first = if pos < 0 { pos + count } else { pos };
    let last = first.saturating_add(len.max(0)).min(count);
    let mut starts = value.iter().enumerate().filter(|(_, byte)| begins(**byte)).map(|(k, _)| k);
    let start = starts.by_ref().nth(first as usize).unwrap_or(value.len());
    let end = match last - first {
        0 => start,
        taken => starts.nth(taken as usize - 1).unwrap_or(value.len()),
    };
    Ok((start, end - start))
}

impl Substr {
    fn part(&self, value: &[u8], pos: i64, len: i64, dtype: DType) -> Result<(usize, usize)> {
        if self.characters {
            return characters(value, pos, len);
        }
        let (start, len) = bytes(value, pos, len)?;
        let whole = |at: usize| value.get(at).is_none_or(|byte| begins(*byte));
        if dtype == DType::Str && !(whole(start) && whole(start + len)) {
            return Err(Error::invalid_argument(format!(
                "bytes {start} to {} of {:?} cut a character in two",
                start + len,
                String::from_utf8_lossy(value)
            ))
            .with_hint("use unit=\"UTF8_CHAR\", or give bytes"));
        }
        Ok((start, len))
    }
}

impl Kernel for Substr {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [text, pos, len] = inputs(specs)?;
        let ((dtype, shape), (pos, pos_shape), (len, len_shape)) =
            (dense(text)?, dense(pos)?, dense(len)?);
        check_text(dtype)?;
        if let Some(wrong) = [pos, len].into_iter().find(|dtype| !dtype.is_integer()) {
            return Err(Error::invalid_argument(format!("pos and len are integers, got {wrong}")));
        }
        let shape = broadcast_partial(shape, &broadcast_partial(pos_shape, len_shape)?)?;
        Ok(vec![Spec::Tensor { dtype, shape }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let args: &[Arg; 3] = inputs(args)?;
        let loops = Loops::new(args, rows)?;
        let text = args[0].tensor()?;
        let (buffers, views) = text.strings()?.parts();
        let (pos, len) = (
            cast_tensor(args[1].tensor()?, DType::Int64)?,
            cast_tensor(args[2].tensor()?, DType::Int64)?,
        );
        let (pos, len) = (pos.values::<i64>()?, len.values::<i64>()?);
        let mut made = vec![View::default(); loops.len];
        let mut failed = None;
        let steps = loops.steps;
        loops.run(&mut |start, count, [i, j, k]| {
            for n in 0..count {
                let view = views[i + n * steps[0]];
                let value = &buffers[view.buffer as usize][view.start..view.start + view.len];
                let (pos, len) = (pos[j + n * steps[1]], len[k + n * steps[2]]);
                match self.part(value, pos, len, text.dtype()) {
                    Ok((first, len)) => {
                        made[start + n] = View { start: view.start + first, len, ..view };
                    }
                    Err(error) => failed = failed.take().or(Some(error)),
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let made = BytesArray::new(buffers.to_vec(), made)?;
        Ok(vec![Column::Stacked(Tensor::text(text.dtype(), loops.dims, made)?)])
    }
}
