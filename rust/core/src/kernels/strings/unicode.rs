//! `unicode_decode` (with where each character begins), `unicode_split`, `unicode_transcode`,
//! `unicode_encode`.

use std::sync::Arc;

use crate::data::{BytesBuilder, Column, DType, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, inputs};
use crate::kernels::strings::encoding::{Character, Encoding, output};
use crate::kernels::strings::groups::{Groups, without_innermost};
use crate::kernels::strings::pieces::{Cut, Pieces, cutting};
use crate::kernels::strings::{Each, check_size, check_text, each_string, mapped};

/// What becomes of bytes that are no character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Errors {
    Strict,
    Replace,
    Ignore,
}

/// How strings are read.
#[derive(Debug)]
struct Reading {
    encoding: Encoding,
    errors: Errors,
    replacement: u32,
    /// C0 controls are as good as broken.
    controls: bool,
    /// Whether a control is an error under `strict`: not where characters are taken apart.
    whole: bool,
}

const READING: [&str; 4] =
    ["input_encoding", "errors", "replacement_char", "replace_control_characters"];

fn errors(attrs: &Attrs) -> Result<Errors> {
    match attrs.opt_str("errors")?.unwrap_or("replace") {
        "strict" => Ok(Errors::Strict),
        "replace" => Ok(Errors::Replace),
        "ignore" => Ok(Errors::Ignore),
        other => Err(Error::invalid_argument(format!(
            "errors must be \"strict\", \"replace\" or \"ignore\", got {other:?}"
        ))),
    }
}

/// The code point that replaces others; half a pair is one, as in TensorFlow.
fn replacement(attrs: &Attrs) -> Result<u32> {
    let code = attrs.opt_int("replacement_char")?.unwrap_or(0xfffd);
    u32::try_from(code).ok().filter(|code| *code <= u32::from(char::MAX)).ok_or_else(|| {
        let text = "replacement_char out of unicode codepoint range";
        Error::invalid_argument(text).with_hint(format!("got {code}"))
    })
}

impl Reading {
    fn new(attrs: &Attrs, whole: bool) -> Result<Self> {
        Ok(Reading {
            encoding: Encoding::named(attrs.str("input_encoding")?)?,
            errors: errors(attrs)?,
            replacement: replacement(attrs)?,
            controls: attrs.bool_or("replace_control_characters", false)?,
            whole,
        })
    }

    /// Calls `each` with the characters of a string, as the user wants broken ones.
    fn read(
        &self,
        value: &[u8],
        each: &mut impl FnMut(u32, Character) -> Result<()>,
    ) -> Result<()> {
        self.encoding.decode(value, &mut |found| {
            let control = self.controls && matches!(found.code, Some(0..=0x1f));
            match (found.code.filter(|_| !control), self.errors) {
                (Some(code), _) => each(code, found),
                (None, Errors::Replace) => each(self.replacement, found),
                (None, Errors::Ignore) => Ok(()),
                (None, Errors::Strict) if control && !self.whole => each(self.replacement, found),
                (None, Errors::Strict) => {
                    let text = "Invalid formatting on input string";
                    let hint = match control {
                        true => format!("byte {} is a control character", found.start),
                        false => format!("byte {} begins no character", found.start),
                    };
                    Err(Error::invalid_argument(text).with_hint(hint))
                }
            }
        })
    }
}

#[derive(Debug)]
struct Decode {
    reading: Reading,
    offsets: bool,
}

#[derive(Debug)]
struct SplitCharacters {
    reading: Reading,
    offsets: bool,
}

#[derive(Debug)]
struct Transcode {
    reading: Reading,
    output: Encoding,
}

#[derive(Debug)]
struct Encode {
    output: Encoding,
    errors: Errors,
    replacement: u32,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let only = |more: &[&str]| attrs.only(&[&READING[..], more].concat());
    Ok(Some(match op {
        "unicode_decode" | "unicode_split" => {
            only(&["offsets"])?;
            let offsets = attrs.bool_or("offsets", false)?;
            let reading = Reading::new(attrs, false)?;
            match op {
                "unicode_decode" => cutting(Decode { reading, offsets }),
                _ => cutting(SplitCharacters { reading, offsets }),
            }
        }
        "unicode_transcode" => {
            only(&["output_encoding"])?;
            let output = output(attrs.str("output_encoding")?)?;
            mapped(Transcode { reading: Reading::new(attrs, true)?, output })
        }
        "unicode_encode" => {
            attrs.only(&["output_encoding", "errors", "replacement_char"])?;
            let output = output(attrs.str("output_encoding")?)?;
            Arc::new(Encode { output, errors: errors(attrs)?, replacement: replacement(attrs)? })
        }
        _ => return Ok(None),
    }))
}

