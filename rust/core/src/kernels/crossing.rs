//! `sparse_cross`: each value of a row of one feature with each of the others, joined as strings or
//! hashed (`tf.sparse.cross`, `tf.sparse.cross_hashed`).
//!
//! Features are sparse (three parts each, first) or dense matrices, of strings or integers. How many
//! crosses a row has is the product of its counts, which is checked before room is made.

use std::sync::Arc;

use crate::data::{BytesBuilder, Column, DType, Spec, Tensor, Wanted};
use crate::error::{Error, Result};
use crate::graph::attr::Attrs;
use crate::graph::kernel::{Arg, Kernel};
use crate::kernels::cast::{cast_tensor, dense};
use crate::kernels::places::{bounded, by_row, room};
use crate::kernels::strings::join::{Joined, separator};
use crate::random::fingerprint::{fingerprint_cat64, fingerprint64};

#[derive(Debug)]
enum Rule {
    Join(Vec<u8>),
    Hash { key: u64, buckets: u64 },
}

#[derive(Debug)]
struct Cross {
    /// How many features come as three parts.
    sparse: usize,
    rule: Rule,
}

pub(super) fn build(op: &str, attrs: &Attrs) -> Result<Option<Arc<dyn Kernel>>> {
    if op != "sparse_cross" {
        return Ok(None);
    }
    attrs.only(&["sparse", "separator", "hash_key", "num_buckets"])?;
    let sparse = usize::try_from(attrs.int("sparse")?)
        .map_err(|_| Error::invalid_argument("sparse is a number of features"))?;
    let rule = match attrs.opt_int("hash_key")? {
        None => Rule::Join(separator(attrs, "separator")?),
        Some(key) => {
            let buckets = attrs.int("num_buckets")?;
            let buckets = u64::try_from(buckets).map_err(|_| {
                let text = format!("num_buckets must be at least 0, got {buckets}");
                Error::invalid_argument(text)
            })?;
            Rule::Hash { key: key as u64, buckets }
        }
    };
    Ok(Some(Arc::new(Cross { sparse, rule })))
}

/// The values of one feature, and the places of those of each row.
struct Feature<'a> {
    values: &'a Tensor,
    rows: Vec<Vec<usize>>,
}

impl<'a> Feature<'a> {
    fn dense(values: &'a Tensor) -> Result<Self> {
        let [rows, width] = values.dims() else {
            let text = format!("tensors [rows, values] are crossed, got shape {:?}", values.dims());
            return Err(Error::invalid_argument(text));
        };
        let rows = (0..*rows).map(|row| (row * width..(row + 1) * width).collect()).collect();
        Ok(Feature { values, rows })
    }

    fn sparse(indices: &Tensor, values: &'a Tensor, shape: &Tensor) -> Result<Self> {
        let (sizes, at) = (shape.values::<i64>()?, indices.values::<i64>()?);
        let [count, _] = sizes else {
            let text =
                format!("sparse tensors [rows, values] are crossed, got {} axes", sizes.len());
            return Err(Error::invalid_argument(text));
        };
        if indices.dims() != [values.len(), 2] {
            let text = format!(
                "a sparse matrix of {} values has indices of shape {:?}",
                values.len(),
                indices.dims()
            );
            return Err(Error::invalid_argument(text));
        }
        let count = usize::try_from(*count).unwrap_or(usize::MAX);
        let count = bounded(&[count], Some(size_of::<Vec<usize>>()))?;
        let mut rows: Vec<Vec<usize>> = room(count)?;
        rows.resize(count, Vec::new());
        for (place, index) in at.as_chunks::<2>().0.iter().enumerate() {
            let row = usize::try_from(index[0]).ok().and_then(|row| rows.get_mut(row));
            let row = row.ok_or_else(|| {
                Error::invalid_argument(format!(
                    "indices[{place}] = {index:?} is outside of a sparse tensor of {sizes:?}"
                ))
            })?;
            row.push(place);
        }
        Ok(Feature { values, rows })
    }
}

