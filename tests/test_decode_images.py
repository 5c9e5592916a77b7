"""Image files are decoded to TensorFlow's pixels, and refused where it refuses them."""

import base64
import hashlib

import numpy as np
import pytest
from conftest import GOLDEN, assert_same, golden

import headrace as hr
import headrace.tf as tf
from headrace import image

CASES = golden("images.json")["cases"]
ARRAYS = np.load(GOLDEN / "images.npz")
MORE = golden("decoded_images.json")
SAMPLINGS = golden("jpeg_samplings.json")
FILES = {
    name: base64.b64decode(file) for name, file in (MORE["files"] | SAMPLINGS["files"]).items()
}


def _file(name):
    return (GOLDEN / name).read_bytes()


def _name(case):
    kwargs = ",".join(f"{key}={value}" for key, value in case["kwargs"].items())
    return f"{case['op'].removeprefix('io.')}({case['file'].removeprefix('images/')},{kwargs})"


def _check(case, decode):
    if "error" in case:
        assert case["error"]["class"] == "InvalidArgumentError"
        words = case["error"]["message"].removeprefix("jpeg::Uncompress failed. ").rstrip(".")
        with pytest.raises(hr.errors.InvalidArgumentError) as caught:
            decode()
        assert words in str(caught.value)
    else:
        assert_same(decode(), ARRAYS[case["key"]])


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_decoding_gives_tensorflows_pixels(case):
    function = getattr(image, case["op"].removeprefix("io."))
    _check(case, lambda: function(_file(case["file"]), **case["kwargs"]))


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_a_mapped_decoder_gives_tensorflows_pixels(case):
    function = getattr(image, case["op"].removeprefix("io."))
    dataset = hr.Dataset.from_tensors(_file(case["file"]))

    def run():
        (element,) = dataset.map(lambda file: function(file, **case["kwargs"]), executor="native")
        return element

    _check(case, run)


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_tensorflows_names_give_its_pixels(case):
    function = getattr(tf.io, case["op"].removeprefix("io."))
    kwargs = dict(case["kwargs"])
    if "dtype" in kwargs:
        kwargs["dtype"] = getattr(tf, kwargs["dtype"])
    _check(case, lambda: function(_file(case["file"]), **kwargs).numpy())


@pytest.mark.parametrize(
    "case", MORE["cases"] + SAMPLINGS["cases"], ids=lambda case: f"{case['op']}({case['file']})"
)
def test_more_files_give_tensorflows_pixels(case):
    function, kwargs = getattr(image, case["op"]), case["kwargs"]
    if "error" in case:
        with pytest.raises(hr.errors.InvalidArgumentError):
            function(FILES[case["file"]], **kwargs)
        return
    seen = function(FILES[case["file"]], **kwargs)
    assert (list(seen.shape), seen.dtype.name) == (case["shape"], case["dtype"])
    assert hashlib.sha256(seen.tobytes()).hexdigest() == case["sha256"]


JPEG, PNG, GIF = (FILES[name] for name in ("b420", "pngRGB", "gif"))


def test_images_of_many_sizes_go_through_a_map_in_any_chunks():
    files = [FILES[name] for name in ("b420", "tiny", "pngRGB", "grey")] * 3
    expected = [image.decode_jpeg(file, channels=3) for file in files]
    dataset = hr.Dataset.from_tensor_slices(files).map(
        lambda file: image.decode_jpeg(file, channels=3), executor="native"
    )
    assert dataset.element_spec == hr.TensorSpec((None, None, 3), np.uint8)
    for given in (dataset, dataset.prefetch(2), dataset.take(7), dataset.shuffle(1).skip(0)):
        for seen, wanted in zip(given, expected, strict=False):
            assert_same(seen, wanted)
    assert [element.shape for element in dataset] == [array.shape for array in expected]


def test_images_of_one_size_are_batched_and_resized():
    dataset = hr.Dataset.from_tensor_slices([JPEG] * 5)
    batches = list(dataset.map(image.decode_jpeg, num_parallel_calls=2).batch(2))
    assert [batch.shape for batch in batches] == [(2, 45, 67, 3), (2, 45, 67, 3), (1, 45, 67, 3)]
    assert_same(batches[1][1], image.decode_jpeg(JPEG))
    sizes = hr.Dataset.from_tensor_slices([JPEG, FILES["tiny"]]).map(
        lambda file: image.resize(image.decode_jpeg(file), (8, 9)), executor="native"
    )
    (batch,) = sizes.batch(2)
    assert_same(batch[1], image.resize(image.decode_jpeg(FILES["tiny"]), (8, 9)))