/// Reads all strings: calls `each` for each character, and counts those of each string.
fn cut(
    reading: &Reading,
    strings: &Tensor,
    mut each: impl FnMut(&[u8], u32, Character) -> Result<()>,
) -> Result<(Vec<usize>, Vec<i64>)> {
    let (mut lengths, mut starts) = (Vec::new(), Vec::new());
    for value in strings.strings()?.iter() {
        let before = starts.len();
        reading.read(value, &mut |code, found| {
            starts.push(found.start as i64);
            each(value, code, found)
        })?;
        lengths.push(starts.len() - before);
    }
    Ok((lengths, starts))
}

/// The values, and where they begin if that is asked for.
fn pieces(values: Tensor, offsets: bool, starts: &[i64], lengths: Vec<usize>) -> Result<Pieces> {
    let mut values = vec![values];
    if offsets {
        values.push(Tensor::from_values(&[starts.len()], starts)?);
    }
    Ok(Pieces { values, lengths })
}

impl Cut for Decode {
    fn dtypes(&self, input: DType) -> Result<Vec<DType>> {
        check_text(input)?;
        Ok([DType::Int32, DType::Int64][..1 + usize::from(self.offsets)].to_vec())
    }

    fn cut(&self, strings: &Tensor) -> Result<Pieces> {
        let mut codes: Vec<i32> = Vec::new();
        let (lengths, starts) = cut(&self.reading, strings, |_, code, _| {
            codes.push(code as i32);
            Ok(())
        })?;
        pieces(Tensor::from_values(&[codes.len()], &codes)?, self.offsets, &starts, lengths)
    }
}

impl Cut for SplitCharacters {
    fn dtypes(&self, input: DType) -> Result<Vec<DType>> {
        check_text(input)?;
        Ok([input, DType::Int64][..1 + usize::from(self.offsets)].to_vec())
    }

    fn cut(&self, strings: &Tensor) -> Result<Pieces> {
        let mut out = BytesBuilder::default();
        let mut text = Vec::new();
        let reading = &self.reading;
        let (lengths, starts) = cut(reading, strings, |value, code, found| {
            let bytes = &value[found.start..found.start + found.len];
            if found.code == Some(code) && reading.encoding == Encoding::Utf8 {
                out.push(bytes);
                return Ok(());
            }
            text.clear();
            reading.encoding.encode(code, &mut text);
            out.push(&text);
            Ok(())
        })?;
        let dims = [out.len()][..].into();
        let dtype = if reading.encoding == Encoding::Utf8 { strings.dtype() } else { DType::Bytes };
        pieces(Tensor::text(dtype, dims, out.finish()?)?, self.offsets, &starts, lengths)
    }
}

impl Each for Transcode {
    fn dtype(&self, input: DType) -> Result<DType> {
        check_text(input)?;
        Ok(if self.output == Encoding::Utf8 { input } else { DType::Bytes })
    }

    fn change(&self, tensor: &Tensor) -> Result<Tensor> {
        let dtype = self.dtype(tensor.dtype())?;
        each_string(tensor, dtype, |value, out| {
            self.reading.read(value, &mut |code, _| {
                self.output.encode(code, out);
                check_size(out.len())
            })
        })
    }
}

impl Encode {
    fn push(&self, code: i64, out: &mut Vec<u8>) -> Result<()> {
        match (u32::try_from(code).ok().and_then(char::from_u32), self.errors) {
            (Some(code), _) => self.output.encode(code.into(), out),
            (None, Errors::Replace) => self.output.encode(self.replacement, out),
            (None, Errors::Ignore) => {}
            (None, Errors::Strict) => {
                let text = "Code point is out of range for Unicode, or a noncharacter.";
                return Err(Error::invalid_argument(text).with_hint(format!("got {code}")));
            }
        }
        check_size(out.len())
    }
}

impl Kernel for Encode {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        match spec.dtype() {
            Some(dtype) if dtype.is_integer() => Ok(vec![without_innermost(spec, DType::Bytes)?]),
            _ => Err(Error::invalid_argument(format!("code points are integers, got {spec}"))),
        }
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let groups = Groups::of(&arg.clone().into_column(rows)?)?;
        let codes = cast_tensor(&groups.flat, DType::Int64)?;
        let mut codes = codes.values::<i64>()?.iter();
        let mut out = BytesBuilder::default();
        let mut text = Vec::new();
        for length in &groups.lengths {
            text.clear();
            codes.by_ref().take(*length).try_for_each(|code| self.push(*code, &mut text))?;
            out.push(&text);
        }
        let dims = [groups.lengths.len()][..].into();
        let values = Tensor::text(DType::Bytes, dims, out.finish()?)?;
        Ok(vec![groups.finish(values)?])
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_) | Column::Ragged(_))
    }
}
