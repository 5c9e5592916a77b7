"""`Dataset.list_files`: files whose names match."""

import os
import pickle

import pytest

import headrace as hr


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in [
        "b.txt",
        "a.txt",
        "c.txt",
        "[1].txt",
        ".h.txt",
        ".dir/x.txt",
        "sub/y.txt",
        "sub/deep/z.txt",
    ]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.txt", ["[1].txt", "a.txt", "b.txt", "c.txt"]),
        (".*.txt", [".h.txt"]),
        (".h.txt", [".h.txt"]),
        ("[.]h.txt*", None),
        (".dir/*", [".dir/x.txt"]),
        ("*/x.txt", None),
        ("?.txt", ["a.txt", "b.txt", "c.txt"]),
        ("[ab].txt", ["a.txt", "b.txt"]),
        ("[!a].txt", ["b.txt", "c.txt"]),
        ("[^a].txt", ["b.txt", "c.txt"]),
        ("[a-b].txt", ["a.txt", "b.txt"]),
        ("*", ["[1].txt", "a.txt", "b.txt", "c.txt", "sub"]),
        ("*/*.txt", ["sub/y.txt"]),
        ("**/*.txt", ["sub/y.txt"]),
        ("*/*/*.txt", ["sub/deep/z.txt"]),
        (["b*", "a*"], ["a.txt", "b.txt"]),
        (["a*", "?.txt"], ["a.txt", "a.txt", "b.txt", "c.txt"]),
        ("a.txt", ["a.txt"]),
        ("./a.txt", ["./a.txt"]),
        ("sub/../a.txt", ["sub/../a.txt"]),
        ("\\[1\\].txt", ["[1].txt"]),
    ],
)
def test_patterns_match_as_in_tf_data(pattern, expected, folder):
    for prefix in ("", str(folder) + "/"):
        one = isinstance(pattern, str)
        patterns = prefix + pattern if one else [prefix + part for part in pattern]
        if expected is None:
            with pytest.raises(hr.errors.InvalidArgumentError, match="begins with a dot"):
                hr.Dataset.list_files(patterns)
            continue
        dataset = hr.Dataset.list_files(patterns, shuffle=False)
        assert list(dataset) == [prefix + path for path in expected]
        assert dataset.cardinality() == len(expected)


@pytest.mark.parametrize("pattern", ["nope*", "[1].txt", "{a,b}.txt", "a.txt/*"])
def test_no_match_is_an_error_that_names_the_pattern(pattern, folder):
    with pytest.raises(hr.errors.InvalidArgumentError) as caught:
        hr.Dataset.list_files(pattern)
    assert f"No files matched pattern: {pattern}" in str(caught.value)
    assert ("backslash" in str(caught.value)) == ("[" in pattern or "*" in pattern)


def test_odd_names_are_opened_as_they_are(tmp_path):
    path = tmp_path / "dir[1]" / "a b#é.tfrecord"
    path.parent.mkdir()
    with hr.io.TFRecordWriter(path) as writer:
        writer.write(b"record")
    assert list(hr.TFRecordDataset(path)) == [b"record"]
    escaped = str(path).replace("[", "\\[").replace("]", "\\]")
    assert list(hr.Dataset.list_files(escaped)) == [str(path)]
    with pytest.raises(
        hr.errors.InvalidArgumentError, match=r"No files matched.*dir\[1\].*bracket"
    ):
        hr.Dataset.list_files(str(path))


def test_bytes_in_bytes_out(folder):
    assert list(hr.Dataset.list_files(b"a*")) == [b"a.txt"]
    assert list(hr.Dataset.list_files(folder / "a*")) == [os.path.join(folder, "a.txt")]


def test_the_order_is_that_of_tf_data(folder):
    files = hr.Dataset.list_files("?.txt", seed=3)
    orders = [[path[0] for path in files] for _ in range(3)]
    assert orders == [["a", "b", "c"], ["a", "c", "b"], ["c", "b", "a"]]


def test_it_pickles(folder):
    files = hr.Dataset.list_files("?.txt", seed=3)
    list(files)
    assert [path[0] for path in pickle.loads(pickle.dumps(files))] == ["a", "c", "b"]


def test_tensorflow_names_match_hidden_files(folder):
    import headrace.tf as tf

    files = tf.data.Dataset.list_files("*.txt", shuffle=False)
    assert next(iter(files.as_numpy_iterator())) == b".h.txt"
    assert list(tf.data.Dataset.list_files("*/x.txt").as_numpy_iterator()) == [b".dir/x.txt"]
    orders = tf.data.Dataset.list_files(tf.constant(["?.txt"]), seed=3)
    assert [x[:1] for x in orders.as_numpy_iterator()] == [b"a", b"b", b"c"]
