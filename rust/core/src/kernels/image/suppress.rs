//! Choosing the best of boxes that overlap: `non_max_suppression` and its forms with scores, with a
//! table of overlaps, padded, and for the classes of a batch.
//!
//! Candidates come best first, of equal ones the first. One that has more than the threshold in
//! common with a chosen one is left out, or (soft) its score is lowered and it gets in line again.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::boxes::{Box4, boxes_of, shaped};
use super::each::row_of;
use super::resize::integers;
use crate::data::shape::volume;
use crate::data::{Column, DType, Dims, PartialShape, Rows, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, dense};

/// The forms; each has its inputs and outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Boxes, scores, size, two thresholds: places.
    Plain,
    /// The same and how far scores are lowered: places and scores.
    Scores,
    /// As the plain one, with a table for boxes.
    Table,
    /// As the plain one, for leading axes: so many places, and how many of them count.
    Padded { most: usize, sorted: bool },
    /// Boxes and scores of classes of a batch, two thresholds.
    Combined { each: usize, total: usize, padded: bool, clipped: bool },
}

impl Form {
    fn op(self) -> &'static str {
        match self {
            Form::Plain => "non_max_suppression",
            Form::Scores => "non_max_suppression_with_scores",
            Form::Table => "non_max_suppression_overlaps",
            Form::Padded { .. } => "non_max_suppression_padded",
            Form::Combined { .. } => "combined_non_max_suppression",
        }
    }
}

#[derive(Debug)]
struct Suppress {
    form: Form,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    let size = |name: &str| -> Result<usize> {
        let value = attrs.int(name)?;
        let fits = usize::try_from(value).ok().filter(|size| i32::try_from(*size).is_ok());
        fits.ok_or_else(|| {
            let text = format!("{name} must not be negative, nor above {}, got {value}", i32::MAX);
            Error::invalid_argument(text)
        })
    };
    let mut names: &[&str] = &[];
    let form = match op {
        "non_max_suppression" => Form::Plain,
        "non_max_suppression_with_scores" => Form::Scores,
        "non_max_suppression_overlaps" => Form::Table,
        "non_max_suppression_padded" => {
            names = &["max_output_size", "sorted_input"];
            Form::Padded { most: size(names[0])?, sorted: attrs.bool_or(names[1], false)? }
        }
        "combined_non_max_suppression" => {
            names = &["max_output_size_per_class", "max_total_size", "pad_per_class", "clip_boxes"];
            Form::Combined {
                each: size(names[0])?,
                total: size(names[1])?,
                padded: attrs.bool_or(names[2], false)?,
                clipped: attrs.bool_or(names[3], true)?,
            }
        }
        _ => return Ok(None),
    };
    attrs.only(names)?;
    Ok(Some(Arc::new(Suppress { form })))
}

/// A box that may be chosen.
#[derive(Clone, Copy)]
struct Candidate {
    place: usize,
    score: f32,
    /// Chosen boxes before this one have been compared with it.
    seen: usize,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.place.cmp(&self.place))
    }
}

/// What is chosen, and how.
struct Choice<'a> {
    most: usize,
    threshold: f32,
    least: f32,
    /// What squares of overlaps are multiplied with, where scores are lowered.
    scale: Option<f32>,
    overlap: &'a dyn Fn(usize, usize) -> f32,
}

impl Choice<'_> {
    fn make(&self, scores: impl Iterator<Item = f32>) -> Vec<(usize, f32)> {
        let candidate = |(place, score)| Candidate { place, score, seen: 0 };
        let candidates = scores.enumerate().map(candidate);
        let mut queue: BinaryHeap<Candidate> =
            candidates.filter(|c| c.score > self.least).collect();
        let mut chosen: Vec<(usize, f32)> = Vec::new();
        while chosen.len() < self.most
            && let Some(mut next) = queue.pop()
        {
            let before = next.score;
            let mut suppressed = false;
            for (other, _) in chosen[next.seen..].iter().rev() {
                let common = (self.overlap)(next.place, *other);
                match self.scale {
                    Some(scale) => next.score *= (scale * common * common).exp(),
                    None => suppressed = common > self.threshold,
                }
                if suppressed || next.score <= self.least {
                    break;
                }
            }
            next.seen = chosen.len();
            if suppressed {
            } else if next.score == before {
                chosen.push((next.place, next.score));
            } else if next.score > self.least {
                queue.push(next);
            }
        }
        chosen
    }
}

