"""`experimental.make_csv_dataset`: batches of named columns."""

import base64
import gzip

import numpy as np
import pytest
from conftest import assert_same_elements, golden

import headrace as hr
from headrace.experimental import make_csv_dataset

CASES = golden("csv.json")["frames"]


def _values(column):
    if column["dtype"] == "string":
        texts = [base64.b64decode(text) for text in column["data"]]
        return np.array([*texts, None], dtype=object)[:-1]
    return np.array([float(text) for text in column["data"]]).astype(column["dtype"])


def _element(frame):
    if len(frame) == 2 and isinstance(frame[1], dict):
        return {name: _values(column) for name, column in frame[0]}, _values(frame[1])
    return {name: _values(column) for name, column in frame}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["kwargs"])[:90])
def test_batches_are_those_of_tf_data(case, tmp_path):
    for number, content in enumerate(case["contents"]):
        (tmp_path / f"{number}.csv").write_bytes(base64.b64decode(content))
    kwargs = dict(case["kwargs"])
    if "column_defaults" in kwargs:
        kwargs["column_defaults"] = [np.array(d, np.int32) for d in kwargs["column_defaults"]]
    dataset = make_csv_dataset(str(tmp_path / "*.csv"), **kwargs)
    assert_same_elements(list(dataset.take(9)), [_element(frame) for frame in case["expect"]])


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,a\n2,b\n")
    return path


def test_the_element_spec_is_known(path):
    dataset = make_csv_dataset(path, 2, label_name="y")
    assert dataset.element_spec == (
        {"x": hr.TensorSpec((2,), np.int32)},
        hr.TensorSpec((2,), bytes),
    )
    assert make_csv_dataset(path, 2, num_epochs=1).element_spec["x"].shape == (None,)


def test_compressed_files(path, tmp_path):
    packed = tmp_path / "a.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    kwargs = {"num_epochs": 1, "shuffle": False}
    plain = list(make_csv_dataset(path, 2, **kwargs))
    assert_same_elements(
        list(make_csv_dataset(packed, 2, compression_type="GZIP", **kwargs)), plain
    )
    with pytest.raises(ValueError, match="ZLIB"):
        make_csv_dataset(packed, 2, compression_type="ZLIB")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"header": False}, "there is neither"),
        ({"column_names": ["x", "x"]}, "must differ"),
        ({"label_name": "z"}, "`label_name` must be one of"),
        ({"select_columns": ["z"]}, "`select_columns` has 'z'"),
        ({"select_columns": [2]}, "there are 2 columns"),
        ({"select_columns": [0, "x"]}, "twice"),
        ({"select_columns": [0], "column_defaults": [1, 2]}, "the same length"),
        ({"column_names": ["x"]}, "has 2 fields where there are 1 columns"),
    ],
)
def test_columns_must_fit_together(arguments, text, path):
    with pytest.raises(ValueError, match=text):
        make_csv_dataset(path, 2, **arguments)


def test_files_must_fit_together(path, tmp_path):
    (tmp_path / "b.csv").write_text("x,z\n")
    with pytest.raises(ValueError, match="must have the same columns"):
        make_csv_dataset(tmp_path / "*.csv", 2)
    (tmp_path / "b.csv").write_text("")
    with pytest.raises(ValueError, match=r"b.csv has no header line"):
        make_csv_dataset(tmp_path / "*.csv", 2)
    with pytest.raises(ValueError, match="No files match"):
        make_csv_dataset(tmp_path / "none*", 2)
