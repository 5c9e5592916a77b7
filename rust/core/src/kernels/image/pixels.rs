//! Arithmetic of colours, a pixel at a time, and of the values of whole images.

/// From one colour space to another.
#[derive(Clone, Copy)]
pub(super) enum Change {
    RgbToHsv,
    HsvToRgb,
    Matrix([[f64; 3]; 3]),
}

macro_rules! changes {
    ($change:ident, $type:ty) => {
        /// The function of a change in this precision.
        pub(super) fn $change(change: Change) -> Box<dyn Fn([$type; 3]) -> [$type; 3]> {
            fn rgb_to_hsv([r, g, b]: [$type; 3]) -> [$type; 3] {
                let value = r.max(g).max(b);
                let range = value - r.min(g).min(b);
                let saturation = if value > 0.0 { range / value } else { 0.0 };
                if range.is_nan() || range <= 0.0 {
                    return [0.0, saturation, value];
                }
                let norm = (1.0 / range) * (1.0 / 6.0);
                let hue = match value {
                    _ if r == value => norm * (g - b),
                    _ if g == value => norm * (b - r) + 2.0 / 6.0,
                    _ => norm * (r - g) + 4.0 / 6.0,
                };
                [if hue < 0.0 { hue + 1.0 } else { hue }, saturation, value]
            }

            fn hsv_to_rgb([hue, saturation, value]: [$type; 3]) -> [$type; 3] {
                let sixths = hue * 6.0;
                let r = (sixths - 3.0).abs() - 1.0;
                let g = 2.0 - (sixths - 2.0).abs();
                let b = 2.0 - (sixths - 4.0).abs();
                let grey = 1.0 - saturation;
                [r, g, b].map(|part: $type| (grey + saturation * part.clamp(0.0, 1.0)) * value)
            }

            match change {
                Change::RgbToHsv => Box::new(rgb_to_hsv),
                Change::HsvToRgb => Box::new(hsv_to_rgb),
                Change::Matrix(matrix) => {
                    let matrix = matrix.map(|row| row.map(|weight| weight as $type));
                    Box::new(move |pixel| {
                        std::array::from_fn(|k| {
                            pixel[0] * matrix[0][k]
                                + pixel[1] * matrix[1][k]
                                + pixel[2] * matrix[2][k]
                        })
                    })
                }
            }
        }
    };
}

changes!(change_f32, f32);
changes!(change_f64, f64);

/// A colour with its hue moved by `delta` turns. Its smallest and largest part stay.
pub(super) fn hue([r, g, b]: [f32; 3], delta: f32) -> [f32; 3] {
    // Which part is largest and which smallest makes a sixth of the circle; the middle one says
    // where in it the hue lies, upwards in the even ones.
    let (sixth, least, middle, most) = if r < g {
        match b {
            _ if b < r => (1.0, b, r, g),
            _ if b > g => (3.0, r, g, b),
            _ => (2.0, r, b, g),
        }
    } else {
        match b {
            _ if b < g => (0.0, b, g, r),
            _ if b > r => (4.0, g, r, b),
            _ => (5.0, g, b, r),
        }
    };
    let at = if most == least {
        0.0
    } else {
        let ratio = (middle - least) / (most - least);
        sixth + if sixth % 2.0 == 0.0 { ratio } else { 1.0 - ratio }
    };
    let mut at = at + delta * 6.0;
    while at < 0.0 {
        at += 6.0;
    }
    while at >= 6.0 {
        at -= 6.0;
    }
    let sixth = at as u32;
    let ratio = at - sixth as f32;
    let ratio = if sixth.is_multiple_of(2) { ratio } else { 1.0 - ratio };
    let middle = least + ratio * (most - least);
    match sixth {
        0 => [most, middle, least],
        1 => [middle, most, least],
        2 => [least, most, middle],
        3 => [least, middle, most],
        4 => [middle, least, most],
        _ => [most, least, middle],
    }
}

