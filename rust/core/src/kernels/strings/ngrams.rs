//! `string_ngrams`: neighbours along the innermost axis, joined.

use std::sync::Arc;

use crate::data::{
    BytesArray, BytesBuilder, Column, DType, PartialShape, RaggedColumn, Spec, Tensor, Wanted,
};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, inputs};
use crate::kernels::strings::groups::dense;
use crate::kernels::strings::join::{Joined, separator};
use crate::kernels::strings::pieces::{flat_rows, split_column};
use crate::kernels::strings::{MOST_BYTES, check_text, not_dense};

#[derive(Debug)]
struct Ngrams {
    widths: Vec<usize>,
    separator: Vec<u8>,
    /// What stands before and behind a row, and how often at most.
    padding: Option<(Vec<u8>, Vec<u8>, usize)>,
    /// A row too short for any width gives itself.
    keep_short: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "string_ngrams" {
        return Ok(None);
    }
    attrs.only(&["widths", "separator", "left_pad", "right_pad", "padding_width", "keep_short"])?;
    let width = |width: i64| {
        usize::try_from(width).ok().filter(|width| *width > 0).ok_or_else(|| {
            let text = format!("All ngram_widths must be greater than 0. Got {width}");
            Error::invalid_argument(text)
        })
    };
    let widths = attrs.ints("widths")?.into_iter().map(width).collect::<Result<_>>()?;
    let padding = match attrs.opt_int("padding_width")? {
        None => None,
        Some(most) => Some((
            separator(attrs, "left_pad")?,
            separator(attrs, "right_pad")?,
            usize::try_from(most).unwrap_or(usize::MAX),
        )),
    };
    let keep_short = attrs.bool_or("keep_short", false)?;
    let separator = separator(attrs, "separator")?;
    Ok(Some(Arc::new(Ngrams { widths, separator, padding, keep_short })))
}

impl Ngrams {
    fn padding(&self, width: usize) -> usize {
        self.padding.as_ref().map_or(0, |(_, _, most)| (*most).min(width - 1))
    }

    /// How many a row of `count` strings gives for each width. Rows give none where there is no
    /// string in any of them, as in TensorFlow; an empty row among others is padded too.
    fn counts(&self, count: usize, any: bool) -> impl Iterator<Item = (usize, usize)> {
        self.widths.iter().map(move |width| {
            let padded = if any { count + 2 * self.padding(*width) } else { 0 };
            (*width, (padded + 1).saturating_sub(*width))
        })
    }

    fn total(&self, count: usize) -> usize {
        let total: usize = self.counts(count, count > 0).map(|(_, made)| made).sum();
        total + usize::from(total == 0 && self.is_kept(count))
    }

    fn is_kept(&self, count: usize) -> bool {
        self.keep_short && count > 0 && !self.widths.is_empty()
    }

    /// Appends those of one row.
    fn row(&self, row: &BytesArray, any: bool, out: &mut BytesBuilder) -> Result<usize> {
        let mut joined = Joined::new(&self.separator);
        let mut made = 0;
        let mut bytes = 0_usize;
        let longest = row.iter().map(<[u8]>::len).max().unwrap_or(0) + self.separator.len();
        for (width, count) in self.counts(row.len(), any) {
            let pad = self.padding(width);
            let size = longest.saturating_mul(width).saturating_mul(count);
            bytes = bytes.saturating_add(size).saturating_add(count);
            if bytes > MOST_BYTES {
                return Err(Error::resource_exhausted("the n-grams of a row are more than 2 GiB"));
            }
            for start in 0..count {
                self.push(row, start..start + width, pad, &mut joined)?;
                joined.finish(out);
            }
            made += count;
        }
        if made == 0 && self.is_kept(row.len()) {
            let pad = self.widths.first().map_or(0, |width| self.padding(*width));
            self.push(row, 0..row.len() + 2 * pad, pad, &mut joined)?;
            joined.finish(out);
            made = 1;
        }
        Ok(made)
    }

    fn push(
        &self,
        row: &BytesArray,
        places: std::ops::Range<usize>,
        pad: usize,
        joined: &mut Joined<'_>,
    ) -> Result<()> {
        let (left, right): (&[u8], &[u8]) = match &self.padding {
            Some((left, right, _)) => (left, right),
            None => (&[], &[]),
        };
        for place in places {
            joined.push(match place.checked_sub(pad) {
                None => left,
                Some(k) if k < row.len() => row.get(k),
                Some(_) => right,
            })?;
        }
        Ok(())
    }

