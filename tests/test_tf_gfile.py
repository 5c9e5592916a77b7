"""`tf.io.gfile`, `tf.errors` and `tf.compat`'s text."""

import pathlib
import pickle

import numpy as np
import pytest

import headrace as hr
from headrace.tf import compat, errors
from headrace.tf.io import gfile


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "x.txt").write_bytes(b"one\ntwo\r\nthree")
    (tmp_path / "a" / "b" / "y.bin").write_bytes(b"\x00\xff\n")
    (tmp_path / "a" / ".h").touch()
    (tmp_path / "a" / "z[1].txt").touch()
    (tmp_path / "é").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_text_and_bytes_are_read(folder):
    assert gfile.GFile("a/x.txt").read() == "one\ntwo\r\nthree"
    assert gfile.GFile("a/x.txt", "rb").read() == b"one\ntwo\r\nthree"
    assert list(gfile.GFile("a/x.txt")) == ["one\n", "two\r\n", "three"]
    assert gfile.GFile(folder / "a/x.txt").readlines() == ["one\n", "two\r\n", "three"]
    assert gfile.GFile(b"a/x.txt", "rb").readline() == b"one\n"
    assert next(gfile.GFile("a/x.txt")) == "one\n"
    with pytest.raises(UnicodeDecodeError):
        gfile.GFile("a/b/y.bin").read()
    with gfile.GFile("a/x.txt") as file:
        assert (file.name, file.mode, file.size(), file.seekable()) == ("a/x.txt", "r", 14, True)
        assert (file.read(2), file.tell()) == ("on", 2)
        file.seek(-2, 2)
        assert file.read() == "ee"
        file.seek(position=1)
        file.seek(1, 1)
        assert file.tell() == 2
    assert file.read(3) == "one"  # a closed file opens again