/// The share that two boxes have in common of what they cover together; corners in any order.
fn overlap(a: &Box4, b: &Box4) -> f32 {
    let ordered = |c: &Box4| [c[0].min(c[2]), c[1].min(c[3]), c[0].max(c[2]), c[1].max(c[3])];
    let (a, b) = (ordered(a), ordered(b));
    let area = |c: &Box4| (c[2] - c[0]) * (c[3] - c[1]);
    if area(&a) <= 0.0 || area(&b) <= 0.0 {
        return 0.0;
    }
    let height = (a[2].min(b[2]) - a[0].max(b[0])).max(0.0);
    let width = (a[3].min(b[3]) - a[1].max(b[1])).max(0.0);
    let both = height * width;
    both / (area(&a) + area(&b) - both)
}

fn numbers(tensor: &Tensor) -> Result<Tensor> {
    cast_tensor(tensor, DType::Float32)
}

impl Suppress {
    fn refused<T>(&self, text: impl std::fmt::Display) -> Result<T> {
        Err(Error::invalid_argument(format!("{}: {text}", self.form.op())))
    }

    fn number(&self, name: &str, tensor: &Tensor) -> Result<f32> {
        match numbers(tensor)?.values::<f32>()? {
            [one] => Ok(*one),
            _ => self.refused(format!("{name} is a single number")),
        }
    }

    fn threshold(&self, tensor: &Tensor) -> Result<f32> {
        let value = self.number("iou_threshold", tensor)?;
        // A table may hold any numbers.
        if self.form != Form::Table && !(0.0..=1.0).contains(&value) {
            return self.refused(format!("iou_threshold must be in [0, 1], got {value}"));
        }
        Ok(value)
    }

    fn scores(&self, tensor: &Tensor, count: usize) -> Result<Tensor> {
        if tensor.len() != count {
            let found = tensor.len();
            let text = format!("scores has incompatible shape: {found} scores for {count} boxes");
            return self.refused(text);
        }
        numbers(tensor)
    }

    /// The results of one row.
    fn row(&self, args: &[Tensor]) -> Result<Vec<Tensor>> {
        match self.form {
            Form::Plain | Form::Scores | Form::Table => self.places(args),
            Form::Padded { most, sorted } => self.padded(args, most, sorted),
            Form::Combined { .. } => self.combined(args),
        }
    }

    fn places(&self, args: &[Tensor]) -> Result<Vec<Tensor>> {
        let count = args[0].dims().first().copied().unwrap_or(0);
        let scores = self.scores(&args[1], count)?;
        let most = match integers(self.form.op(), &args[2])?[..] {
            [most] => most,
            _ => return self.refused("max_output_size is a single number"),
        };
        let Ok(most) = usize::try_from(most) else {
            return self.refused(format!("max_output_size must be non-negative, got {most}"));
        };
        let (threshold, least) =
            (self.threshold(&args[3])?, self.number("score_threshold", &args[4])?);
        let sigma = match self.form {
            Form::Scores => self.number("soft_nms_sigma", &args[5])?,
            _ => 0.0,
        };
        if sigma.is_nan() || sigma < 0.0 {
            return self.refused(format!("soft_nms_sigma must not be negative, got {sigma}"));
        }
        let scale = (sigma > 0.0).then(|| -0.5 / sigma);
        let (boxes, table) = match self.form {
            Form::Table => (Vec::new(), Some(numbers(&args[0])?)),
            _ => (boxes_of(&args[0])?, None),
        };
        let table = table.as_ref().map(|table| table.values::<f32>()).transpose()?;
        let overlap = |a: usize, b: usize| match table {
            Some(table) => table[a * count + b],
            None => overlap(&boxes[a], &boxes[b]),
        };
        let choice = Choice { most, threshold, least, scale, overlap: &overlap };
        let chosen = choice.make(scores.values::<f32>()?.iter().copied());
        let places: Vec<i32> = chosen.iter().map(|(place, _)| *place as i32).collect();
        let mut results = vec![Tensor::from_values(&[places.len()], &places)?];
        if self.form == Form::Scores {
            let scores: Vec<f32> = chosen.iter().map(|(_, score)| *score).collect();
            let scores = Tensor::from_values(&[scores.len()], &scores)?;
            results.push(cast_tensor(&scores, args[1].dtype())?);
        }
        Ok(results)
    }

