"""`CsvDataset`: records of CSV files."""

import base64
import gzip

import numpy as np
import pytest
from conftest import assert_same_elements, golden
from laws import check_laws

import headrace as hr
from headrace.experimental import CsvDataset

CASES = golden("csv.json")["cases"]


def _column(spec):
    if isinstance(spec, str):
        return bytes if spec == "string" else np.dtype(spec)
    name, default = spec
    return default.encode() if name == "string" else np.dtype(name).type(default)


def _text(value):
    return base64.b64encode(value).decode() if isinstance(value, bytes) else repr(value.item())


def _outcomes(dataset):
    iterator = iter(dataset)
    while True:
        try:
            yield [_text(value) for value in next(iterator)]
        except StopIteration:
            return
        except hr.errors.InvalidArgumentError as error:
            yield str(error).split(" (/")[0]


@pytest.mark.parametrize("buffer_size", [None, 1])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["content"][:20])
def test_outcomes_are_those_of_tf_data(case, buffer_size, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(base64.b64decode(case["content"]))
    columns = [_column(spec) for spec in case["columns"]]
    dataset = CsvDataset(path, columns, buffer_size=buffer_size, **case["kwargs"])
    assert list(_outcomes(dataset)) == case["expect"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("".join(f'{i},{i / 2},"row {i}"\n' for i in range(1000)))
    return path


def test_rows_are_tuples_of_scalars(table):
    dataset = CsvDataset(table, [np.int64, np.float32, str])
    rows = [(np.int64(i), np.float32(i / 2), f"row {i}") for i in range(1000)]
    assert_same_elements(list(dataset), rows)
    assert dataset.element_spec == (
        hr.TensorSpec((), np.int64),
        hr.TensorSpec((), np.float32),
        hr.TensorSpec((), str),
    )


def test_compressed_files(table, tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(table.read_bytes()))
    dataset = CsvDataset([path, path], [np.int64, np.float64], "GZIP", exclude_cols=[2])
    assert list(dataset) == [(i, i / 2) for i in range(1000)] * 2


def test_errors_name_file_record_and_byte(table):
    table.write_text("1\n2\nx\n4\n")
    iterator = iter(CsvDataset(table, [np.int32]))
    assert [next(iterator), next(iterator)] == [(1,), (2,)]
    with pytest.raises(hr.errors.InvalidArgumentError, match="not a valid int32: x") as caught:
        next(iterator)
    assert (caught.value.file, caught.value.record, caught.value.offset) == (str(table), 2, 4)
    assert list(iterator) == [(4,)]


def test_text_must_be_utf8(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xff\n")
    assert list(CsvDataset(path, [bytes])) == [(b"\xff",)]
    with pytest.raises(hr.errors.InvalidArgumentError, match="not a valid UTF-8 string"):
        list(CsvDataset(path, [str]))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"select_cols": [1, 0]}, "select_cols should be strictly increasing indices"),
        ({"select_cols": [0, 0]}, "select_cols should be strictly increasing indices"),
        ({"select_cols": [-1, 0]}, "select_cols should be non-negative indices"),
        ({"select_cols": [0]}, "select_cols should match output size"),
        ({"select_cols": [0, 1], "exclude_cols": [2]}, "not both"),
        ({"field_delim": ",,"}, "field_delim should be only 1 char"),
        ({"compression_type": "X"}, "compression_type"),
    ],
)
def test_arguments_are_checked(arguments, text):
    with pytest.raises(hr.errors.InvalidArgumentError, match=text):
        CsvDataset("a", [np.int32, np.int32], **arguments)


def test_columns_have_one_of_six_types():
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"record_defaults\[0\] is int8"):
        CsvDataset("a", [np.int8])
    with pytest.raises(hr.errors.InvalidArgumentError, match="must be a scalar"):
        CsvDataset("a", [[1, 2]])
    assert CsvDataset("a", [[1], np.zeros(0, np.int32)]).element_spec[1].dtype == np.int32


def test_the_laws_hold(table):
    columns = [np.int64, np.float32, str]
    check_laws(lambda: CsvDataset(table, columns).take(30))
    check_laws(lambda: CsvDataset([table] * 2, columns[:1], select_cols=[0]).skip(990).take(40))
    check_laws(lambda: CsvDataset(table, columns).take(20).shuffle(5, seed=1).batch(3))