def test_no_files_give_no_images():
    empty = hr.Dataset.from_tensor_slices([JPEG]).take(0).map(image.decode_jpeg)
    assert list(empty) == []


def test_a_damaged_file_is_one_error():
    dataset = hr.Dataset.from_tensor_slices([JPEG, b"no image", JPEG])
    dataset = dataset.map(image.decode_jpeg, executor="native")
    iterator = iter(dataset)
    next(iterator)
    with pytest.raises(
        hr.errors.InvalidArgumentError, match=r"Unknown image file format.*element 1"
    ):
        next(iterator)
    assert_same(next(iterator), image.decode_jpeg(JPEG))


def test_a_crop_window_may_be_computed():
    windows = np.array([[0, 0, 4, 5], [10, 20, 4, 5]])
    dataset = hr.Dataset.from_tensor_slices(windows).map(
        lambda window: image.decode_and_crop_jpeg(JPEG, window), executor="native"
    )
    whole = image.decode_jpeg(JPEG)
    assert_same(next(iter(dataset)), image.decode_and_crop_jpeg(JPEG, [0, 0, 4, 5]))
    assert np.abs(list(dataset)[1].astype(int) - whole[10:14, 20:25]).max() < 40
    for wrong in ([[0, 0, 4, 5]], [0, 0, 4], [0, 0, 4.5, 5], [0, 0, 2**31, 5]):
        with pytest.raises(hr.errors.InvalidArgumentError, match="crop_window"):
            image.decode_and_crop_jpeg(JPEG, wrong)


def _oriented(jpeg, orientation, order):
    tiff = b"II*\0" if order == "little" else b"MM\0*"
    numbers = (8, 4), (1, 2), (0x112, 2), (3, 2), (1, 4), (orientation, 2), (0, 2), (0, 4)
    tiff += b"".join(number.to_bytes(size, order) for number, size in numbers)
    segment = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + (len(segment) + 2).to_bytes(2, "big") + segment + jpeg[2:]


@pytest.mark.parametrize("order", ["little", "big"])
def test_photos_are_turned_upright_on_request(order):
    upright = image.decode_jpeg(JPEG)
    turned = {
        1: upright, 2: upright[:, ::-1], 3: upright[::-1, ::-1], 4: upright[::-1],
        5: upright.swapaxes(0, 1), 6: np.rot90(upright, -1),
        7: upright.swapaxes(0, 1)[::-1, ::-1], 8: np.rot90(upright),
    }  # fmt: skip
    for orientation, wanted in {**turned, 0: upright, 9: upright}.items():
        file = _oriented(JPEG, orientation, order)
        assert_same(image.decode_jpeg(file), upright)
        seen = image.decode_jpeg(file, apply_orientation=True)
        assert_same(seen, np.ascontiguousarray(wanted))
        assert_same(image.decode_image(file, apply_orientation=True), seen)


def test_a_webp_is_frames():
    frames = image.decode_webp(FILES["webp_frames"])
    assert frames.shape == (3, 20, 30, 3)
    assert_same(image.decode_image(FILES["webp_frames"], expand_animations=False), frames[0])


