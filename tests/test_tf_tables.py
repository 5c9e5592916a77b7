"""Rows of databases, and tables of datasets, under TensorFlow's names; numbers are TensorFlow's."""

import sqlite3

import numpy as np
import pytest

import headrace.tf as tf

experimental = tf.data.experimental


@pytest.fixture
def database(tmp_path):
    path = str(tmp_path / "a?b#%20.sqlite")
    with sqlite3.connect(path) as opened:
        opened.execute("create table t (a int, b text, c real, d blob)")
        rows = [
            (1, "x", 1.5, b"\x00\xff"),
            (None, None, None, None),
            (2**40, "12", -2.5, b"q"),
            (-3, "y", 3.0, b""),
        ]
        opened.executemany("insert into t values (?, ?, ?, ?)", rows)
    opened.close()
    return path


@pytest.mark.parametrize(
    ("columns", "types", "expected"),
    [
        (
            "a, b, c, d",
            (tf.int32, tf.string, tf.float64, tf.string),
            [
                (1, b"x", 1.5, b"\x00\xff"),
                (0, b"", 0, b""),
                (0, b"12", -2.5, b"q"),
                (-3, b"y", 3, b""),
            ],
        ),
        (
            "b, c, a",
            (tf.int64, tf.string, tf.float64),
            [(0, b"1.5", 1), (0, b"", 0), (12, b"-2.5", 2.0**40), (0, b"3.0", -3)],
        ),
        (
            "a, a, a, c",
            (tf.bool, tf.int8, tf.uint8, tf.int32),
            [(True, 1, 1, 1), (False, 0, 0, 0), (True, 0, 0, -2), (True, -3, 253, 3)],
        ),
        ("a", tf.int64, [1, 0, 2**40, -3]),
        ("a, b", {"x": tf.int64, "y": tf.string}, None),
    ],
)  # fmt: skip
def test_rows_of_a_query_are_elements(columns, types, expected, database):
    rows = experimental.SqlDataset("sqlite", database, f"select {columns} from t", types)
    seen = list(rows.as_numpy_iterator())
    if expected is None:
        expected = [{"x": a, "y": b} for a, b in [(1, b"x"), (0, b""), (2**40, b"12"), (-3, b"y")]]
    assert seen == expected
    assert rows.element_spec == tf.nest.map_structure(lambda t: tf.TensorSpec([], t), types)
    assert list(rows.prefetch(2).repeat(2).as_numpy_iterator()) == expected * 2
    assert isinstance(rows, tf.data.Dataset)


def test_a_query_starts_anew_and_may_be_left_early(database):
    rows = experimental.SqlDataset("sqlite", database, "select a from t", (tf.int64,))
    assert next(iter(rows))[0].numpy() == 1
    with sqlite3.connect(database) as opened:
        opened.execute("delete from t where a is null")
    opened.close()
    assert [int(a) for (a,) in rows] == [1, 2**40, -3]


