"""Writes messages.json: what the protobuf classes of `tf.train` give for the lines of messages.txt.

Each case is code and the repr of its last expression, or the class and the text of its error. Run
with TensorFlow 2.21 (protobuf 7, upb).
"""

import copy
import json
import pathlib
import pickle

import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).parent


def run(code):
    names = {"E": tf.train, "np": np, "copy": copy, "pickle": pickle}
    *first, last = code.split(";")
    try:
        for line in first:
            exec(line.strip(), names)
        return {"repr": repr(eval(last.strip(), names))}
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)}


cases = [{"code": code} | run(code) for code in (HERE / "messages.txt").read_text().splitlines()]
(HERE / "messages.json").write_text(json.dumps(cases, indent=0, ensure_ascii=True) + "\n")
