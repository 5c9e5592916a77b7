//! `string_split` and `bytes_split`: strings cut at a separator, at white space, or everywhere.

use std::sync::Arc;

use crate::data::{BytesArray, DType, Tensor, View};
use crate::error::Result;
use crate::graph::attr::Attrs;
use crate::graph::kernel::Kernel;
use crate::kernels::strings::case::is_space;
use crate::kernels::strings::check_text;
use crate::kernels::strings::pieces::{Cut, Pieces, cutting};

#[derive(Debug)]
enum Split {
    /// At white space; none of it is at the ends of a piece.
    Space { most: usize },
    /// At each occurrence of a text.
    At { separator: Vec<u8>, most: usize },
    /// At each of some bytes; nothing is no piece. As TensorFlow 1's `string_split`.
    Any { marks: Vec<u8>, skip_empty: bool },
    /// Between all bytes.
    Bytes,
}

/// A text among the attributes, which may be a tensor.
fn text(attrs: &Attrs, name: &str) -> Result<Vec<u8>> {
    Ok(match attrs.opt_tensor(name) {
        Ok(Some(tensor)) => tensor.strings()?.iter().next().unwrap_or_default().to_vec(),
        Ok(None) => Vec::new(),
        Err(_) => attrs.opt_str(name)?.unwrap_or_default().as_bytes().to_vec(),
    })
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let split = match op {
        "string_split" if attrs.get("any_of").is_some() => {
            attrs.only(&["any_of", "skip_empty"])?;
            let marks = text(attrs, "any_of")?;
            Split::Any { marks, skip_empty: attrs.bool_or("skip_empty", true)? }
        }
        "string_split" => {
            attrs.only(&["sep", "maxsplit"])?;
            let most = attrs.opt_int("maxsplit")?.unwrap_or(-1);
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            let separator = text(attrs, "sep")?;
            match separator.is_empty() {
                true => Split::Space { most },
                false => Split::At { separator, most },
            }
        }
        "bytes_split" => {
            attrs.only(&[])?;
            Split::Bytes
        }
        _ => return Ok(None),
    };
    Ok(Some(cutting(split)))
}

/// Where `separator` is found next.
fn find(value: &[u8], separator: &[u8]) -> Option<usize> {
    match separator {
        [byte] => memchr::memchr(*byte, value),
        _ => memchr::memmem::find(value, separator),
    }
}

impl Split {
    /// Calls `piece` with the place and length of each piece.
    fn each(&self, value: &[u8], mut piece: impl FnMut(usize, usize)) {
        match self {
            Split::Bytes => (0..value.len()).for_each(|k| piece(k, 1)),
            Split::Any { .. } if value.is_empty() => {}
            Split::Any { marks, skip_empty } => {
                let mut start = 0;
                for part in value.split(|byte| marks.contains(byte)) {
                    if !(*skip_empty && part.is_empty()) {
                        piece(start, part.len());
                    }
                    start += part.len() + 1;
                }
            }
            // Nothing is cut, and nothing stripped.
            Split::Space { most: 0 } | Split::At { most: 0, .. } => piece(0, value.len()),
            Split::At { separator, most } => {
                let mut start = 0;
                for _ in 0..*most {
                    let Some(found) = find(&value[start..], separator) else { break };
                    piece(start, found);
                    start += found + separator.len();
                }
                piece(start, value.len() - start);
            }
            Split::Space { most } => {
                let word = |from: usize, space: bool| {
                    let rest = value[from..].iter();
                    let stop = rest.take_while(|byte| is_space(**byte) == space).count();
                    from + stop
                };
                let mut start = word(0, true);
                for _ in 0..*most {
                    if start == value.len() {
                        return;
                    }
                    let end = word(start, false);
                    piece(start, end - start);
                    start = word(end, true);
                }
                // What follows the last cut is a piece, though it be empty.
                piece(start, value.len() - start);
            }
        }
    }
}

impl Cut for Split {
    fn dtypes(&self, input: DType) -> Result<Vec<DType>> {
        check_text(input)?;
        // Characters of text may be cut apart.
        let bytes = match self {
            Split::Bytes => true,
            Split::Any { marks, .. } => !marks.is_ascii(),
            _ => false,
        };
        Ok(vec![if bytes { DType::Bytes } else { input }])
    }

    fn cut(&self, strings: &Tensor) -> Result<Pieces> {
        let (buffers, views) = strings.strings()?.parts();
        let mut made = Vec::new();
        let mut lengths = Vec::with_capacity(views.len());
        for view in views {
            let value = &buffers[view.buffer as usize][view.start..view.start + view.len];
            let before = made.len();
            self.each(value, |at, len| made.push(View { start: view.start + at, len, ..*view }));
            lengths.push(made.len() - before);
        }
        let dims = [made.len()][..].into();
        let dtype = self.dtypes(strings.dtype())?.remove(0);
        let made = BytesArray::new(buffers.to_vec(), made)?;
        Ok(Pieces { values: vec![Tensor::text(dtype, dims, made)?], lengths })
    }
}
