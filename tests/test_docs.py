"""Every example in docstrings and in Markdown runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import headrace as hr
import headrace.tf as tf

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(hr.__path__, "headrace.")
    if info.name != "headrace._headrace"
)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize("name", ["headrace", *MODULES])
def test_docstrings(name):
    module = importlib.import_module(name)
    # The examples are a user's code, not the module's.
    names = {**vars(module), "hr": hr, "np": np, "tf": tf, "__name__": "__main__"}
    results = doctest.testmod(module, globs=names, optionflags=FLAGS)
    assert results.failed == 0


def _blocks():
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text()
        for match in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, match.start()) + 2
            yield pytest.param(match[1], line, path, id=f"{path.name}:{line}")


@pytest.mark.parametrize(("code", "line", "path"), list(_blocks()))
def test_code_blocks(code, line, path, tmp_path, monkeypatch):
    _make_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__", "files": ["train.tfrecord"], "train_step": lambda *_: None}
    if ">>>" in code:
        test = doctest.DocTestParser().get_doctest(code, names, path.name, str(path), line)
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        assert runner.run(test).failed == 0
    else:
        exec(compile("\n" * (line - 1) + code, str(path), "exec"), names)


def _make_files(folder):
    """Make the files that the examples read."""
    (folder / "tests").symlink_to(ROOT / "tests")
    rng = np.random.default_rng(0)
    with hr.io.TFRecordWriter(folder / "train.tfrecord") as writer:
        for label in range(300):
            image = rng.random(784, np.float32)
            writer.write(
                hr.io.serialize_example({"image_floats": image, "image_class": label % 10})
            )


@pytest.mark.parametrize("name", [n for n in dir(hr.Dataset) if not n.startswith("_")])
def test_the_page_for_users_of_tf_data_names_every_method(name):
    if name == "iterator":
        name = "ds.iterator"
    assert re.search(rf"\b{name}\b", (ROOT / "docs" / "migrating.md").read_text())