    /// Places for each of the leading axes, zeros behind them; how many they are.
    fn padded(&self, args: &[Tensor], most: usize, sorted: bool) -> Result<Vec<Tensor>> {
        let [before @ .., count, _] = args[0].dims() else {
            return self.refused("boxes have two axes at least");
        };
        let (count, batch) = (*count, volume(before)?);
        let scores = self.scores(&args[1], batch.saturating_mul(count))?;
        let (threshold, least) =
            (self.threshold(&args[2])?, self.number("score_threshold", &args[3])?);
        let (boxes, scores) = (boxes_of(&args[0])?, scores.values::<f32>()?);
        let dims: Dims = before.iter().copied().chain([most]).collect();
        let mut places = zeros(volume(&dims)?)?;
        let mut valid = zeros(batch)?;
        for image in 0..batch {
            let own = &boxes[image * count..(image + 1) * count];
            let score = |k: usize| scores[image * count + k];
            // In TensorFlow a box without a part above zero is none, and no more is one of a score
            // that is too low.
            let is_box = |k: &usize| {
                let kept = least == f32::NEG_INFINITY || score(*k) > least;
                kept && own[*k].iter().any(|part| *part > 0.0)
            };
            let mut order: Vec<usize> = (0..count).filter(is_box).collect();
            if !sorted {
                order.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
            }
            let mut chosen: Vec<usize> = Vec::new();
            for k in order {
                if chosen.len() == most {
                    break;
                }
                if chosen.iter().all(|other| overlap(&own[k], &own[*other]) < threshold) {
                    chosen.push(k);
                }
            }
            valid[image] = chosen.len() as i32;
            let out = &mut places[image * most..(image + 1) * most];
            out.iter_mut().zip(chosen).for_each(|(out, place)| *out = place as i32);
        }
        Ok(vec![Tensor::from_values(&dims, &places)?, Tensor::from_values(before, &valid)?])
    }

    /// How many results each image of a batch has, for so many classes.
    fn results(&self, classes: usize) -> usize {
        match self.form {
            Form::Combined { each, total, padded: true, .. } => {
                total.min(each.saturating_mul(classes))
            }
            Form::Combined { total, .. } => total,
            _ => 0,
        }
    }

    fn combined(&self, args: &[Tensor]) -> Result<Vec<Tensor>> {
        let Form::Combined { each, clipped, .. } = self.form else {
            return Err(Error::internal("another form of suppression"));
        };
        let (&[batch, count, sorts, _], &[_, _, classes]) = (args[0].dims(), args[1].dims()) else {
            return self.refused("boxes have four axes, scores three");
        };
        let scores = self.scores(&args[1], batch.saturating_mul(count).saturating_mul(classes))?;
        let (threshold, least) =
            (self.threshold(&args[2])?, self.number("score_threshold", &args[3])?);
        let (boxes, scores) = (boxes_of(&args[0])?, scores.values::<f32>()?);
        let most = self.results(classes);
        let many = batch.saturating_mul(most);
        let (mut found, mut points) = (zeros::<f32>(many.saturating_mul(4))?, zeros::<f32>(many)?);
        let (mut kinds, mut valid) = (zeros::<f32>(many)?, zeros::<i32>(batch)?);
        for image in 0..batch {
            let mut best: Vec<(f32, usize, Box4)> = Vec::new();
            for class in 0..classes {
                let sort = if sorts > 1 { class } else { 0 };
                let at = |k: usize| boxes[(image * count + k) * sorts + sort];
                let overlap = |a: usize, b: usize| overlap(&at(a), &at(b));
                let choice =
                    Choice { most: each, threshold, least, scale: None, overlap: &overlap };
                let own = (0..count).map(|k| scores[(image * count + k) * classes + class]);
                best.extend(choice.make(own).into_iter().map(|(k, score)| (score, class, at(k))));
            }
            best.sort_by(|a, b| b.0.total_cmp(&a.0));
            best.truncate(most);
            valid[image] = best.len() as i32;
            for (k, (score, class, at)) in best.into_iter().enumerate() {
                let k = image * most + k;
                let at = if clipped { at.map(|part| part.clamp(0.0, 1.0)) } else { at };
                found[k * 4..][..4].copy_from_slice(&at);
                (points[k], kinds[k]) = (score, class as f32);
            }
        }
        Ok(vec![
            Tensor::from_values(&[batch, most, 4], &found)?,
            Tensor::from_values(&[batch, most], &points)?,
            Tensor::from_values(&[batch, most], &kinds)?,
            Tensor::from_values(&[batch], &valid)?,
        ])
    }

