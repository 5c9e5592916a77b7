"""Writes csv.json: what TensorFlow's CsvDataset gives for files of every kind of trouble, and
make_csv_dataset for its keywords.

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


A = b"id,score,name,when,big,none\n" + b"".join(
    b"%d,%d.5,n%d,%d,%d,\n" % (i, i, i, i * 10**10, i * 10**39) for i in range(7)
)
B = A.split(b"\n", 1)[0] + b"\n" + b"".join(b"%d,,m%d,5,1,\n" % (i, i) for i in range(10, 14))
BAD = b"a,b\n1,2\nx,3\n4,5,6\n7,8\n"
ONE = {"batch_size": 3, "num_epochs": 1, "shuffle": False}
FRAMES = [
    ([A], ONE),
    ([A, B], ONE),
    ([A, B], {**ONE, "label_name": "name"}),
    ([A, B], {**ONE, "select_columns": ["name", "id"]}),
    ([A, B], {**ONE, "select_columns": [2, 0], "label_name": "id"}),
    ([A, B], {**ONE, "num_rows_for_inference": 1, "select_columns": ["id", "score"]}),
    ([A, B], {**ONE, "num_epochs": 2, "batch_size": 4}),
    ([A, B], {**ONE, "num_parallel_reads": 2}),
    ([A, B], {"batch_size": 4, "num_epochs": 1, "shuffle_seed": 3}),
    ([A, B], {"batch_size": 4, "num_epochs": 3, "shuffle_seed": 3, "shuffle_buffer_size": 4}),
    ([A, B, A], {"batch_size": 5, "num_epochs": None, "shuffle_seed": 1}),
    ([b"1,2\n3,NA\n"], {**ONE, "header": False, "column_names": ["x", "y"], "na_value": "NA"}),
    ([BAD], {**ONE, "ignore_errors": True, "column_defaults": [[0], [0]]}),
    ([b"a;b\n1;'x'\n"], {**ONE, "field_delim": ";", "use_quote_delim": False}),
]


def frames(contents, kwargs):
    with tempfile.TemporaryDirectory() as folder:
        for number, content in enumerate(contents):
            pathlib.Path(folder, f"{number}.csv").write_bytes(content)
        dataset = tf.data.experimental.make_csv_dataset(f"{folder}/*.csv", **kwargs)
        return [
            [(name, values(column)) for name, column in features.items()]
            if not isinstance(features, tuple)
            else [[(name, values(c)) for name, c in features[0].items()], values(features[1])]
            for features in dataset.take(9)
        ]


def values(tensor):
    data = tensor.numpy()
    listed = [text(value) for value in data]
    return {"dtype": tensor.dtype.name, "data": listed}


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
    made = [
        {
            "contents": [base64.b64encode(content).decode() for content in contents],
            "kwargs": kwargs,
            "expect": frames(contents, kwargs),
        }
        for contents, kwargs in FRAMES
    ]
    others = ",\n".join(json.dumps(case) for case in made)
    path.write_text(
        f'{{"tf": "{tf.__version__}", "cases": [\n{lines}\n], "frames": [\n{others}\n]}}\n'
    )
