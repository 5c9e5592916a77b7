"""Writes image_functions.json and .npz: image functions under TensorFlow, with their errors.

Run with tensorflow-cpu 2.21 in the folder of the vectors. A case has the function, its arguments
(arrays are named, they are in the .npz), and the names of its results or the class of its error.
"""

import json

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(7)
arrays, cases = {}, []


def put(value):
    """Return what stands for a value in the JSON."""
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    return value


def case(name, *args, **kwargs):
    entry = {"op": name, "args": [put(a) for a in args], "kwargs": kwargs}
    try:
        tensors = [tf.constant(a) if isinstance(a, np.ndarray) else a for a in args]
        found = getattr(tf.image, name)(*tensors, **kwargs)
    except tf.errors.UnimplementedError:
        return  # TensorFlow has no kernel for this dtype
    except Exception as error:
        entry["error"] = type(error).__name__
    else:
        found = found if isinstance(found, tuple) else (found,)
        entry["results"] = [put(np.asarray(x))["array"] for x in found]
    cases.append(entry)


def image(*shape, dtype="uint8"):
    value = rng.random(shape)
    return (value if dtype.startswith("float") else value * 250).astype(dtype)


METHODS = [
    "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic",
]  # fmt: skip
for method in METHODS:
    for dtype in ("uint8", "int16", "int32", "float16", "float64"):
        case("resize", image(5, 6, 3, dtype=dtype), [3, 8], method=method)
    case("resize", image(1, 1, 2), [3, 3], method=method)
    case("resize", image(6, 7, 1), [6, 7], method=method)
    case("resize", image(2, 9, 5, 4), [3, 2], method=method, antialias=True)
    for size in ([3, 9], [9, 3], [20, 20]):
        case("resize", image(5, 6, 1), size, method=method, preserve_aspect_ratio=True)
        case("resize_with_pad", image(7, 4, 2), *size, method=method)
case("resize", image(5, 6), [3, 3])
case("resize", image(5, 6, 3), [3])
case("resize", image(5, 6, 3), [0, 3])
case("resize", image(5, 6, 3), [3, 3], method="cubic")
case("resize", image(50, 1, 3), [3, 3], preserve_aspect_ratio=True)
case("resize_with_pad", image(50, 1, 3), 3, 3)
case("resize_with_pad", image(5, 5, 3), 0, 3)

for height, width in ((3, 3), (9, 9), (3, 9), (6, 5), (0, 3), (3, -1)):
    case("resize_with_crop_or_pad", image(6, 5, 3), height, width)
for place in ((0, 0, 6, 5), (1, 2, 3, 3), (1, 0, 6, 5), (0, 1, 6, 5), (-1, 0, 2, 2), (0, 0, 0, 2)):
    case("crop_to_bounding_box", image(2, 6, 5, 3), *place)
for place in ((0, 0, 6, 5), (1, 2, 9, 9), (1, 0, 6, 5), (0, 1, 6, 5), (-1, 0, 9, 9), (0, 0, 0, 9)):
    case("pad_to_bounding_box", image(6, 5, 3), *place)
for fraction in (0.01, 0.2, 0.5, 0.75, 0.99, 1.0, 0.0, 1.5):
    case("central_crop", image(7, 10, 2), fraction)
for k in range(-2, 6):
    case("rot90", image(3, 4, 2), k)
for name in ("flip_left_right", "flip_up_down", "transpose", "rot90"):
    for shape in ((3, 4, 2), (2, 3, 4, 1), (3, 4), (1, 2, 3, 4, 5), (0, 4, 3)):
        case(name, image(*shape))

for dtype in ("uint8", "uint16", "int32", "float16", "float32", "float64"):
    for delta in (-0.7, 0.0, 0.1, 1.0):
        case("adjust_brightness", image(4, 5, 3, dtype=dtype), delta)
for dtype in ("uint8", "uint16", "float32", "float64"):
    for factor in (0.0, 0.5, 1.0, 3.0):
        case("adjust_contrast", image(2, 4, 5, 3, dtype=dtype), factor)
        case("adjust_saturation", image(4, 5, 3, dtype=dtype), factor)
        case("adjust_gamma", image(4, 5, 3, dtype=dtype), factor, 0.7)
        case("adjust_hue", image(2, 4, 5, 3, dtype=dtype), factor / 3)
        case("adjust_hue", image(4, 5, 3, dtype=dtype), -factor / 3)
    case("rgb_to_grayscale", image(4, 5, 3, dtype=dtype))
    case("grayscale_to_rgb", image(4, 5, 1, dtype=dtype))
    case("per_image_standardization", image(2, 4, 5, 3, dtype=dtype))
case("per_image_standardization", np.full((4, 5, 3), 9, np.uint8))
case("per_image_standardization", image(4, 5))
case("adjust_contrast", image(4, 5), 2.0)
case("adjust_gamma", image(4, 5, 3), -1.0)
case("adjust_hue", image(4, 5, 3), 1.1)
case("adjust_hue", image(4, 5, 2), 0.1)
case("adjust_saturation", image(4, 5, 4), 0.1)
case("grayscale_to_rgb", image(4, 5, 3))
case("grayscale_to_rgb", image(4))
for name in ("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb"):
    for dtype in ("float32", "float64"):
        case(name, image(2, 4, 3, dtype=dtype))
        case(name, image(3, dtype=dtype))
case("rgb_to_hsv", np.float32([[0, 0, 0], [1, 1, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1], [0.5, 0, 1]]))
case("convert_image_dtype", image(3), "bool")
case("convert_image_dtype", np.array([True]), "uint8")

