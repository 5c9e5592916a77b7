//! `einsum`: sums of products over axes that are named by letters. Matrix products, inner and outer
//! products, traces and `tensordot` are all recorded as this.
//!
//! Operands are taken in from left to right. Of two, the axes fall into four groups: those that
//! both have and that stay (batch), those of the first alone, those of the second alone, and those
//! that both have and that are summed. So each step is a batch of matrix products on copies that
//! lie in this order (no copy where they lie so already). The row axis of a chunk is one more
//! letter: against a constant, all rows of a chunk are one product.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::data::shape::volume;
use crate::data::{Column, Dims, PartialShape, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel, Tolerance};
use crate::kernels::cast::dense;
use crate::kernels::products::{products, sums};
use crate::kernels::strided::Walk;

/// An axis: a letter, an axis of the ellipsis counted from its end, or the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Letter(u8),
    Ellipsis(usize),
    Rows,
}

/// The letters of one operand; where its ellipsis stands, if it has one.
#[derive(Clone, Debug)]
struct Term {
    letters: Vec<u8>,
    ellipsis: Option<usize>,
}

impl Term {
    fn parse(text: &str) -> Result<Self> {
        let wrong = |what: &str| {
            Err(Error::invalid_argument(format!("einsum cannot read {text:?}: {what}")))
        };
        let (mut letters, mut ellipsis) = (Vec::new(), None);
        let mut rest = text.as_bytes();
        while let Some((first, tail)) = rest.split_first() {
            if first.is_ascii_alphabetic() {
                letters.push(*first);
                rest = tail;
            } else if rest.starts_with(b"...") && ellipsis.is_none() {
                ellipsis = Some(letters.len());
                rest = &rest[3..];
            } else {
                return wrong("expected letters and at most one ellipsis");
            }
        }
        Ok(Term { letters, ellipsis })
    }

    /// The labels of an operand of this rank.
    fn labels(&self, rank: usize) -> Result<Vec<Label>> {
        let own = self.letters.len();
        let open = match self.ellipsis {
            Some(_) => rank.checked_sub(own),
            None => (rank == own).then_some(0),
        };
        let Some(open) = open else {
            let text = format!("einsum names {own} axes of an operand that has {rank}");
            return Err(Error::invalid_argument(text));
        };
        let mut labels: Vec<Label> = self.letters.iter().map(|c| Label::Letter(*c)).collect();
        let at = self.ellipsis.unwrap_or(0);
        labels.splice(at..at, (0..open).rev().map(Label::Ellipsis));
        Ok(labels)
    }
}

#[derive(Debug)]
struct Einsum {
    inputs: Vec<Term>,
    output: Term,
    /// Axes of size 1 meet axes of any size under a letter too, not in the ellipsis alone.
    broadcast: bool,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "einsum" {
        return Ok(None);
    }
    attrs.only(&["equation", "broadcast"])?;
    let equation = attrs.str("equation")?;
    let Some((left, right)) = equation.split_once("->") else {
        let text = format!("einsum needs an equation with ->, got {equation:?}");
        return Err(Error::invalid_argument(text));
    };
    let terms: Vec<Term> = left.split(',').map(Term::parse).collect::<Result<_>>()?;
    let output = Term::parse(right)?;
    for (i, letter) in output.letters.iter().enumerate() {
        if output.letters[..i].contains(letter) || !terms.iter().any(|t| t.letters.contains(letter))
        {
            let letter = char::from(*letter);
            return Err(Error::invalid_argument(format!(
                "einsum must give each axis once, and one of an operand: {letter:?} in {equation:?}"
            )));
        }
    }
    let broadcast = attrs.bool_or("broadcast", false)?;
    Ok(Some(Arc::new(Einsum { inputs: terms, output, broadcast })))
}

