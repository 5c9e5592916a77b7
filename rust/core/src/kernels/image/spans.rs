//! Which values of one axis each value of a resized axis is made of, and with what weights.
//!
//! The rules are those of TensorFlow's resizing operations, in float32 as there.

use std::f32::consts::PI;

use super::grid::Grid;
use super::resize::Method;

/// The weights of each result of an axis: results are sums over neighbouring values.
pub(super) struct Spans {
    starts: Vec<usize>,
    ends: Vec<usize>,
    weights: Vec<f32>,
}

impl Spans {
    fn new(results: usize) -> Self {
        let (starts, ends) = (Vec::with_capacity(results), Vec::with_capacity(results));
        Spans { starts, ends, weights: Vec::new() }
    }

    fn push(&mut self, start: usize, weights: impl IntoIterator<Item = f32>) {
        self.starts.push(start);
        self.weights.extend(weights);
        self.ends.push(self.weights.len());
    }

    /// The first value and the weights of it and those behind it, for each result.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &[f32])> {
        let mut from = 0;
        self.starts.iter().zip(&self.ends).map(move |(start, end)| {
            let weights = &self.weights[from..*end];
            from = *end;
            (*start, weights)
        })
    }

    /// The spans of a method other than nearest and plain bilinear. Both sizes are at least 1.
    pub(super) fn of(
        method: Method,
        antialias: bool,
        grid: Grid,
        size: usize,
        results: usize,
    ) -> Self {
        match method {
            Method::Area => area(grid, size, results),
            Method::Bicubic if !antialias => cubic(grid, size, results),
            _ => filtered(method, antialias, size, results),
        }
    }
}

/// The filter of a method: its radius and its weight at a distance.
fn filter(method: Method) -> (f32, fn(f32) -> f32) {
    match method {
        Method::Lanczos3 => (3.0, |x| lanczos(x, 3.0)),
        Method::Lanczos5 => (5.0, |x| lanczos(x, 5.0)),
        Method::Gaussian => (1.5, |x| if x >= 1.5 { 0.0 } else { (-x * x / 0.5).exp() }),
        Method::Bicubic => (2.0, keys),
        Method::MitchellCubic => (2.0, mitchell),
        Method::Bilinear | Method::Nearest | Method::Area => (1.0, |x| (1.0 - x).max(0.0)),
    }
}

fn lanczos(x: f32, radius: f32) -> f32 {
    if x > radius {
        return 0.0;
    }
    if x <= 1e-3 {
        return 1.0;
    }
    radius * (PI * x).sin() * (PI * x / radius).sin() / (PI * PI * x * x)
}

fn keys(x: f32) -> f32 {
    match x {
        _ if x >= 2.0 => 0.0,
        _ if x >= 1.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
        _ => ((1.5 * x - 2.5) * x) * x + 1.0,
    }
}

fn mitchell(x: f32) -> f32 {
    match x {
        _ if x >= 2.0 => 0.0,
        _ if x >= 1.0 => (((-7.0 / 18.0) * x + 2.0) * x - 10.0 / 3.0) * x + 16.0 / 9.0,
        _ => (((7.0 / 6.0) * x - 2.0) * x) * x + 8.0 / 9.0,
    }
}

/// Weights that add up to 1, unless they are next to nothing.
fn normalised(weights: &mut [f32]) {
    let sum: f32 = weights.iter().sum();
    if sum.abs() >= 1000.0 * f32::MIN_POSITIVE {
        let inverse = 1.0 / sum;
        weights.iter_mut().for_each(|weight| *weight *= inverse);
    }
}

/// A filter that is widened with the scale where `antialias` says so.
fn filtered(method: Method, antialias: bool, size: usize, results: usize) -> Spans {
    let (radius, weight_at) = filter(method);
    let inverse = 1.0 / (results as f32 / size as f32);
    let widened = if antialias { inverse.max(1.0) } else { 1.0 };
    let reach = radius * widened;
    let mut spans = Spans::new(results);
    let mut weights = Vec::new();
    for result in 0..results {
        let at = (result as f32 + 0.5) * inverse;
        if at < 0.0 || at > size as f32 {
            spans.push(0, []);
            continue;
        }
        let last = (size - 1) as f32;
        let start = (at - reach - 0.5).ceil().clamp(0.0, last) as usize;
        let end = (at + reach - 0.5).floor().clamp(0.0, last) as usize;
        weights.clear();
        weights.extend((start..=end).map(|source| {
            let distance = source as f32 + 0.5 - at;
            weight_at((distance * (1.0 / widened)).abs())
        }));
        normalised(&mut weights);
        spans.push(start, weights.iter().copied());
    }
    spans
}

