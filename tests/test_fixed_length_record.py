"""`FixedLengthRecordDataset`: records of one length between a header and a footer."""

import gzip
import zlib

import pytest
from conftest import GOLDEN, decode, golden
from laws import check_laws

import headrace as hr

CASES = [case for case in golden("text.json")["cases"] if case["op"] != "TextLineDataset"]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['file']}-{c['header_bytes']}")
def test_records_are_those_of_tf_data(case):
    sizes = [case["record_bytes"], case["header_bytes"], case["footer_bytes"]]
    dataset = hr.FixedLengthRecordDataset(GOLDEN / case["file"], *sizes)
    if isinstance(case["expect"], dict):
        wanted = case["expect"]["error"]
        with pytest.raises(getattr(hr.errors, wanted["class"])) as caught:
            list(dataset)
        for part in (
            "header (",
            "footer (",
            "not an exact multiple of the record length (3 bytes)",
        ):
            assert part in wanted["message"]
            assert part in str(caught.value)
    else:
        assert list(dataset) == list(decode(case["expect"]))


@pytest.mark.parametrize("buffer_size", [None, 1, 5])
@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_header_and_footer_are_left_out(compression, buffer_size, tmp_path):
    path = tmp_path / "a"
    compress = {None: bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression]
    path.write_bytes(compress(b"head" + b"abcdefghi" * 100 + b"feet!"))
    dataset = hr.FixedLengthRecordDataset([path, path], 3, 4, 5, buffer_size, compression)
    assert list(dataset) == [b"abc", b"def", b"ghi"] * 200
    assert list(dataset.skip(301).take(2)) == [b"def", b"ghi"]


@pytest.mark.parametrize("content", [b"headabcdfeet!", b"he"])
def test_a_compressed_file_that_does_not_fit_is_an_error(content, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(hr.errors.InvalidArgumentError, match=r"Excluding the header \(4 bytes\)"):
        list(hr.FixedLengthRecordDataset(path, 3, 4, 5, compression_type="GZIP"))


def test_arguments_are_checked():
    for sizes in [(0,), (-1,), (1, -1), (1, 0, -1)]:
        with pytest.raises(hr.errors.InvalidArgumentError, match="must be >"):
            hr.FixedLengthRecordDataset("a", *sizes)


def test_the_laws_hold(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(bytes(range(60)))
    check_laws(lambda: hr.FixedLengthRecordDataset([path, path], 4))
    check_laws(lambda: hr.FixedLengthRecordDataset(path, 7, 2, 2).shuffle(3, seed=1))
    check_laws(lambda: hr.FixedLengthRecordDataset(path, 3).repeat(2).batch(4))
