"""`Dataset.skip` where elements fail: errors that show are handed out, and stand for no element."""

import contextlib
import os

import numpy as np
import pytest

import headrace as hr

RECORD = 500
FRAME = RECORD + 16


def write(path, count, compression=None):
    """Records that do not compress, the last byte of each its number."""
    with hr.io.TFRecordWriter(str(path), compression) as writer:
        for number in range(count):
            noise = np.random.default_rng(number).bytes(RECORD - 1)
            writer.write(noise + bytes([number]))
    return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Paths by name: whole, with a bad length after 5 records, cut GZIP, and of no file."""
    folder = tmp_path_factory.mktemp("skip")
    paths = {
        "good": write(folder / "good", 5),
        "bad": write(folder / "bad", 10),
        "gzip": write(folder / "gzip", 10, "GZIP"),
        "missing": str(folder / "missing"),
    }
    with open(paths["bad"], "r+b") as file:
        file.seek(5 * FRAME)
        file.write(b"\x01\x02")
    os.truncate(paths["gzip"], os.path.getsize(paths["gzip"]) // 2)
    return paths


def failing(*at):
    """All elements pass; those at some places fail, and it shows as soon as they are passed."""

    def passes(x):
        str(x)  # Never a graph.
        if x in at:
            raise ValueError(int(x))
        return True

    return hr.Dataset.range(8).filter(passes)


def generated():
    yield from range(3)
    raise KeyError("the generator fails")


def from_generator():
    return hr.Dataset.from_generator(generated, output_signature=hr.TensorSpec((), np.int64))


def number(record):
    return hr.io.decode_raw(record, np.uint8)[-1]


def records(files, *names, compression=None):
    return hr.TFRecordDataset([files[name] for name in names], compression).map(number)


def damaged(files):
    return records(files, "bad", "good")


PLANS = {
    "records": damaged,
    "gzip": lambda files: records(files, "gzip", compression="GZIP"),
    "missing": lambda files: records(files, "good", "missing", "good"),
    "lines": lambda files: hr.TextLineDataset([files["missing"], files["good"]]).map(lambda x: 7),
    "fixed length": lambda files: hr.FixedLengthRecordDataset(
        [files["good"], files["missing"], files["good"]], 516, footer_bytes=0
    ).map(lambda x: 7),
    "csv": lambda files: hr.experimental.CsvDataset([files["missing"]], [np.int64]).map(
        lambda x: x
    ),
    "generator": lambda files: from_generator(),
    "filter": lambda files: failing(3, 4),
    "concatenate": lambda files: from_generator().concatenate(hr.Dataset.range(10, 14)),
    "zip": lambda files: hr.Dataset.zip(hr.Dataset.range(10, 20), failing(3, 4)).map(
        lambda a, b: a * 10 + b
    ),
    "zip of files": lambda files: hr.Dataset.zip(hr.Dataset.range(99), damaged(files)).map(
        lambda a, b: a
    ),
    "interleave": lambda files: hr.Dataset.range(2).interleave(lambda i: failing(1)),
    "parallel interleave": lambda files: (
        hr.Dataset.range(2)
        .interleave(
            lambda i: hr.TFRecordDataset([files["bad"], files["good"]]), num_parallel_calls=2
        )
        .map(number)
    ),
    "flat_map": lambda files: (
        hr.Dataset.range(2)
        .flat_map(lambda i: hr.TFRecordDataset([files["bad"], files["good"]]))
        .map(number)
    ),
    "repeat": lambda files: failing(3, 4).repeat(2),
    "shuffle": lambda files: failing(3, 4).shuffle(3, seed=1, reshuffle_each_iteration=False),
    "choose": lambda files: hr.Dataset.choose_from_datasets(
        [failing(3, 4), hr.Dataset.range(20, 30)], hr.Dataset.range(2).repeat(6)
    ),
    "sample": lambda files: hr.Dataset.sample_from_datasets(
        [failing(3, 4), hr.Dataset.range(20, 30)], seed=4
    ),
    "batch": lambda files: damaged(files).batch(2).map(lambda x: x[0]),
    "batch of a filter": lambda files: failing(3, 4).batch(2).map(lambda x: x[0]),
    "unbatch": lambda files: damaged(files).batch(2).unbatch(),
    "rebatch": lambda files: failing(3).batch(2).rebatch(3).unbatch(),
    "window": lambda files: damaged(files).window(2, shift=3).flat_map(lambda window: window),
    "group_by_window": lambda files: (
        failing(3, 4)
        .group_by_window(lambda x: x % 2, lambda key, rows: rows.batch(2), window_size=2)
        .unbatch()
    ),
    "shard": lambda files: damaged(files).shard(2, 0),
    "take": lambda files: damaged(files).take(8),
    "enumerate": lambda files: from_generator().enumerate().map(lambda i, x: i),
    "prefetch": lambda files: failing(3, 4).prefetch(2),
    "parallel map": lambda files: damaged(files).map(lambda x: x + 1, num_parallel_calls=2),
    "ignore_errors": lambda files: failing(3, 4).ignore_errors(),
    "assert_cardinality": lambda files: hr.Dataset.range(5).apply(
        hr.experimental.assert_cardinality(3)
    ),
    "skip": lambda files: damaged(files).skip(2),
}


def outcomes(iterator):
    """What it gives: numbers, and of errors their kind."""
    seen = []
    while True:
        try:
            seen.append(int(next(iterator)))
        except StopIteration:
            return seen
        except (hr.errors.HeadraceError, KeyError, ValueError) as error:
            seen.append(type(error).__name__)


def without_the_first(count, whole):
    """The outcomes without `count` elements; errors stay."""
    kept = []
    for outcome in whole:
        if isinstance(outcome, int) and count > 0:
            count -= 1
        else:
            kept.append(outcome)
    return kept


@pytest.mark.parametrize("name", PLANS)
def test_skipping_elements_loses_no_error(name, files):
    dataset = PLANS[name](files)
    whole = outcomes(iter(dataset))
    failed = [outcome for outcome in whole if isinstance(outcome, str)]
    assert bool(failed) == (name not in ("ignore_errors", "window"))
    for count in (1, 3, 5, 7, 12):
        assert outcomes(iter(dataset.skip(count))) == without_the_first(count, whole)


@pytest.mark.parametrize("name", PLANS)
def test_a_state_among_skipped_errors_gives_the_rest(name, files):
    for count in (1, 5, 7):
        dataset = PLANS[name](files).skip(count)
        expected = outcomes(iter(dataset))
        iterator = iter(dataset)
        for at in range(len(expected) + 1):
            rest = outcomes(dataset.iterator(state=iterator.state()))
            assert rest == expected[at:]
            with contextlib.suppress(hr.errors.HeadraceError, KeyError, ValueError):
                next(iterator, None)


def test_a_missing_file_is_not_told_of_as_empty(files, recwarn):
    with pytest.raises(hr.errors.NotFoundError):
        list(hr.TFRecordDataset(files["missing"]).skip(3))
    assert not [str(told.message) for told in recwarn if "no records" in str(told.message)]