    /// Fails unless inputs have the shapes that the form takes; specs of its results.
    fn rule(&self, known: &[(DType, PartialShape)]) -> Result<Vec<Spec>> {
        let wanted = match self.form {
            Form::Plain | Form::Table => 5,
            Form::Scores => 6,
            Form::Padded { .. } | Form::Combined { .. } => 4,
        };
        if known.len() != wanted {
            return self.refused(format!("expected {wanted} inputs, got {}", known.len()));
        }
        let (boxes, scores) = (&known[0].1, &known[1].1);
        let spec = |dtype, dims: Vec<Option<usize>>| Spec::Tensor {
            dtype,
            shape: PartialShape::new(dims),
        };
        match self.form {
            Form::Plain | Form::Scores | Form::Table => {
                shaped(self.form.op(), "scores", scores, 1, None)?;
                if self.form == Form::Table {
                    shaped(self.form.op(), "overlaps", boxes, 2, None)?;
                    if let Some([Some(a), Some(b)]) = boxes.dims()
                        && a != b
                    {
                        return self.refused(format!("overlaps must be square, got shape {boxes}"));
                    }
                } else {
                    shaped(self.form.op(), "boxes", boxes, 2, Some(4))?;
                }
                let places = spec(DType::Int32, vec![None]);
                Ok(match self.form {
                    Form::Scores => vec![places, spec(known[1].0, vec![None])],
                    _ => vec![places],
                })
            }
            Form::Padded { most, .. } => {
                let unknown = |dtype| Spec::Tensor { dtype, shape: PartialShape::UNKNOWN };
                let Some(dims) = boxes.dims() else {
                    return Ok(vec![unknown(DType::Int32), unknown(DType::Int32)]);
                };
                let [before @ .., _, last] = dims else {
                    return self
                        .refused(format!("boxes have two axes at least, got shape {boxes}"));
                };
                if last.is_some_and(|last| last != 4) {
                    return self.refused(format!("boxes end in 4, got shape {boxes}"));
                }
                let places = before.iter().copied().chain([Some(most)]).collect();
                Ok(vec![spec(DType::Int32, places), spec(DType::Int32, before.to_vec())])
            }
            Form::Combined { .. } => {
                shaped(self.form.op(), "boxes", boxes, 4, Some(4))?;
                shaped(self.form.op(), "scores", scores, 3, None)?;
                let (batch, sorts) = boxes.dims().map_or((None, None), |dims| (dims[0], dims[2]));
                let classes = scores.dims().and_then(|dims| dims[2]);
                if let (Some(sorts), Some(classes)) = (sorts, classes)
                    && sorts != 1
                    && sorts != classes
                {
                    return self.refused(format!(
                        "third dimension of boxes must be either 1 or the number of classes \
                         {classes}, got {sorts}"
                    ));
                }
                let most = classes.map(|classes| self.results(classes));
                Ok(vec![
                    spec(DType::Float32, vec![batch, most, Some(4)]),
                    spec(DType::Float32, vec![batch, most]),
                    spec(DType::Float32, vec![batch, most]),
                    spec(DType::Int32, vec![batch]),
                ])
            }
        }
    }
}

fn zeros<T: Clone + Default>(count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values
        .try_reserve_exact(count)
        .map_err(|_| Error::resource_exhausted("no memory for so many boxes"))?;
    values.resize(count, T::default());
    Ok(values)
}

impl Kernel for Suppress {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        let known = specs.iter().map(|spec| dense(spec).map(|(dtype, s)| (dtype, s.clone())));
        let known = known.collect::<Result<Vec<_>>>()?;
        if known.iter().any(|(dtype, _)| dtype.is_text()) {
            return self.refused("boxes and scores are numbers");
        }
        self.rule(&known)
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        let mut results: Vec<Vec<Tensor>> = Vec::new();
        for row in 0..rows {
            let own = args.iter().map(|arg| row_of(arg, row)).collect::<Result<Vec<_>>>()?;
            let known: Vec<_> =
                own.iter().map(|arg| (arg.dtype(), PartialShape::from(arg.dims()))).collect();
            self.rule(&known)?;
            for (at, tensor) in self.row(&own)?.into_iter().enumerate() {
                if results.len() <= at {
                    results.push(Vec::new());
                }
                results[at].push(tensor);
            }
        }
        if rows == 0 {
            let known = args.iter().map(|arg| Ok((arg.dtype(), arg.row_dims()?)));
            let known = known.collect::<Result<Vec<_>>>()?;
            let known: Vec<_> = known
                .into_iter()
                .map(|(dtype, dims)| (dtype.unwrap_or(DType::Float32), PartialShape::from(dims)))
                .collect();
            return self.rule(&known)?.iter().map(empty).collect();
        }
        results.iter().map(|tensors| Rows::from_tensors(tensors)?.into_column()).collect()
    }

    fn accepts(&self, column: &Column) -> bool {
        matches!(column, Column::Stacked(_) | Column::Rows(_))
    }
}

/// A column of no rows.
fn empty(spec: &Spec) -> Result<Column> {
    let (dtype, shape) = dense(spec)?;
    let dims = shape.dims().unwrap_or_default().iter().map(|dim| dim.unwrap_or(0));
    Ok(Column::Stacked(Tensor::zeros(dtype, std::iter::once(0).chain(dims).collect())?))
}