def test_other_dtypes_come_by_way_of_conversion():
    wide = image.decode_image(PNG, dtype=np.uint16)
    for dtype in (np.float64, np.int32):
        wanted = image.convert_image_dtype(wide, dtype, saturate=True)
        assert_same(image.decode_image(PNG, dtype=dtype), wanted)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: image.decode_jpeg(b""), "Input is empty"),
        (lambda: image.decode_jpeg([JPEG, JPEG]), "must be scalar"),
        (lambda: image.decode_jpeg(3), "bytes"),
        (lambda: image.decode_jpeg(JPEG, channels=2), "0, 1, 3 or 4 but got 2"),
        (lambda: image.decode_jpeg(JPEG, dct_method="x"), "dct_method"),
        (lambda: image.decode_png(PNG, dtype=np.float32), "uint8 or uint16"),
        (lambda: image.decode_jpeg(GIF), "Got 3 frames"),
        (lambda: image.decode_bmp(PNG), "Use `decode_png`"),
        (lambda: image.decode_png(FILES["bmp"]), "Use `decode_bmp`.*Op used: DecodePng"),
        (lambda: image.decode_gif(FILES["webp"]), "Use `decode_webp`.*Op used: DecodeGif"),
        (lambda: image.decode_webp(FILES["bmp"]), "Use `decode_bmp`.*Op used: DecodeWebP"),
        (lambda: image.decode_and_crop_jpeg(PNG, [0, 0, 1, 1]), "JPEG only, but detected PNG"),
        (lambda: image.decode_image(b"\xff\x0a" + bytes(30)), "JPEG XL"),
        (lambda: image.extract_jpeg_shape(PNG), "Invalid JPEG data, size"),
        (lambda: image.decode_webp(FILES["webp"], channels=1), "3 or 4"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(hr.errors.InvalidArgumentError, match=words):
        call()


def _claims(file, at, size):
    """A file whose header says that each side has that size."""
    width = len(size)
    return file[:at] + size * 2 + file[at + 2 * width :]


def test_what_claims_to_be_huge_is_refused_before_there_is_room():
    jpeg = JPEG[: JPEG.index(b"\xff\xc0")] + b"\xff\xc0"
    rest = JPEG[len(jpeg) :]
    bombs = [
        jpeg + rest[:3] + b"\xea\x60\xea\x60" + rest[7:],
        _claims(PNG, 16, b"\0\x01\x86\xa0"),
        _claims(FILES["bmp"], 18, b"\xff\xff\0\0"),
        GIF[:6] + b"\xff\xff\xff\xff" + GIF[10:],
    ]
    frame = GIF.index(b",\0\0\0\0") + 5
    bombs[3] = bombs[3][:frame] + b"\xff\xff\xff\xff" + bombs[3][frame + 4 :]
    for bomb in bombs:
        with pytest.raises(hr.errors.InvalidArgumentError, match=r"more than|PNG"):
            image.decode_image(bomb)


@pytest.mark.parametrize("name", sorted(path.name for path in (GOLDEN / "images").iterdir()))
def test_damaged_files_are_errors_or_images(name):
    file = _file(f"images/{name}")
    generator = np.random.default_rng(len(file))
    damaged = [file, *(file[:cut] for cut in range(0, len(file), max(1, len(file) // 40)))]
    for _ in range(200):
        changed = bytearray(file)
        for _ in range(generator.integers(1, 4)):
            changed[generator.integers(len(file))] = generator.integers(256)
        damaged.append(bytes(changed))
    for one in damaged:
        for decode in (
            image.decode_image,
            lambda one: image.decode_jpeg(one, try_recover_truncated=True),
            lambda one: image.decode_jpeg(one, acceptable_fraction=0, apply_orientation=True),
            lambda one: image.decode_and_crop_jpeg(one, [1, 2, 3, 4]),
            lambda one: image.decode_and_crop_jpeg(one, [9, 0, 2, 9]),
            image.extract_jpeg_shape,
        ):
            try:
                decode(one)
            except hr.errors.InvalidArgumentError:
                continue


def outcomes(dataset):
    """Return the sums of the elements, and of each that fails the kind of its error."""
    iterator, seen = iter(dataset), []
    while True:
        try:
            seen.append(int(next(iterator).sum()))
        except StopIteration:
            return seen
        except hr.errors.HeadraceError as error:
            seen.append(type(error))


@pytest.mark.parametrize("calls", [1, 2, hr.AUTOTUNE])
@pytest.mark.parametrize("rows", [1, 2, 7, 1024])
def test_images_of_one_chunk_that_several_tasks_decode_come_in_order(calls, rows):
    pixels = np.arange(40, dtype=np.uint8)[:, None, None, None] * np.ones((4, 4, 3), np.uint8)
    records = np.array([bytes(hr.image.encode_png(image)) for image in pixels], object)
    records[[3, 17, 18]] = b"no image"
    dataset = hr.Dataset.from_tensor_slices(records)
    options = hr.Options()
    options._chunk_rows = rows
    expected = [int(image.sum()) for image in pixels]
    for at in (3, 17, 18):
        expected[at] = hr.errors.InvalidArgumentError
    decoded = dataset.map(
        lambda record: hr.image.decode_png(record, channels=3),
        num_parallel_calls=calls,
        executor="native",
    )
    assert outcomes(decoded.with_options(options)) == expected
    good = dataset.take(3).concatenate(dataset.skip(4).take(13))
    batch = good.map(
        lambda record: hr.image.decode_png(record, channels=3), num_parallel_calls=calls
    ).batch(16)
    (images,) = batch.with_options(options)
    np.testing.assert_array_equal(images, pixels[[*range(3), *range(4, 17)]])