/// A colour with its saturation scaled, within 0 to 1.
pub(super) fn saturation([r, g, b]: [f32; 3], factor: f32) -> [f32; 3] {
    let value = r.max(g).max(b);
    let range = value - r.min(g).min(b);
    let saturation = if value > 0.0 { range / value } else { 0.0 };
    let norm = 1.0 / (6.0 * range);
    let hue = match value {
        _ if range <= 0.0 => 0.0,
        _ if r == value => norm * (g - b),
        _ if g == value => norm * (b - r) + 2.0 / 6.0,
        _ => norm * (r - g) + 4.0 / 6.0,
    };
    let hue = if hue < 0.0 { hue + 1.0 } else { hue };
    let scaled = (saturation * factor).clamp(0.0, 1.0);
    let chroma = scaled * value;
    let least = value - chroma;
    let sixths = hue * 6.0;
    let middle = chroma * (1.0 - ((sixths % 2.0) - 1.0).abs());
    let (r, g, b) = match sixths as u32 {
        0 => (chroma, middle, 0.0),
        1 => (middle, chroma, 0.0),
        2 => (0.0, chroma, middle),
        3 => (0.0, middle, chroma),
        4 => (middle, 0.0, chroma),
        5 => (chroma, 0.0, middle),
        _ => (0.0, 0.0, 0.0),
    };
    [r + least, g + least, b + least]
}

/// Moves values away from the mean of their channel, or towards it, for each image of `image`
/// values.
pub(super) fn contrast(values: &mut [f32], image: usize, channels: usize, factor: f32) {
    if image == 0 || channels == 0 {
        return;
    }
    let mut sums = vec![0.0_f64; channels];
    for image in values.chunks_exact_mut(image) {
        sums.fill(0.0);
        for pixel in image.chunks_exact(channels) {
            sums.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        let count = (image.len() / channels) as f64;
        let shift: Vec<f32> =
            sums.iter().map(|sum| (sum / count) as f32 * (1.0 - factor)).collect();
        for pixel in image.chunks_exact_mut(channels) {
            pixel
                .iter_mut()
                .zip(&shift)
                .for_each(|(value, shift)| *value = *value * factor + shift);
        }
    }
}

/// Values that are summed in float32 before float64 takes over.
const BLOCK: usize = 256;

/// A sum in eight lanes, so that it is done in vectors.
fn sum(values: &[f32], term: impl Fn(f32) -> f32) -> f64 {
    let block = |block: &[f32]| {
        let (lanes, rest) = block.as_chunks::<8>();
        let mut sums = [0.0_f32; 8];
        for lane in lanes {
            sums.iter_mut().zip(lane).for_each(|(sum, value)| *sum += term(*value));
        }
        let rest: f32 = rest.iter().map(|value| term(*value)).sum();
        sums.iter().map(|sum| f64::from(*sum)).sum::<f64>() + f64::from(rest)
    };
    values.chunks(BLOCK).map(block).sum()
}

/// An image of mean 0 and deviation 1, but not so far blown up if it is of one colour.
pub(super) fn standardize(image: &[f32], out: &mut [f32]) {
    let count = image.len() as f64;
    let mean = (sum(image, |value| value) / count) as f32;
    let variance = sum(image, |value| (value - mean) * (value - mean)) / count;
    let deviation = (variance as f32).sqrt().max(1.0 / (count as f32).sqrt());
    for (out, value) in out.iter_mut().zip(image) {
        *out = (value - mean) / deviation;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_of_the_hue_by_thirds_rotates_the_parts() {
        let near = |a: [f32; 3], b: [f32; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        for pixel in [[0.1, 0.5, 0.9], [0.9, 0.2, 0.4], [0.3, 0.3, 0.8], [0.7, 0.7, 0.1]] {
            let [r, g, b] = pixel;
            assert!(near(hue(pixel, 1.0 / 3.0), [b, r, g]), "{pixel:?}");
            assert!(near(hue(pixel, -1.0 / 3.0), [g, b, r]), "{pixel:?}");
            assert!(near(saturation(pixel, 1.0), pixel), "{pixel:?}");
            let back = change_f32(Change::HsvToRgb)(change_f32(Change::RgbToHsv)(pixel));
            assert!(near(back, pixel), "{pixel:?}");
        }
        assert_eq!(hue([0.4; 3], 0.7), [0.4; 3]);
        assert_eq!(saturation([0.2, 0.4, 0.3], 0.0), [0.4; 3]);
    }

    #[test]
    fn an_image_of_one_colour_becomes_zeros() {
        let mut out = [1.0; 12];
        standardize(&[7.0; 12], &mut out);
        assert_eq!(out, [0.0; 12]);
    }
}