/// Where the crosses of all rows go.
trait Sink {
    /// Adds a cross of the values at these places, one of each feature.
    fn add(&mut self, features: &[Feature<'_>], places: &[usize]) -> Result<()>;
}

struct Strings<'a> {
    joined: Joined<'a>,
    /// Each feature's values as strings.
    texts: Vec<Tensor>,
    out: BytesBuilder,
    bytes: usize,
}

impl Sink for Strings<'_> {
    fn add(&mut self, _: &[Feature<'_>], places: &[usize]) -> Result<()> {
        for (texts, place) in self.texts.iter().zip(places) {
            let text = texts.strings()?.get(*place);
            self.bytes = self.bytes.saturating_add(text.len());
            self.joined.push(text)?;
        }
        bounded(&[self.bytes], Some(1))?;
        self.joined.finish(&mut self.out);
        Ok(())
    }
}

struct Hashes {
    key: u64,
    buckets: u64,
    /// Each feature's values as hashes.
    hashes: Vec<Vec<u64>>,
    out: Vec<i64>,
}

impl Sink for Hashes {
    fn add(&mut self, _: &[Feature<'_>], places: &[usize]) -> Result<()> {
        let values = self.hashes.iter().zip(places).map(|(hashes, place)| hashes[*place]);
        let hash = values.fold(self.key, fingerprint_cat64);
        // Of no buckets, as many as there are positive numbers.
        let buckets = if self.buckets == 0 { i64::MAX as u64 } else { self.buckets };
        self.out.push((hash % buckets) as i64);
        Ok(())
    }
}

/// Values as strings: integers in decimal.
fn texts(values: &Tensor) -> Result<Tensor> {
    if values.dtype().is_text() {
        return Ok(values.clone());
    }
    let whole = cast_tensor(values, DType::Int64)?;
    let mut out = BytesBuilder::default();
    whole.values::<i64>()?.iter().for_each(|value| out.push(value.to_string().as_bytes()));
    Tensor::text(DType::Bytes, values.dims().into(), out.finish()?)
}

/// Values as hashes: integers are their own.
fn hashes(values: &Tensor) -> Result<Vec<u64>> {
    if values.dtype().is_text() {
        return Ok(values.strings()?.iter().map(fingerprint64).collect());
    }
    let whole = cast_tensor(values, DType::Int64)?;
    Ok(whole.values::<i64>()?.iter().map(|value| *value as u64).collect())
}

impl Cross {
    fn one(&self, args: &[Tensor]) -> Result<[Tensor; 3]> {
        let (sparse, dense) = args.split_at((3 * self.sparse).min(args.len()));
        let mut features = Vec::new();
        for parts in sparse.as_chunks::<3>().0 {
            features.push(Feature::sparse(&parts[0], &parts[1], &parts[2])?);
        }
        for values in dense {
            features.push(Feature::dense(values)?);
        }
        let rows = features.first().map_or(0, |feature| feature.rows.len());
        if let Some(other) = features.iter().find(|feature| feature.rows.len() != rows) {
            return Err(Error::invalid_argument(format!(
                "features of one number of rows are crossed, got {rows} and {}",
                other.rows.len()
            )));
        }
        let values = || features.iter().map(|feature| feature.values);
        let (indices, widest, values) = match &self.rule {
            Rule::Join(between) => {
                let texts = values().map(texts).collect::<Result<_>>()?;
                let joined = Joined::new(between);
                let mut sink = Strings { joined, texts, out: BytesBuilder::default(), bytes: 0 };
                let (indices, widest) = crossed(&features, rows, &mut sink)?;
                let dims = [sink.out.len()][..].into();
                (indices, widest, Tensor::text(DType::Bytes, dims, sink.out.finish()?)?)
            }
            Rule::Hash { key, buckets } => {
                let hashes = values().map(hashes).collect::<Result<_>>()?;
                let mut sink = Hashes { key: *key, buckets: *buckets, hashes, out: Vec::new() };
                let (indices, widest) = crossed(&features, rows, &mut sink)?;
                (indices, widest, Tensor::from_values(&[sink.out.len()], &sink.out)?)
            }
        };
        Ok([
            Tensor::from_values(&[indices.len() / 2, 2], &indices)?,
            values,
            Tensor::from_values(&[2], &[rows as i64, widest])?,
        ])
    }
}

/// Crosses all rows, the last feature's values first; gives the indices and the longest row.
fn crossed(features: &[Feature<'_>], rows: usize, sink: &mut dyn Sink) -> Result<(Vec<i64>, i64)> {
    let (mut indices, mut widest) = (Vec::new(), 0);
    let mut counter = vec![0; features.len()];
    let mut places = vec![0; features.len()];
    for row in 0..rows {
        let counts: Vec<usize> = features.iter().map(|feature| feature.rows[row].len()).collect();
        let count = bounded(&counts, None)?;
        bounded(&[indices.len() + 2 * count], Some(size_of::<i64>()))?;
        counter.fill(0);
        for k in 0..count {
            for (at, feature) in features.iter().enumerate() {
                places[at] = feature.rows[row][counter[at]];
            }
            sink.add(features, &places)?;
            indices.extend([row as i64, k as i64]);
            for (at, count) in counts.iter().enumerate().rev() {
                counter[at] += 1;
                if counter[at] < *count {
                    break;
                }
                counter[at] = 0;
            }
        }
        widest = widest.max(count as i64);
    }
    Ok((indices, widest))
}

impl Kernel for Cross {
    fn infer(&self, specs: &[Spec]) -> Result<Vec<Spec>> {
        if specs.len() < 3 * self.sparse {
            return Err(Error::invalid_argument("a sparse feature has three parts"));
        }
        for (at, spec) in specs.iter().enumerate() {
            let (dtype, shape) = dense(spec)?;
            let is_values = at >= 3 * self.sparse || at % 3 == 1;
            if is_values && !dtype.is_text() && !dtype.is_integer() {
                let text = format!("strings and integers are crossed, got {dtype}");
                return Err(Error::invalid_argument(text));
            }
            if at >= 3 * self.sparse && shape.rank().is_some_and(|rank| rank != 2) {
                let text = format!("tensors [rows, values] are crossed, got shape {shape}");
                return Err(Error::invalid_argument(text));
            }
        }
        let dtype = match self.rule {
            Rule::Join(_) => DType::Bytes,
            Rule::Hash { .. } => DType::Int64,
        };
        Ok(vec![
            Spec::tensor(DType::Int64, [None, Some(2)]),
            Spec::tensor(dtype, [None]),
            Spec::tensor(DType::Int64, [Some(2)]),
        ])
    }

    fn run(&self, args: &[Arg], rows: usize, _: &[Wanted]) -> Result<Vec<Column>> {
        by_row(args, rows, |row| self.one(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_feature_runs_first() {
        let a = Tensor::from_values(&[1, 2], &[1_i64, 2]).unwrap();
        let b = Tensor::from_values(&[1, 2], &[7_i32, 8]).unwrap();
        let cross = Cross { sparse: 0, rule: Rule::Join(b"_".to_vec()) };
        let [_, values, shape] = cross.one(&[a, b]).unwrap();
        let found: Vec<&[u8]> = values.strings().unwrap().iter().collect();
        assert_eq!(found, [b"1_7", b"1_8", b"2_7", b"2_8"]);
        assert_eq!(shape.values::<i64>().unwrap(), [1, 4]);
    }

    #[test]
    fn too_many_crosses_are_refused_before_there_is_room() {
        let wide = Tensor::zeros(DType::Int64, [1, 100_000][..].into()).unwrap();
        let cross = Cross { sparse: 0, rule: Rule::Hash { key: 1, buckets: 0 } };
        assert!(cross.one(&[wide.clone(), wide.clone(), wide]).is_err());
        let parts = [
            Tensor::from_values::<i64>(&[0, 2], &[]).unwrap(),
            Tensor::from_values::<i64>(&[0], &[]).unwrap(),
            Tensor::from_values(&[2], &[1_i64 << 50, 1]).unwrap(),
        ];
        assert!(Cross { sparse: 1, ..cross }.one(&parts).is_err());
    }
}