impl Einsum {
    /// The size that an axis has by two operands.
    fn join(&self, label: Label, a: Option<usize>, b: Option<usize>) -> Result<Option<usize>> {
        let loose = self.broadcast || matches!(label, Label::Ellipsis(_));
        match (a, b) {
            (None, None) => Ok(None),
            (Some(1), other) | (other, Some(1)) if loose => Ok(other),
            (None, other) | (other, None) => Ok(other),
            (Some(x), Some(y)) if x == y => Ok(Some(x)),
            (Some(x), Some(y)) => Err(Error::invalid_argument(match label {
                Label::Letter(letter) => {
                    let letter = char::from(letter);
                    format!(
                        "axes that are summed or kept together differ in size: {letter} is {x} and {y}"
                    )
                }
                _ => format!("operands could not be broadcast together: sizes {x} and {y}"),
            })),
        }
    }

    /// The labels of the output, where the ellipsis has this many axes.
    fn output_labels(&self, open: usize) -> Result<Vec<Label>> {
        if self.output.ellipsis.is_none() && open > 0 {
            let text = "einsum: the output must have the ellipsis that an operand has";
            return Err(Error::invalid_argument(text));
        }
        let open = if self.output.ellipsis.is_some() { open } else { 0 };
        self.output.labels(self.output.letters.len() + open)
    }

    fn shape(&self, shapes: &[&PartialShape]) -> Result<PartialShape> {
        let mut sizes: Vec<(Label, Option<usize>)> = Vec::new();
        let (mut open, mut unknown) = (0, false);
        for (term, shape) in self.inputs.iter().zip(shapes) {
            let Some(dims) = shape.dims() else {
                unknown = true;
                continue;
            };
            let labels = term.labels(dims.len())?;
            open = open.max(dims.len() - term.letters.len());
            for (label, dim) in labels.into_iter().zip(dims) {
                match sizes.iter_mut().find(|(own, _)| *own == label) {
                    Some((_, size)) => *size = self.join(label, *size, *dim)?,
                    None => sizes.push((label, *dim)),
                }
            }
        }
        if unknown && self.output.ellipsis.is_some() {
            return Ok(PartialShape::UNKNOWN);
        }
        let labels = self.output_labels(open)?;
        let size = |label: &Label| sizes.iter().find(|(own, _)| own == label).and_then(|own| own.1);
        Ok(PartialShape::new(labels.iter().map(size)))
    }
}

/// A tensor with a name, size and stride for each axis.
struct Operand {
    tensor: Tensor,
    axes: SmallVec<[(Label, usize, isize); 6]>,
}

impl Operand {
    /// Axes of one name become one: the diagonal.
    fn new(tensor: Tensor, labels: &[Label]) -> Result<Self> {
        let plain = Walk::plain(tensor.dims());
        let mut axes: SmallVec<[(Label, usize, isize); 6]> = SmallVec::new();
        for ((label, size), stride) in labels.iter().zip(tensor.dims()).zip(&plain.strides) {
            match axes.iter_mut().find(|(own, ..)| own == label) {
                Some((_, own, sum)) if *own == *size => *sum += *stride,
                Some((_, own, _)) => {
                    let text = format!("einsum: axes of one letter have sizes {own} and {size}");
                    return Err(Error::invalid_argument(text));
                }
                None => axes.push((*label, *size, *stride)),
            }
        }
        Ok(Operand { tensor, axes })
    }

    fn axis(&self, label: Label) -> Option<(usize, isize)> {
        self.axes.iter().find(|(own, ..)| *own == label).map(|(_, size, stride)| (*size, *stride))
    }

    /// The values in the order of these labels; `sizes` are those they are broadcast to.
    fn in_order(&self, labels: &[(Label, usize)]) -> Result<Tensor> {
        let mut walk = Walk { dims: Dims::new(), strides: SmallVec::new(), start: 0 };
        for (label, size) in labels {
            let stride = match self.axis(*label) {
                Some((own, stride)) if own == *size => stride,
                _ => 0,
            };
            walk.dims.push(*size);
            walk.strides.push(stride);
        }
        walk.collect(&self.tensor)
    }
}

