"""Writes csv.json: what TensorFlow's CsvDataset gives for files of every kind of trouble.

Run with a Python that has TensorFlow. Each case has the content of a file, base64, the arguments,
and the outcomes: rows of values as text, or the message of an error without the runtime's frame.
"""

import base64
import json
import pathlib
import tempfile

import tensorflow as tf

# A dtype alone is a required column, a pair has the default.
CASES = [
    (b"1,2\n3\n4,5,6\n7,8\n", ["int32", "int32"], {}),
    (b'1,"a""b"\n2,a"b\n3,"x,y"\n4,"z"\n', ["int32", "string"], {}),
    (b'3,"x"y\n"4",z\n', ["int32", "string"], {}),
    (b'1,a\n2,"open', ["int32", "string"], {}),
    (b"1,\n,2\n", ["int32", ("int32", 7)], {}),
    (b"1,\r2,3\r\n4,5", ["int32", ("int32", 7)], {}),
    (b"\n1,2\n\n3,4", [("int32", 9), ("int32", 8)], {}),
    (b"\n1\n\n", [("int32", 9)], {}),
    (b" 1 ,+2\n1_0,1\n-3,99999999999\n", ["int32", "int32"], {}),
    (b"9223372036854775807,-9223372036854775808\n", ["int64", "int64"], {}),
    (b" 1.5 ,+2\ninf,nan\n-inf,1e400\n1_0,.5\n5.,-\n1e-50,1\n", ["float32", "float64"], {}),
    (b'"",a\n', ["string", "string"], {}),
    (b'NA,"NA"\nNAN,\n', [("string", "d"), ("string", "e")], {"na_value": "NA"}),
    (b"h1,h2\n1,2\n", ["int32", "int32"], {"header": True}),
    (b'"h\n1",h2\n1,2\n', ["int32", "int32"], {"header": True}),
    (b"h", ["int32"], {"header": True}),
    (b"", ["int32"], {"header": True}),
    (b"", ["int32"], {}),
    (b"1,2,3\n4,5,6", ["int32", "int32"], {"select_cols": [0, 2]}),
    (b"1,2,3\n4,5,6\n7\n1,2,3,4\n", ["int32", "int32"], {"exclude_cols": [1]}),
    (b"1,2,3\n4,5\n", ["int32"], {"select_cols": [2]}),
    (b"1;2\n", ["int32", "int32"], {"field_delim": ";"}),
    (b"1\t2\n", ["int32", "string"], {"field_delim": "\t"}),
    (b'a"b,c\n', ["string", "string"], {"use_quote_delim": False}),
    (b'"1","2"\r\n3,4\r\n', ["int32", "int32"], {}),
    (b'a,"b\nc\r\nd"\ne,f\n', ["string", "string"], {}),
    (b"\xff,\x00\n", ["string", "string"], {}),
]


def column(spec):
    if isinstance(spec, str):
        return getattr(tf, spec)
    dtype, default = spec
    return tf.constant([default], getattr(tf, dtype))


def text(value):
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return repr(value.item())


def outcomes(content, columns, kwargs):
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        dataset = tf.data.experimental.CsvDataset(file.name, list(map(column, columns)), **kwargs)
        iterator, found = iter(dataset), []
        while True:
            try:
                found.append([text(value.numpy()) for value in next(iterator)])
            except StopIteration:
                return found
            except tf.errors.InvalidArgumentError as error:
                found.append(error.message.split("}} ")[-1].split(" [Op")[0])


if __name__ == "__main__":
    cases = [
        {
            "content": base64.b64encode(content).decode(),
            "columns": columns,
            "kwargs": kwargs,
            "expect": outcomes(content, columns, kwargs),
        }
        for content, columns, kwargs in CASES
    ]
    path = pathlib.Path(__file__).with_name("csv.json")
    lines = ",\n".join(json.dumps(case) for case in cases)
    path.write_text(f'{{"tf": "{tf.__version__}", "cases": [\n{lines}\n]}}\n')