    fn ragged(&self, ragged: &RaggedColumn) -> Result<Column> {
        let (flat, shapes) = flat_rows(&ragged.values)?;
        let Some((last, outer)) = ragged.splits.split_last() else {
            return Err(Error::internal("no row splits"));
        };
        let (ends, of_rows) = flat_rows(last)?;
        let ends = cast_tensor(&ends, DType::Int64)?;
        let mut ends = ends.values::<i64>()?;
        let strings = flat.strings()?;
        let mut out = BytesBuilder::default();
        let (mut splits, mut counts, mut base) = (Vec::new(), Vec::new(), 0);
        for (dims, values) in of_rows.iter().zip(&shapes) {
            let (own, rest) = ends.split_at(dims.iter().product());
            ends = rest;
            let size: usize = values.iter().product();
            let (mut made, mut total) = (vec![0], 0);
            for pair in own.windows(2) {
                let row = usize::try_from(pair[0]).ok().zip(usize::try_from(pair[1]).ok());
                let Some((start, end)) = row.filter(|(a, b)| a <= b && *b <= size) else {
                    let text = "the row splits of a ragged component do not fit its values";
                    return Err(Error::invalid_argument(text));
                };
                let row = strings.slice(base + start..base + end);
                total += self.row(&row, size > 0, &mut out)?;
                made.push(total);
            }
            base += size;
            splits.push(made);
            counts.push([total][..].into());
        }
        let dims = [out.len()][..].into();
        let values = dense(Tensor::text(flat.dtype(), dims, out.finish()?)?, counts)?;
        let dtype = last.dtype().unwrap_or(DType::Int64);
        let splits = outer.iter().cloned().chain([split_column(&splits, dtype)?]).collect();
        Ok(Column::Ragged(Box::new(RaggedColumn { values, splits })))
    }
}

impl Kernel for Ngrams {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let [spec] = inputs(specs)?;
        check_text(spec.dtype().unwrap_or(DType::Bool))?;
        match spec {
            Spec::Tensor { dtype, shape } => {
                let shape = match shape.dims() {
                    None => PartialShape::UNKNOWN,
                    Some([dims @ .., last]) => {
                        let last = last.map(|count| self.total(count));
                        PartialShape::new(dims.iter().copied().chain([last]))
                    }
                    Some([]) => {
                        let text = "data must have rank>0";
                        return Err(Error::invalid_argument(text).with_hint("it is one string"));
                    }
                };
                Ok(vec![Spec::Tensor { dtype: *dtype, shape }])
            }
            Spec::Ragged { dtype, shape, ragged_rank, splits_dtype } => {
                if shape.rank().is_some_and(|rank| rank != ragged_rank + 1) {
                    let text = format!("it takes ragged rows of single strings, got {spec}");
                    return Err(Error::invalid_argument(text));
                }
                let (ragged_rank, splits_dtype) = (*ragged_rank, *splits_dtype);
                let shape = shape.clone();
                Ok(vec![Spec::Ragged { dtype: *dtype, shape, ragged_rank, splits_dtype }])
            }
            other => Err(not_dense(other)),
        }
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let [arg] = inputs(args)?;
        let column = arg.clone().into_column(rows)?;
        if let Column::Ragged(ragged) = &column {
            return Ok(vec![self.ragged(ragged)?]);
        }
        let (flat, mut shapes) = flat_rows(&column)?;
        let strings = flat.strings()?;
        let mut out = BytesBuilder::default();
        let mut at = 0;
        for dims in &mut shapes {
            let Some((last, outer)) = dims.split_last_mut() else {
                return Err(Error::invalid_argument("data must have rank>0"));
            };
            for _ in 0..outer.iter().product() {
                self.row(&strings.slice(at..at + *last), *last > 0, &mut out)?;
                at += *last;
            }
            *last = self.total(*last);
        }
        let count = [out.len()][..].into();
        let values = Tensor::text(flat.dtype(), count, out.finish()?)?;
        Ok(vec![dense(values, shapes)?])
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_) | Column::Ragged(_))
    }
}