/// The step from two operands to one: what stays is in `keep`.
fn contract(a: &Operand, b: &Operand, keep: &dyn Fn(Label) -> bool) -> Result<Operand> {
    let size = |label: Label| {
        let of = |x: &Operand| x.axis(label).map_or(1, |(size, _)| size);
        // A size of 1 gives way to any other, 0 too.
        if of(a) == 1 { of(b) } else { of(a) }
    };
    let pick = |x: &Operand, both: bool, kept: bool, other: &Operand| -> Vec<(Label, usize)> {
        let fits = |label: &Label| other.axis(*label).is_some() == both && keep(*label) == kept;
        x.axes.iter().map(|axis| axis.0).filter(fits).map(|label| (label, size(label))).collect()
    };
    let (batch, shared) = (pick(a, true, true, b), pick(a, true, false, b));
    let (first, second) = (pick(a, false, true, b), pick(b, false, true, a));
    let left = a.in_order(&[&batch[..], &first, &shared].concat())?;
    let right = b.in_order(&[&batch[..], &shared, &second].concat())?;
    let count = |labels: &[(Label, usize)]| -> Result<usize> {
        volume(&labels.iter().map(|(_, size)| *size).collect::<Dims>())
    };
    let sizes = [count(&batch)?, count(&first)?, count(&shared)?, count(&second)?];
    let labels: Vec<(Label, usize)> = [batch, first, second].concat();
    let dims: Dims = labels.iter().map(|(_, size)| *size).collect();
    let product = products(&left, &right, sizes, dims)?;
    let names: Vec<Label> = labels.iter().map(|(label, _)| *label).collect();
    Operand::new(product, &names)
}

/// Sums an operand over the axes that are not kept.
fn summed(a: Operand, keep: &dyn Fn(Label) -> bool) -> Result<Operand> {
    if a.axes.iter().all(|(label, ..)| keep(*label)) {
        return Ok(a);
    }
    let part = |kept: bool| -> Vec<(Label, usize)> {
        let axes = a.axes.iter().filter(|(label, ..)| keep(*label) == kept);
        axes.map(|(label, size, _)| (*label, *size)).collect()
    };
    let (kept, gone) = (part(true), part(false));
    let values = a.in_order(&[&kept[..], &gone].concat())?;
    let dims: Dims = kept.iter().map(|(_, size)| *size).collect();
    let count: usize = gone.iter().map(|(_, size)| *size).product();
    let total = sums(&values, count, dims)?;
    let names: Vec<Label> = kept.iter().map(|(label, _)| *label).collect();
    Operand::new(total, &names)
}

impl Kernel for Einsum {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        if specs.len() != self.inputs.len() {
            let (named, given) = (self.inputs.len(), specs.len());
            let text = format!("einsum names {named} operands, got {given}");
            return Err(Error::invalid_argument(text));
        }
        let operands = specs.iter().map(dense).collect::<Result<Vec<_>>>()?;
        let Some((dtype, _)) = operands.first() else {
            return Err(Error::invalid_argument("einsum of no operands"));
        };
        if dtype.is_text() {
            return Err(Error::invalid_argument(format!("einsum does not take {dtype}")));
        }
        if let Some((other, _)) = operands.iter().find(|(other, _)| other != dtype) {
            let text = format!("einsum of {dtype} and {other}: cast one of them");
            return Err(Error::invalid_argument(text));
        }
        let shapes: Vec<&PartialShape> = operands.iter().map(|(_, shape)| *shape).collect();
        Ok(vec![Spec::Tensor { dtype: *dtype, shape: self.shape(&shapes)? }])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let shapes = args.iter().map(|arg| Ok(PartialShape::from(arg.row_dims()?)));
        let shapes = shapes.collect::<Result<Vec<_>>>()?;
        let dims = self.shape(&shapes.iter().collect::<Vec<_>>())?.known();
        let dims = dims.ok_or_else(|| Error::internal("a shape is known in part only"))?;
        let mut operands = Vec::with_capacity(args.len());
        let mut open = 0;
        for (term, arg) in self.inputs.iter().zip(args) {
            let rank = arg.row_dims()?.len();
            open = open.max(rank - term.letters.len());
            let mut labels = term.labels(rank)?;
            if !arg.is_const() {
                labels.insert(0, Label::Rows);
            }
            operands.push(Operand::new(arg.tensor()?.clone(), &labels)?);
        }
        let output = self.output_labels(open)?;
        let result = einsum(operands, &|label| label == Label::Rows || output.contains(&label))?;
        let mut order: Vec<(Label, usize)> = output.iter().copied().zip(dims.clone()).collect();
        if result.axis(Label::Rows).is_none() {
            let tensor = result.in_order(&order)?;
            return Ok(vec![Arg::Const(tensor.reshape(dims)?).into_column(rows)?]);
        }
        order.insert(0, (Label::Rows, rows));
        Ok(vec![Column::Stacked(result.in_order(&order)?)])
    }

    fn tolerance(&self) -> Tolerance {
        Tolerance::Product
    }
}

