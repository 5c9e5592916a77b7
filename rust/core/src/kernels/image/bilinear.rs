//! Plain bilinear resizing: two values along each axis.
//!
//! Each row of the source that is needed is first resized across, in float32, and kept until the
//! rows of the result have passed it; then two such rows are blended. Both loops run over slices,
//! which compilers turn into vector instructions. The order of operations is TensorFlow's, so
//! results are equal to the bit.

use super::grid::Grid;
use super::resize::Frame;
use crate::kernels::cast::Source;

/// The two values that a result lies between, and how far it is from the lower one.
#[derive(Clone, Copy)]
struct Tap {
    lower: usize,
    upper: usize,
    lerp: f32,
}

/// `step` is the distance of neighbours in memory.
fn taps(grid: Grid, size: usize, results: usize, step: usize) -> Vec<Tap> {
    let scale = grid.scale(size, results);
    let tap = |result: usize| {
        let at = grid.at(result, scale);
        let floor = at.floor();
        let lower = floor.max(0.0) as usize;
        let upper = (at.ceil().max(0.0) as usize).min(size - 1);
        Tap { lower: lower.min(size - 1) * step, upper: upper * step, lerp: at - floor }
    };
    (0..results).map(tap).collect()
}

/// Resizes each image of a batch; all sizes are at least 1.
pub(super) fn resize<S: Source>(grid: Grid, values: &[S], from: Frame, to: Frame, out: &mut [f32]) {
    let channels = from.channels;
    let across = taps(grid, from.width, to.width, channels);
    let down = taps(grid, from.height, to.height, 1);
    let (row_in, row_out) = (from.width * channels, to.width * channels);
    let mut rows = Pair::new(row_out);
    let images = values.chunks_exact(from.height * row_in);
    for (image, out) in images.zip(out.chunks_exact_mut(to.height * row_out)) {
        rows.forget();
        for (tap, out) in down.iter().zip(out.chunks_exact_mut(row_out)) {
            let stretch = |row: usize, out: &mut [f32]| {
                stretch(&image[row * row_in..], &across, channels, out)
            };
            let (top, bottom) = rows.get(tap.lower, tap.upper, stretch);
            for ((out, top), bottom) in out.iter_mut().zip(top).zip(bottom) {
                *out = top + (bottom - top) * tap.lerp;
            }
        }
    }
}

/// Two rows of the source, resized across.
struct Pair {
    rows: [Vec<f32>; 2],
    numbers: [Option<usize>; 2],
}

impl Pair {
    fn new(len: usize) -> Self {
        Pair { rows: [vec![0.0; len], vec![0.0; len]], numbers: [None, None] }
    }

    fn forget(&mut self) {
        self.numbers = [None, None];
    }

    /// Both rows, made where they are not there yet.
    fn get(
        &mut self,
        top: usize,
        bottom: usize,
        make: impl Fn(usize, &mut [f32]),
    ) -> (&[f32], &[f32]) {
        if self.numbers[0] != Some(top) && self.numbers[1] == Some(top) {
            self.rows.swap(0, 1);
            self.numbers.swap(0, 1);
        }
        let wanted = if top == bottom { [Some(top), None] } else { [Some(top), Some(bottom)] };
        for ((row, number), wanted) in self.rows.iter_mut().zip(&mut self.numbers).zip(wanted) {
            if let Some(wanted) = wanted
                && *number != Some(wanted)
            {
                make(wanted, row);
                *number = Some(wanted);
            }
        }
        let [first, second] = &self.rows;
        (first, if top == bottom { first } else { second })
    }
}

/// Resizes one row across. `values` starts with the row and may go on behind it.
fn stretch<S: Source>(values: &[S], taps: &[Tap], channels: usize, out: &mut [f32]) {
    match channels {
        1 => {
            for (out, tap) in out.iter_mut().zip(taps) {
                *out = blend(values[tap.lower], values[tap.upper], tap.lerp);
            }
        }
        3 => stretch_three(values, taps, out),
        _ => {
            for (out, tap) in out.chunks_exact_mut(channels).zip(taps) {
                let lower = &values[tap.lower..][..channels];
                let upper = &values[tap.upper..][..channels];
                for ((out, lower), upper) in out.iter_mut().zip(lower).zip(upper) {
                    *out = blend(*lower, *upper, tap.lerp);
                }
            }
        }
    }
}

fn blend<S: Source>(lower: S, upper: S, lerp: f32) -> f32 {
    let lower = lower.to_f32();
    lower + (upper.to_f32() - lower) * lerp
}

/// Four values are one vector: the fourth is written over by the next pixel.
fn stretch_three<S: Source>(values: &[S], taps: &[Tap], out: &mut [f32]) {
    for (i, tap) in taps.iter().enumerate() {
        let four = (values.get(tap.lower..tap.lower + 4), values.get(tap.upper..tap.upper + 4));
        if let ((Some(lower), Some(upper)), Some(out)) = (four, out.get_mut(i * 3..i * 3 + 4)) {
            let made: [f32; 4] = std::array::from_fn(|k| blend(lower[k], upper[k], tap.lerp));
            out.copy_from_slice(&made);
        } else {
            for k in 0..3 {
                out[i * 3 + k] = blend(values[tap.lower + k], values[tap.upper + k], tap.lerp);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(height: usize, width: usize, channels: usize) -> Frame {
        Frame { batch: 1, height, width, channels }
    }

    #[test]
    fn halves_and_doubles_by_hand() {
        let mut out = [0.0; 2];
        resize(Grid::HalfPixels, &[0_u8, 2, 4, 8], frame(1, 4, 1), frame(1, 2, 1), &mut out);
        assert_eq!(out, [1.0, 6.0]);
        let mut out = [0.0; 4];
        resize(Grid::HalfPixels, &[0_u8, 4], frame(2, 1, 1), frame(4, 1, 1), &mut out);
        assert_eq!(out, [0.0, 1.0, 3.0, 4.0]);
    }

    #[test]
    fn three_channels_are_as_one_each() {
        let values: Vec<u8> = (0..7 * 5 * 3).map(|i| (i * 37 % 251) as u8).collect();
        let mut all = vec![0.0; 4 * 9 * 3];
        resize(Grid::HalfPixels, &values, frame(7, 5, 3), frame(4, 9, 3), &mut all);
        for channel in 0..3 {
            let one: Vec<u8> = values.iter().skip(channel).step_by(3).copied().collect();
            let mut out = vec![0.0; 4 * 9];
            resize(Grid::HalfPixels, &one, frame(7, 5, 1), frame(4, 9, 1), &mut out);
            let picked: Vec<f32> = all.iter().skip(channel).step_by(3).copied().collect();
            assert_eq!(picked, out);
        }
    }
}