def test_what_is_written_is_there(folder):
    with gfile.GFile("w", "w") as file:
        file.write("é")
        assert file.tell() == 2
        file.flush()
        assert file.size() == 2
    with gfile.GFile("w", "ab") as file:
        file.write(b"z")
    assert pathlib.Path("w").read_bytes() == b"\xc3\xa9z"
    with gfile.GFile("w", "w") as file, pytest.raises(TypeError, match="binary or unicode"):
        file.write(3)
    for mode in ("r+", "w+", "a+"):
        with gfile.GFile(mode, mode) as file:
            file.write("ab\nc")
            file.flush()
            assert (file.tell(), file.size()) == (0, 4)
            assert file.read() == "ab\nc"
        assert (file.readline(), file.tell()) == ("ab\n", 3)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: gfile.GFile("no").read(), errors.NotFoundError, "no; No such file"),
        (lambda: gfile.GFile("no", "x"), errors.InvalidArgumentError, "mode is not"),
        (lambda: gfile.GFile("no", "rw"), errors.InvalidArgumentError, "mode is not"),
        (lambda: gfile.GFile("a").read(), errors.FailedPreconditionError, "Is a directory"),
        (lambda: gfile.GFile("a/x.txt").write("a"), errors.PermissionDeniedError, "writing"),
        (lambda: gfile.GFile("w", "w").read(), errors.PermissionDeniedError, "reading"),
        (lambda: gfile.GFile("a/x.txt").seek(-1), errors.InvalidArgumentError, "negative"),
        (lambda: gfile.GFile("a/x.txt").seek(0, 5), errors.InvalidArgumentError, "whence"),
        (lambda: gfile.GFile("a/x.txt").seek(), TypeError, "offset argument required"),
        (lambda: gfile.GFile("a/x.txt").seek(0, position=0), TypeError, "simultaneously"),
        (lambda: gfile.GFile("a/x.txt").read(-2), errors.InvalidArgumentError, "-1 or more"),
        (lambda: gfile.listdir("no"), errors.NotFoundError, "Could not find directory no"),
        (lambda: gfile.listdir("a/x.txt"), errors.NotFoundError, "Could not find directory"),
        (lambda: gfile.mkdir("n1/n2"), errors.NotFoundError, "No such file"),
        (lambda: gfile.makedirs("a/x.txt/q"), errors.FailedPreconditionError, "a/x.txt is not a"),
        (lambda: gfile.copy("a/x.txt", "a"), errors.AlreadyExistsError, "file already exists"),
        (lambda: gfile.copy("no", "c"), errors.NotFoundError, "no; No such file"),
        (lambda: gfile.copy("a", "c"), errors.InvalidArgumentError, "Invalid argument"),
        (lambda: gfile.copy("a/x.txt", "no/f"), errors.NotFoundError, "no/f; No such file"),
        (lambda: gfile.rename("no", "c"), errors.NotFoundError, "no; No such file"),
        (lambda: gfile.rename("a/x.txt", "é"), errors.AlreadyExistsError, "already exists"),
        (lambda: gfile.remove("no"), errors.NotFoundError, "no; No such file"),
        (lambda: gfile.remove("a"), errors.FailedPreconditionError, "Is a directory"),
        (lambda: gfile.rmtree("no"), errors.NotFoundError, "no not found"),
        (lambda: gfile.stat("no"), errors.NotFoundError, "no; No such file"),
        (lambda: gfile.glob([3]), TypeError, "binary or unicode"),
        (lambda: gfile.exists("s3://bucket/a"), errors.UnimplementedError, "scheme 's3'"),
    ],
)
def test_errors_are_tensorflows(folder, call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_numpy_reads_archives_from_them(folder):
    np.savez_compressed("a.npz", x=np.arange(3))
    with gfile.GFile("a.npz", "rb") as file:
        assert np.load(file)["x"].tolist() == [0, 1, 2]


def test_reading_past_the_end_is_out_of_range(folder):
    file = gfile.GFile("a/x.txt")
    file.seek(100)
    with pytest.raises(errors.OutOfRangeError, match="reached end of file"):
        file.read()


def test_folders_are_made_listed_and_removed(folder):
    gfile.mkdir("n1")
    gfile.mkdir("n1")
    gfile.makedirs("n1/n2/n3")
    gfile.makedirs("n1/n2/n3")
    assert gfile.isdir("n1/n2/n3")
    assert sorted(gfile.listdir("a")) == [".h", "b", "x.txt", "z[1].txt"]
    gfile.copy("a/x.txt", "n1/c")
    gfile.copy("a/x.txt", "n1/c", overwrite=True)
    gfile.rename("n1/c", "n1/d")
    assert gfile.exists("n1/d")
    assert not gfile.exists("n1/c")
    gfile.remove("n1/d")
    gfile.rmtree("n1")
    gfile.rmtree("é")
    assert not gfile.exists("n1")
    stat = gfile.stat("a/x.txt")
    assert (stat.length, stat.is_directory) == (14, False)
    assert stat.mtime_nsec == pathlib.Path("a/x.txt").stat().st_mtime_ns
    assert gfile.exists(f"file://{folder}/a")


def test_globs_are_tensorflows(folder):
    assert gfile.glob("a/*") == ["a/.h", "a/b", "a/x.txt", "a/z[1].txt"]
    assert gfile.glob(["a/?.txt", "a/b/*"]) == ["a/x.txt", "a/b/y.bin"]
    assert gfile.glob("a/z[[]1].txt") == gfile.glob("a/z\\[1].txt") == ["a/z[1].txt"]
    assert gfile.glob("a/z[1].txt") == []
    assert gfile.glob("a/[!a-y]*") == ["a/.h", "a/z[1].txt"]
    assert gfile.glob("a/[x-z].txt") == ["a/x.txt"]
    assert gfile.glob("*/*/*") == ["./a/b/y.bin"]
    assert gfile.glob("é") == ["é"]
    assert gfile.glob(str(folder / "*")) == [str(folder / "a"), str(folder / "é")]
    assert gfile.glob("no/*") == gfile.glob("no") == gfile.glob("") == gfile.glob([]) == []


def test_walking_goes_down_or_up(folder):
    down = [
        ("a", ["b"], [".h", "x.txt", "z[1].txt"]),
        ("a/b", [], ["y.bin"]),
    ]
    assert list(gfile.walk("a")) == down
    assert list(gfile.walk("a", topdown=False)) == down[::-1]
    seen = []
    assert list(gfile.walk("no", onerror=seen.append)) == []
    assert isinstance(seen[0], errors.NotFoundError)


def test_paths_are_joined():
    assert gfile.join("a", "b", "c") == "a/b/c"
    assert gfile.join("a", "/b") == "/b"
    assert gfile.join(b"a", b"b") == b"a/b"
    assert gfile.join("gs://x", "b") == "gs://x/b"


@pytest.mark.parametrize("code", range(1, 17))
def test_each_code_has_a_class_and_back(code):
    cls = errors.exception_type_from_error_code(code)
    assert errors.error_code_from_exception_type(cls) == code
    error = cls(None, None, "what was wrong")
    assert (error.message, str(error)) == ("what was wrong", "what was wrong")
    assert (error.error_code, error.op, error.node_def) == (code, None, None)
    assert isinstance(error, errors.OpError)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.message, again.error_code) == (cls, "what was wrong", code)


def test_errors_are_pythons_as_well():
    assert issubclass(errors.NotFoundError, FileNotFoundError)
    assert errors.InvalidArgumentError is hr.errors.InvalidArgumentError
    assert errors.DATA_LOSS == 15
    with pytest.raises(FileNotFoundError):
        gfile.GFile("no/such/file").read()
    with pytest.raises(AttributeError, match=r"tf\.errors\.NotFoundError"):
        errors.NotFoundErr  # noqa: B018


def test_text_and_bytes_of_compat():
    assert compat.as_bytes("é") == b"\xc3\xa9"
    assert compat.as_bytes(bytearray(b"a")) == b"a"
    assert compat.as_text(b"\xc3\xa9") == compat.as_str("é") == "é"
    assert compat.as_str_any(3) == "3"
    assert compat.path_to_str(pathlib.Path("a/b")) == "a/b"
    assert compat.path_to_str("a") == "a"
    for convert in (compat.as_bytes, compat.as_text):
        with pytest.raises(TypeError, match="binary or unicode"):
            convert(3)