fn einsum(operands: Vec<Operand>, kept: &dyn Fn(Label) -> bool) -> Result<Operand> {
    let mut operands = operands.into_iter();
    let mut result =
        operands.next().ok_or_else(|| Error::internal("einsum of no operands at run time"))?;
    while let Some(next) = operands.next() {
        let later = operands.as_slice();
        let keep = |label: Label| kept(label) || later.iter().any(|x| x.axis(label).is_some());
        // What only one of them has and nothing keeps is summed before they meet.
        let first = summed(result, &|label| keep(label) || next.axis(label).is_some())?;
        let second = summed(next, &|label| keep(label) || first.axis(label).is_some())?;
        result = contract(&first, &second, &keep)?;
    }
    summed(result, kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::attr::Attr;

    fn run(equation: &str, args: &[Arg], rows: usize) -> Result<(Dims, Vec<i64>)> {
        let attrs = Attrs::from([("equation", Attr::Str(equation.into()))]);
        let kernel = build("einsum", &attrs)?.unwrap();
        let Column::Stacked(out) = kernel.run(args, rows, &[Wanted::All])?.remove(0) else {
            return Err(Error::internal("not stacked"));
        };
        Ok((out.dims().into(), out.values::<i64>()?.to_vec()))
    }

    fn tensor(dims: &[usize]) -> Tensor {
        let count: i64 = dims.iter().product::<usize>() as i64;
        Tensor::from_values(dims, &(0..count).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn rows_meet_a_constant_in_one_product() {
        let rows = Arg::Column(Column::Stacked(tensor(&[2, 1, 2])));
        let found = run("ij,jk->ik", &[rows, Arg::Const(tensor(&[2, 3]))], 2).unwrap();
        assert_eq!(found, ([2, 1, 3][..].into(), vec![3, 4, 5, 9, 14, 19]));
    }

    #[test]
    fn diagonals_sums_and_three_operands() {
        let one = |dims: &[usize]| Arg::Const(tensor(dims));
        assert_eq!(run("ii->", &[one(&[3, 3])], 1).unwrap().1, [12]);
        assert_eq!(run("ij->j", &[one(&[2, 3])], 1).unwrap().1, [3, 5, 7]);
        assert_eq!(run("ij->ji", &[one(&[2, 3])], 1).unwrap().1, [0, 3, 1, 4, 2, 5]);
        let three = [one(&[2, 2]), one(&[2, 2]), one(&[2])];
        assert_eq!(run("ij,jk,k->i", &three, 1).unwrap().1, [3, 11]);
        assert_eq!(run("i,j->ij", &[one(&[2]), one(&[3])], 1).unwrap().1, [0, 0, 0, 0, 1, 2]);
    }

    #[test]
    fn the_ellipsis_broadcasts_and_letters_must_fit() {
        let args = [Arg::Const(tensor(&[2, 1, 2])), Arg::Const(tensor(&[3, 2, 1]))];
        assert!(run("...ij,...jk->...ik", &args, 1).is_err());
        let args = [Arg::Const(tensor(&[1, 1, 2])), Arg::Const(tensor(&[3, 2, 1]))];
        assert_eq!(run("...ij,...jk->...ik", &args, 1).unwrap().1, [1, 3, 5]);
        assert!(
            run("ij,jk->ik", &[Arg::Const(tensor(&[1, 2])), Arg::Const(tensor(&[3, 1]))], 1)
                .is_err()
        );
        assert!(run("ij->ik", &[Arg::Const(tensor(&[1, 2]))], 1).is_err());
    }
}