for seed in range(4):
    both = [seed, 7 - seed]
    for dtype in ("uint8", "float32"):
        case("stateless_random_brightness", image(3, 4, 3, dtype=dtype), 0.3, seed=both)
        case("stateless_random_contrast", image(3, 4, 3, dtype=dtype), 0.2, 2.0, seed=both)
        case("stateless_random_saturation", image(3, 4, 3, dtype=dtype), 0.2, 2.0, seed=both)
        case("stateless_random_hue", image(3, 4, 3, dtype=dtype), 0.5, seed=both)
    for name in ("stateless_random_flip_left_right", "stateless_random_flip_up_down"):
        case(name, image(2, 3, 1), seed=both)
        case(name, image(5, 2, 2, 1), seed=both)
    case("stateless_random_crop", image(4, 5, 3), [2, 3, 3], seed=both)
    case("stateless_random_crop", image(2, 4, 5, 3), [1, 4, 1, 2], seed=both)
case("stateless_random_brightness", image(3, 4, 3), -0.1, seed=[1, 2])
case("stateless_random_contrast", image(3, 4, 3), 2.0, 1.0, seed=[1, 2])
case("stateless_random_contrast", image(3, 4, 3), -1.0, 1.0, seed=[1, 2])
case("stateless_random_hue", image(3, 4, 3), 0.6, seed=[1, 2])
case("stateless_random_crop", image(3, 4, 3), [4, 4, 3], seed=[1, 2])

for method in ("bilinear", "nearest"):
    for dtype in ("uint8", "float32", "float64"):
        boxes = rng.random((4, 4)).astype(np.float32) * 1.4 - 0.2
        owners = np.int32([0, 1, 1, 0])
        for size in ([3, 4], [1, 1]):
            case("crop_and_resize", image(2, 5, 6, 2, dtype=dtype), boxes, owners, size, method)
case("crop_and_resize", image(2, 5, 6, 2), boxes, owners, [3, 3], extrapolation_value=-1.0)
case("crop_and_resize", image(2, 5, 6, 2), boxes[:3], owners, [3, 3])
case("crop_and_resize", image(2, 5, 6, 2), boxes, owners, [0, 3])
case("crop_and_resize", image(2, 5, 6, 2), boxes, owners, [3])
for channels in (1, 3, 4):
    boxes = rng.random((2, 3, 4)).astype(np.float32) * 1.4 - 0.2
    boxes[..., 2:] += boxes[..., :2]
    case("draw_bounding_boxes", image(2, 6, 7, channels, dtype="float32"), boxes, None)
    colours = rng.random((2, channels)).astype(np.float32)
    case("draw_bounding_boxes", image(2, 6, 7, channels, dtype="float32"), boxes, colours)
for padding in ("SAME", "VALID"):
    for sizes, strides, rates in (((2, 3), (1, 1), (1, 1)), ((3, 1), (2, 3), (2, 1))):
        lists = [[1, *pair, 1] for pair in (sizes, strides, rates)]
        case("extract_patches", image(2, 6, 7, 2), *lists, padding)
for seed in range(6):
    boxes = rng.random((1, seed, 4)).astype(np.float32) * 0.6
    boxes[..., 2:] = boxes[..., :2] + 0.3
    case(
        "stateless_sample_distorted_bounding_box",
        np.int32([40 + seed, 60, 3]),
        boxes,
        seed=[seed, 1],
        min_object_covered=0.1 * seed,
        area_range=[0.1, 0.9],
        use_image_if_no_bounding_boxes=True,
    )
case("stateless_sample_distorted_bounding_box", np.int32([4, 6, 3]), boxes[:, :0], seed=[1, 2])
boxes = rng.random((12, 4)).astype(np.float32)
scores = rng.random(12).astype(np.float32)
for overlap in (0.0, 0.1, 0.5, 1.0, 1.5):
    case("non_max_suppression", boxes, scores, 6, overlap)
    case("non_max_suppression", boxes, scores, 12, overlap, 0.4)
    shared = rng.random((12, 12)).astype(np.float32)
    case("non_max_suppression_overlaps", shared, scores, 5, overlap, 0.2)
for shape in ((12, 13, 3), (2, 12, 13, 3)):
    for dtype in ("uint8", "float32"):
        one, other = image(*shape, dtype=dtype), image(*shape, dtype=dtype)
        most = 255 if dtype == "uint8" else 1.0
        case("psnr", one, other, most)
        case("ssim", one, other, most)
        case("ssim", one, other, most, filter_size=5, filter_sigma=1.0, return_index_map=True)
    case("total_variation", one)
    case("total_variation", image(*shape, dtype="float64"))
for dtype in ("uint8", "float32"):
    one = image(2, 41, 37, 3, dtype=dtype)
    other = (one * 0.8).astype(dtype)
    case("ssim_multiscale", one, other, 255 if dtype == "uint8" else 1.0, filter_size=3)
    case("ssim_multiscale", one, other, 2.0, power_factors=[0.3, 0.7], filter_size=11)
case("ssim_multiscale", one, other, 1.0)
case("psnr", image(4, 5, 3), image(4, 5, 2), 255)
case("psnr", image(4, 5), image(4, 5), 255)
case("ssim", image(4, 5, 3), image(4, 5, 3), 255)
case("total_variation", image(4, 5))
case("image_gradients", image(2, 4, 5, 3, dtype="float32"))
case("image_gradients", image(4, 5, 3, dtype="float32"))
case("sobel_edges", image(2, 4, 5, 3, dtype="float32"))
case("sobel_edges", image(1, 3, 4, 1, dtype="float64"))

np.savez_compressed("image_functions.npz", **arrays)
text = ",\n".join(json.dumps(entry) for entry in cases)
with open("image_functions.json", "w") as file:
    file.write(f'{{"tf": "{tf.__version__}",\n"cases": [\n{text}\n]}}\n')