/// The share of each value in the stretch that a result covers.
fn area(grid: Grid, size: usize, results: usize) -> Spans {
    // Aligned to a single value, results would cover nothing.
    let grid = if size == 1 { Grid::Corners } else { grid };
    let scale = grid.scale(size, results);
    let mut spans = Spans::new(results);
    let mut weights: Vec<f32> = Vec::new();
    for result in 0..results {
        let (from, to) = (result as f32 * scale, (result + 1) as f32 * scale);
        let (start, end) = (from.floor() as usize, to.ceil() as usize);
        weights.clear();
        for source in start..end {
            let (low, high) = (source as f32, (source + 1) as f32);
            let share = match (low < from, high > to) {
                (true, true) => scale,
                (true, false) => high - from,
                (false, true) => to - low,
                (false, false) => 1.0,
            } / scale;
            // Rounding may reach past the last value.
            match weights.last_mut() {
                Some(last) if source >= size => *last += share,
                _ => weights.push(share),
            }
        }
        spans.push(start.min(size - 1), weights.iter().copied());
    }
    spans
}

/// Entries of the table of weights of the plain bicubic method.
const TABLE: f32 = 1024.0;

/// Four values around each place; the weights are those of the nearest entry of a table.
///
/// At half pixels those outside do not count; on the older grids the last one inside counts for
/// them, and the curve is another.
fn cubic(grid: Grid, size: usize, results: usize) -> Spans {
    let scale = grid.scale(size, results);
    let half = grid == Grid::HalfPixels;
    let bend: f32 = if half { -0.5 } else { -0.75 };
    let near = |offset: f32| {
        let x = offset / TABLE;
        ((bend + 2.0) * x - (bend + 3.0)) * x * x + 1.0
    };
    let far = |offset: f32| {
        let x = offset / TABLE + 1.0;
        ((bend * x - 5.0 * bend) * x + 8.0 * bend) * x - 4.0 * bend
    };
    let last = size as i64 - 1;
    let mut spans = Spans::new(results);
    for result in 0..results {
        let at = grid.at(result, scale);
        let floor = at.floor();
        let offset = ((at - floor) * TABLE).round_ties_even();
        let all = [far(offset), near(offset), near(TABLE - offset), far(TABLE - offset)];
        let first = floor as i64 - 1;
        let start = first.clamp(0, last);
        let mut weights: Vec<f32> = Vec::with_capacity(4);
        for (value, weight) in (first..).zip(all) {
            let inside = (0..=last).contains(&value);
            let place = (value.clamp(0, last) - start) as usize;
            match weights.get_mut(place) {
                Some(sum) if !half => *sum += weight,
                None if inside || !half => weights.push(weight),
                _ => {}
            }
        }
        if half {
            normalised(&mut weights);
        }
        spans.push(start as usize, weights);
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_add_up_to_one_and_stay_inside() {
        let methods = [
            Method::Bilinear,
            Method::Bicubic,
            Method::Area,
            Method::Lanczos3,
            Method::Lanczos5,
            Method::Gaussian,
            Method::MitchellCubic,
        ];
        for method in methods {
            for (size, results) in [(1, 1), (1, 7), (7, 1), (5, 3), (3, 5), (29, 58), (37, 4)] {
                for (antialias, grid) in [
                    (false, Grid::HalfPixels),
                    (true, Grid::HalfPixels),
                    (false, Grid::Corners),
                    (false, Grid::Aligned),
                ] {
                    let spans = Spans::of(method, antialias, grid, size, results);
                    let mut count = 0;
                    for (start, weights) in spans.iter() {
                        assert!(start + weights.len() <= size, "{method:?} {size} {results}");
                        let sum: f32 = weights.iter().sum();
                        assert!((sum - 1.0).abs() < 1e-5, "{method:?} {size} {results} {sum}");
                        count += 1;
                    }
                    assert_eq!(count, results);
                }
            }
        }
    }
}
