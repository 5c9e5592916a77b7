"""Parsing Examples gives what TensorFlow gives, errors included."""

import base64

import numpy as np
import pytest
from conftest import assert_same, decode, golden

import headrace as hr

CASES = golden("example.json")["cases"]


def _feature(value):
    value = dict(value)
    kind = getattr(hr.io, value.pop("kind"))
    default = value.get("default_value")
    if isinstance(default, dict):
        value["default_value"] = decode(default)
    elif value.get("dtype") == "string" and isinstance(default, str):
        value["default_value"] = default.encode()
    if "partitions" in value:
        value["partitions"] = [
            getattr(hr.io.RaggedFeature, name)(argument) for name, argument in value["partitions"]
        ]
    return kind(**value)


def _parse(case):
    features = {name: _feature(value) for name, value in case["features"].items()}
    if case["op"] == "parse_single_example":
        return hr.io.parse_single_example(base64.b64decode(case["serialized"]), features)
    messages = np.array([base64.b64decode(m) for m in case["serialized"]], dtype=object)
    names = case["example_names"]
    if names is not None:
        names = np.array([name.encode() for name in names], dtype=object)
    return hr.io.parse_example(messages, features, names)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["name"])
def test_parsing_gives_what_tensorflow_gives(case):
    if "error" in case["expect"] and "class" in case["expect"]["error"]:
        with pytest.raises((hr.errors.HeadraceError, ValueError)):
            _parse(case)
    else:
        assert_same(_parse(case), decode(case["expect"]))


@pytest.mark.parametrize(
    "case", [c for c in CASES if c["op"] == "parse_single_example"], ids=lambda c: c["name"]
)
def test_a_mapped_parser_gives_what_the_eager_one_gives(case):
    def parsed():
        features = {name: _feature(value) for name, value in case["features"].items()}
        dataset = hr.Dataset.from_tensors(base64.b64decode(case["serialized"]))
        return list(
            dataset.map(lambda m: hr.io.parse_single_example(m, features), executor="native")
        )

    if "error" in case["expect"] and "class" in case["expect"]["error"]:
        with pytest.raises((hr.errors.HeadraceError, ValueError)):
            parsed()
    else:
        (element,) = parsed()
        assert_same(element, decode(case["expect"]))