def test_wrong_queries_are_errors(database, tmp_path):
    def rows(query, types=(tf.int64,), path=database, driver="sqlite"):
        return list(experimental.SqlDataset(driver, path, query, types))

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"columns in query \(2\)"):
        rows("select a, b from t")
    with pytest.raises(tf.errors.InvalidArgumentError, match="columns in query"):
        rows("select 1", ())
    with pytest.raises(tf.errors.UnknownError, match="no such column: nope"):
        rows("select nope from t")
    with pytest.raises(tf.errors.UnknownError, match="unable to open"):
        rows("select 1", path=str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()
    with pytest.raises(tf.errors.UnknownError, match="readonly"):
        rows("delete from t")
    with pytest.raises(tf.errors.InvalidArgumentError, match="mysql, is not supported"):
        rows("select 1", driver="mysql")
    with pytest.raises(tf.errors.InvalidArgumentError, match="float32"):
        rows("select c from t", (tf.float32,))


def test_tables_hold_the_pairs_of_a_dataset():
    pairs = tf.data.Dataset.range(3).map(lambda i: (i, tf.strings.as_string(i * 2)))
    table = experimental.table_from_dataset(pairs, default_value="?", key_dtype=tf.int64)
    assert table.lookup(tf.constant([1, 5], tf.int64)).numpy().tolist() == [b"2", b"?"]
    table = tf.lookup.StaticHashTable(experimental.DatasetInitializer(pairs), "")
    assert table.lookup(tf.constant([2, 0], tf.int64)).numpy().tolist() == [b"4", b"0"]
    assert table.size().numpy() == 3


def test_tables_number_the_elements_of_a_dataset():
    words = tf.data.Dataset.from_tensor_slices(["a", "b", "c"])
    table = experimental.index_table_from_dataset(words, vocab_size=2)
    assert table.lookup(tf.constant(["b", "c"])).numpy().tolist() == [1, -1]
    table = experimental.index_table_from_dataset(words.take(2), num_oov_buckets=3)
    assert table.lookup(tf.constant(["b", "z", "q", "w"])).numpy().tolist() == [1, 3, 4, 4]
    assert table.size().numpy() == 5
    numbers = tf.data.Dataset.range(5, 8)
    table = experimental.index_table_from_dataset(numbers, 2, key_dtype=tf.int64)
    traced = tf.data.Dataset.from_tensors(np.array([6, 100])).map(table.lookup)
    assert next(iter(traced)).numpy().tolist() == [1, 4]


def test_wrong_tables_are_refused():
    words = tf.data.Dataset.from_tensor_slices(["a", "a"])
    index = experimental.index_table_from_dataset
    with pytest.raises(ValueError, match="form \\(key, value\\)"):
        experimental.table_from_dataset(words)
    with pytest.raises(ValueError, match="pairs, got None"):
        experimental.table_from_dataset()
    with pytest.raises(tf.errors.FailedPreconditionError, match="different value for same key"):
        index(words)
    with pytest.raises(tf.errors.FailedPreconditionError, match="3 elements"):
        index(words, vocab_size=3)
    for wrong in ({"num_oov_buckets": -1}, {"vocab_size": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            index(words, **wrong)
    with pytest.raises(TypeError, match="key_dtype"):
        index(words, key_dtype=tf.float32)


INDEX = tf.lookup.TextFileIndex
LINES = (tf.string, INDEX.WHOLE_LINE, tf.int64, INDEX.LINE_NUMBER)


def in_file(tmp_path, text, *what, **more):
    path = tmp_path / "table.txt"
    path.write_bytes(text)
    return tf.lookup.TextFileInitializer(str(path), *what, **more)


@pytest.mark.parametrize(
    ("text", "what", "more", "table"),
    [
        (b"a\nb\n", LINES, {}, {b"a": 0, b"b": 1}),
        (b"a\rb\r\nc", LINES, {}, {b"a\rb": 0, b"c": 1}),
        (b"a\nb\nc\n", LINES, {"vocab_size": 2}, {b"a": 0, b"b": 1}),
        (b"a\nb\n", LINES, {"value_index_offset": 5}, {b"a": 5, b"b": 6}),
        (b"", LINES, {}, {}),
        (b"a\t1\na\t1\n", (tf.string, 0, tf.int64, 1), {}, {b"a": 1}),
        (b"a 1.5\n", (tf.string, 0, tf.float32, 1), {"delimiter": " "}, {b"a": 1.5}),
        (b"7,x,y\n", (tf.int64, 0, tf.string, 2), {"delimiter": ","}, {7: b"y"}),
        (b"a\n", (tf.int64, INDEX.LINE_NUMBER, tf.string, INDEX.WHOLE_LINE), {}, {0: b"a"}),
    ],
)
def test_lines_of_a_file_are_a_table(tmp_path, text, what, more, table):
    words = in_file(tmp_path, text, *what, **more)
    default = "" if words.value_dtype is tf.string else -1
    made = tf.lookup.StaticHashTable(words, default)
    keys, values = (part.numpy().tolist() for part in made.export())
    assert dict(zip(keys, values, strict=True)) == table
    if table:
        asked = tf.constant(list(table), words.key_dtype)
        dataset = tf.data.Dataset.from_tensors(asked).map(made.lookup)
        assert "runs as a graph" in dataset.explain()
        assert next(iter(dataset)).numpy().tolist() == list(table.values())


def test_words_of_a_file_are_a_vocabulary(tmp_path):
    table = tf.lookup.StaticVocabularyTable(in_file(tmp_path, b"x\ny\n", *LINES), 2)
    assert table.lookup(tf.constant(["y", "q", "r"])).numpy().tolist() == [1, 3, 3]


@pytest.mark.parametrize(
    ("text", "what", "more", "words"),
    [
        (b"a\n\n", LINES, {}, "empty line found at position 1"),
        (b"a\n", LINES, {"vocab_size": 2}, "expected 2 lines, got 1"),
        (b"a\n", (tf.string, 0, tf.int64, 1), {}, "line 0: 1 columns"),
        (b"a\tx\n", (tf.string, 0, tf.int64, 1), {}, "Field x in line 0 is not a valid int64"),
        (b"a\t1e99\n", (tf.string, 0, tf.int32, 1), {}, "not a valid int32"),
        (b"a 1\n", (tf.string, 0, tf.int64, 1), {"delimiter": "::"}, "only 1 char"),
        (b"a\n", (tf.string, INDEX.LINE_NUMBER, tf.int64, 0), {}, "must be int64"),
        (b"a\n", (tf.string, -3, tf.int64, 0), {}, ">= -2"),
    ],
)
def test_files_that_are_no_table_are_refused(tmp_path, text, what, more, words):
    with pytest.raises(ValueError, match=words):
        in_file(tmp_path, text, *what, **more)


def test_a_file_that_is_not_there_is_no_table(tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        tf.lookup.TextFileInitializer(tmp_path / "no.txt", *LINES)
    with pytest.raises(ValueError, match="filename"):
        tf.lookup.TextFileInitializer("", *LINES)
    with pytest.raises(ValueError, match="`vocab_size` should be > 0"):
        in_file(tmp_path, b"a\n", *LINES, vocab_size=0)
    with pytest.raises(tf.errors.FailedPreconditionError, match="different value for same key"):
        tf.lookup.StaticHashTable(in_file(tmp_path, b"a\na\n", *LINES), -1)


def test_a_vocabulary_may_be_buckets_only():
    table = tf.lookup.StaticVocabularyTable(None, 5)
    assert table.lookup(tf.constant(["a", "q", "r"])).numpy().tolist() == [4, 3, 3]
    assert table.size().numpy() == 5
    words = tf.lookup.KeyValueTensorInitializer(["a"], [0])
    with pytest.raises(TypeError, match="expected int64 but got int32"):
        tf.lookup.StaticVocabularyTable(words, 2)
    with pytest.raises(ValueError, match="use StaticHashTable"):
        tf.lookup.StaticVocabularyTable(None, 0)


def test_a_table_tells_its_default_value():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [3]), 7)
    assert table.default_value.dtype is tf.int32
    assert table.default_value.numpy() == 7
