//! Where the values of a resized axis lie over the values of the source.
//!
//! The rules are those of TensorFlow's resizing operations, in float32 as there: the one of today,
//! and the two that its first version had.

use crate::error::{Error, Result};
use crate::graph::attr::Attrs;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grid {
    /// Values lie in the middles of their pixels.
    HalfPixels,
    /// Values lie at the first corners of their pixels.
    Corners,
    /// As at corners, stretched so that the last values of both lie at one place.
    Aligned,
}

impl Grid {
    pub(super) fn of(attrs: &Attrs) -> Result<Self> {
        match attrs.opt_str("grid")?.unwrap_or("half_pixels") {
            "half_pixels" => Ok(Grid::HalfPixels),
            "corners" => Ok(Grid::Corners),
            "aligned" => Ok(Grid::Aligned),
            other => Err(Error::invalid_argument(format!("resize: there is no grid {other:?}"))),
        }
    }

    /// The distance of two results, in values of the source.
    pub(super) fn scale(self, size: usize, results: usize) -> f32 {
        match self {
            Grid::Aligned if results > 1 => (size - 1) as f32 / (results - 1) as f32,
            _ => size as f32 / results as f32,
        }
    }

    /// The place of a result, in values of the source.
    pub(super) fn at(self, result: usize, scale: f32) -> f32 {
        match self {
            Grid::HalfPixels => (result as f32 + 0.5) * scale - 0.5,
            Grid::Corners | Grid::Aligned => result as f32 * scale,
        }
    }

    /// The value of the source that is nearest to a result.
    pub(super) fn nearest(self, result: usize, scale: f32, size: usize) -> usize {
        let at = match self {
            Grid::HalfPixels => ((result as f32 + 0.5) * scale).floor(),
            Grid::Corners => (result as f32 * scale).floor(),
            Grid::Aligned => (result as f32 * scale).round(),
        };
        (at as usize).min(size - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_differ_in_where_results_lie() {
        let places = |grid: Grid| -> Vec<f32> {
            let scale = grid.scale(4, 2);
            (0..2).map(|result| grid.at(result, scale)).collect()
        };
        assert_eq!(places(Grid::HalfPixels), [0.5, 2.5]);
        assert_eq!(places(Grid::Corners), [0.0, 2.0]);
        assert_eq!(places(Grid::Aligned), [0.0, 3.0]);
    }

    #[test]
    fn the_nearest_value_is_one_of_the_source() {
        for grid in [Grid::HalfPixels, Grid::Corners, Grid::Aligned] {
            for (size, results) in [(1, 1), (1, 5), (5, 1), (3, 7), (7, 3)] {
                let scale = grid.scale(size, results);
                assert!((0..results).all(|result| grid.nearest(result, scale, size) < size));
            }
        }
    }
}
