"""`TextLineDataset`: lines of text files."""

import base64
import gzip
import pickle

import pytest
from conftest import GOLDEN, golden
from laws import check_laws

import headrace as hr

CASES = [case for case in golden("text.json")["cases"] if case["op"] == "TextLineDataset"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["file"])
@pytest.mark.parametrize("buffer_size", [None, 1, 7])
def test_lines_are_those_of_tf_data(case, buffer_size):
    path = GOLDEN / case["file"]
    dataset = hr.TextLineDataset(path, case.get("compression_type"), buffer_size)
    assert list(dataset) == [base64.b64decode(line) for line in case["lines"]]


def test_files_come_one_after_another(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text(f"{name}1\n{name}2")
    dataset = hr.TextLineDataset([tmp_path / "a", str(tmp_path / "b")])
    assert list(dataset) == [b"a1", b"a2", b"b1", b"b2"]
    assert dataset.element_spec == hr.TensorSpec((), bytes)
    assert dataset.cardinality() == hr.UNKNOWN_CARDINALITY
    assert list(hr.TextLineDataset([])) == []


def test_parallel_reads_and_datasets_of_names(tmp_path):
    for name in "abc":
        (tmp_path / name).write_text(f"{name}1\n{name}2\n")
    names = hr.Dataset.list_files(str(tmp_path / "*"), shuffle=False)
    assert list(hr.TextLineDataset(names)) == [b"a1", b"a2", b"b1", b"b2", b"c1", b"c2"]
    dataset = hr.TextLineDataset(names, num_parallel_reads=2)
    assert list(dataset) == [b"a1", b"b1", b"a2", b"b2", b"c1", b"c2"]
    assert list(pickle.loads(pickle.dumps(dataset))) == list(dataset)
    records = hr.FixedLengthRecordDataset(names, 2, 0, 1, num_parallel_reads=3)
    with pytest.raises(hr.errors.InvalidArgumentError, match="exact multiple"):
        list(records)
    each = names.flat_map(lambda name: hr.TextLineDataset(name).take(1))
    assert list(each) == [b"a1", b"b1", b"c1"]
    assert each.element_spec == hr.TensorSpec((), bytes)


def test_a_missing_file_is_an_error_when_its_turn_comes(tmp_path):
    (tmp_path / "a").write_text("1\n")
    iterator = iter(hr.TextLineDataset([tmp_path / "a", tmp_path / "none", tmp_path / "a"]))
    assert next(iterator) == b"1"
    with pytest.raises(hr.errors.NotFoundError, match="none"):
        next(iterator)
    assert list(iterator) == [b"1"]


def test_damage_names_line_and_byte(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"line\n" * 100_000, 0)[:-300_000])
    iterator = iter(hr.TextLineDataset(path, "GZIP"))
    with pytest.raises(hr.errors.DataLossError, match=r"a.gz, record \d+, byte \d+") as caught:
        list(iterator)
    assert caught.value.record * 5 == caught.value.offset


def test_arguments_are_checked():
    with pytest.raises(TypeError, match="must contain `str` elements"):
        hr.TextLineDataset(3)
    with pytest.raises(hr.errors.InvalidArgumentError, match="compression_type"):
        hr.TextLineDataset("a", "BZIP")
    with pytest.raises(hr.errors.InvalidArgumentError, match="buffer_size"):
        hr.TextLineDataset("a", buffer_size=-1)


def test_the_laws_hold(tmp_path):
    path = tmp_path / "a"
    path.write_text("".join(f"{i}\n" for i in range(30)))
    check_laws(lambda: hr.TextLineDataset([path, path]))
    check_laws(lambda: hr.TextLineDataset(path).shuffle(7, seed=1).repeat(2))
    check_laws(lambda: hr.TextLineDataset(path).skip(3).batch(4))


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_lines_of_windows_have_no_carriage_returns(compression, tmp_path):
    def lines(data):
        path = tmp_path / "lines"
        path.write_bytes(gzip.compress(data) if compression else data)
        return list(hr.TextLineDataset(path, compression))

    assert lines(b"a\r\nb\r\nc") == [b"a", b"b", b"c"]
    assert lines(b"") == []
    assert lines(b"a\n\nb\n") == [b"a", b"", b"b"]
