"""Functions of `headrace.tf` take the arguments of TensorFlow's, by name and by place."""

import inspect
import json
import operator
import pathlib

import pytest

import headrace.tf as tf

GOLDEN = json.loads(
    pathlib.Path(__file__).with_name("golden").joinpath("tf_signatures.json").read_text()
)
# Their arguments say how graphs are made.
OF_GRAPHS = {"function", "name_scope"}
# Defaults that mean the same.
ALIKE = {"keepdims": False, "data_format": "NHWC"}


def owner_of(module):
    return operator.attrgetter(module)(tf) if module else tf


FUNCTIONS = [
    (module, name)
    for module, names in GOLDEN.items()
    for name in names
    if hasattr(owner_of(module), name) and name not in OF_GRAPHS
]


def shown(default):
    """Return a default as the golden file has it."""
    if default is None or isinstance(default, bool | int | float | str):
        return default
    if isinstance(default, tuple):
        return list(default)
    return {"name": getattr(default, "name", getattr(default, "__name__", str(default)))}


def test_most_of_them_are_there():
    assert len(FUNCTIONS) > 600


@pytest.mark.parametrize(("module", "name"), FUNCTIONS, ids=lambda part: part or "tf")
def test_arguments_have_tensorflows_names_and_places(module, name):
    theirs = GOLDEN[module][name]
    found = inspect.signature(getattr(owner_of(module), name)).parameters.values()
    ours = [p for p in found if p.kind is not p.KEYWORD_ONLY]
    assert [p.name for p in ours[: len(theirs)]] == [p[0] for p in theirs]
    assert [p.name for p in ours[len(theirs) :]] in ([], ["name"])
    for our, (argument, *default) in zip(ours, theirs, strict=False):
        if argument in ("name", "hasher_spec") or our.kind in (our.VAR_POSITIONAL, our.VAR_KEYWORD):
            continue
        if default == [None] and argument in ALIKE and our.default is not None:
            default = [ALIKE[argument]]
        assert ([] if our.default is our.empty else [shown(our.default)]) == default, argument
