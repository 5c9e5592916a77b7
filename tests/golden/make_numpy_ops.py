"""Writes numpy_ops.json: what NumPy 2 gives for each operation of a graph on special values.

Each case has an operation, its static arguments, inputs and the result, perhaps a `second` one;
arrays are dtype, shape and the hex of their little-endian bytes. `close` marks results that may
differ by 4 units in the last place, `sum` those that may differ by n eps of the sum of magnitudes.

Left out, since NumPy itself does not define them: the sign of a zero that maximum and minimum
give for zeros of both signs, and casts of floats out of the range of an integer type.
"""

import itertools
import json
import pathlib

import numpy as np

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
REAL = SIGNED + UNSIGNED + FLOATS

cases = []


def array(value):
    value = np.asarray(value)
    return {"dtype": value.dtype.name, "shape": list(value.shape), "hex": value.tobytes().hex()}


def case(op, inputs, result, attrs=None, **how):
    inputs = [array(x) for x in inputs]
    cases.append({"op": op, "attrs": attrs or {}, "inputs": inputs, "expect": array(result)} | how)


def special(dtype, zeros=True):
    if dtype == "bool":
        return np.array([False, True])
    if dtype in COMPLEX:
        return np.array([0, 1, -2.5, 1j, 3 - 4j, -0.5 + 2j], dtype)
    if dtype in FLOATS:
        info = np.finfo(dtype)
        values = [0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 7.25, info.max, info.min, info.tiny, info.eps]
        values += [np.inf, -np.inf, np.nan] + ([-0.0] if zeros else [])
        return np.array(values, dtype)
    info = np.iinfo(dtype)
    values = {0, 1, 2, 3, 7, 100, info.max, info.max - 1, info.min, info.min + 1}
    if info.min < 0:
        values |= {-1, -2, -7}
    return np.array(sorted(values), dtype)


def pairs(op, dtypes, zeros=True, **how):
    for dtype in dtypes:
        a, b = special(dtype, zeros)[:, None], special(dtype, zeros)[None, :]
        case(op, [a, b], getattr(np, op)(a, b), **how)


def binary():
    for op in ["add", "subtract", "multiply"]:
        pairs(op, REAL + COMPLEX)
    pairs("true_divide", FLOATS + COMPLEX)
    pairs("floor_divide", REAL)
    pairs("remainder", REAL)
    for op in ["maximum", "minimum", "fmax", "fmin"]:
        pairs(op, ["bool", *REAL], zeros=False)
    for op in ["arctan2", "hypot", "power"]:
        pairs(op, FLOATS, close=True)
    pairs("copysign", FLOATS)
    for dtype in SIGNED + UNSIGNED:
        base, exponent = special(dtype)[:, None], np.array([0, 1, 2, 5, 63, 100], dtype)
        case("power", [base, exponent], base**exponent)
    for op in ["fmod", "gcd", "lcm"]:
        pairs(op, SIGNED + UNSIGNED)
    pairs("fmod", FLOATS)
    for op in ["heaviside", "nextafter"]:
        pairs(op, FLOATS)
    for op in ["logaddexp", "logaddexp2"]:
        pairs(op, FLOATS, close=True)
    for dtype in FLOATS:
        x, exponent = special(dtype)[:, None], np.array([0, 1, -1, 30, -30, 2000, -2000], "int32")
        case("ldexp", [x, exponent], np.ldexp(x, exponent))
        case("ldexp", [x, exponent.astype("int64")], np.ldexp(x, exponent.astype("int64")))
    for op in ["less", "less_equal", "greater", "greater_equal", "maximum", "minimum"]:
        pairs(op, COMPLEX)
    for op in ["equal", "less", "greater_equal"]:
        x, y = special("int64")[:, None], special("uint64")[None, :]
        case(op, [x, y], getattr(np, op)(x, y))
        case(op, [y, x], getattr(np, op)(y, x))
    for op in ["equal", "not_equal", "logical_and", "logical_or", "logical_xor"]:
        pairs(op, ["bool", *REAL, *COMPLEX])
    for op in ["less", "less_equal", "greater", "greater_equal"]:
        pairs(op, ["bool", *REAL])
    for op in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
        pairs(op, ["bool", *SIGNED, *UNSIGNED])
    for op in ["left_shift", "right_shift"]:
        pairs(op, SIGNED + UNSIGNED)


def unary():
    close = "exp log log2 log10 log1p expm1 exp2 sin cos tan arcsin arccos arctan sinh cosh tanh"
    rules = [
        (["negative", "square"], REAL + COMPLEX, {}),
        (["absolute"], ["bool", *REAL], {}),
        (["absolute"], COMPLEX, {"close": True}),
        (["sign"], REAL, {}),
        (["floor", "ceil", "trunc", "rint", "sqrt", "reciprocal"], FLOATS, {}),
        (["logical_not"], ["bool", *REAL, *COMPLEX], {}),
        (["invert"], ["bool", *SIGNED, *UNSIGNED], {}),
        (["isnan", "isinf", "isfinite"], ["bool", *REAL], {}),
        (["conjugate", "real", "imag"], COMPLEX, {}),
        (close.split(), FLOATS, {"close": True}),
        (["cbrt", "arcsinh", "arccosh", "arctanh"], FLOATS, {"close": True}),
        (["deg2rad", "rad2deg"], FLOATS, {"close": True}),
        (["spacing", "signbit"], FLOATS, {}),
        (["bitwise_count"], SIGNED + UNSIGNED, {}),
        (["rint", "isnan", "isinf", "isfinite"], COMPLEX, {}),
        (["sign"], COMPLEX, {"close": True}),
    ]
    for ops, dtypes, how in rules:
        for op, dtype in itertools.product(ops, dtypes):
            x = special(dtype)
            if how and dtype in FLOATS:
                # Sine of the largest float needs a reduction that libraries do differently.
                x = np.append(x[(abs(x) < 1e4) | ~np.isfinite(x)], [0.25, 1.5, -0.75]).astype(dtype)
            case(op, [x], getattr(np, op)(x), **how)


def parted():
    for dtype in FLOATS:
        for op in ["modf", "frexp"]:
            x = special(dtype)
            first, second = getattr(np, op)(x)
            if op == "frexp":  # C leaves the exponent of what is not finite open
                x = x[np.isfinite(x)]
                first, second = np.frexp(x)
            case(op, [x], first, second=array(second))


def casts():
    every = ["bool", *REAL, *COMPLEX]
    for source, target in itertools.product(every, every):
        x = special(source)
        if source in FLOATS + COMPLEX and target in SIGNED + UNSIGNED:
            x = np.array([0, 1, 2.5, 3.75, 100], source)
            if target in SIGNED:
                x = np.append(x, [-1.5, -100]).astype(source)
        case("cast", [x], x.astype(target), {"dtype": target})


def shapes():
    x = np.arange(24, dtype="int32").reshape(2, 3, 4)
    thin = x[:, :1]
    case("reshape", [x], x.reshape(4, -1), {"shape": [4, -1]})
    case("transpose", [x], x.T)
    case("transpose", [x], x.transpose(1, 2, 0), {"axes": [1, 2, 0]})
    case("expand_dims", [x], np.expand_dims(x, (0, -1)), {"axis": [0, -1]})
    case("squeeze", [thin], np.squeeze(thin, 1), {"axis": 1})
    case("broadcast_to", [thin], np.broadcast_to(thin, (2, 2, 3, 4)), {"shape": [2, 2, 3, 4]})
    case("concatenate", [x, x[:, :2]], np.concatenate([x, x[:, :2]], 1), {"axis": 1})
    case("stack", [x, x + 1], np.stack([x, x + 1], -1), {"axis": -1})
    case("select", [x > 9, x, -x], np.where(x > 9, x, -x))
    case("getitem", [x, np.int64(-1)], x[-1])
    case("getitem", [x, np.array([1, 0, 1])], x[[1, 0, 1]])

    def tag(item):
        if isinstance(item, slice):
            return [item.start, item.stop, item.step]
        return "..." if item is Ellipsis else item

    keys = [
        np.s_[0], np.s_[-1, 1:], np.s_[..., 0], np.s_[:, None, ::2], np.s_[::-1, ::-2, 1:-1],
        np.s_[1, 2, 3], np.s_[5:], np.s_[:, 2:0:-1, None, ...], np.s_[...], np.s_[0, ..., -3:100:2],
    ]  # fmt: skip
    for key in keys:
        items = key if isinstance(key, tuple) else (key,)
        case("slice", [x], x[key], {"key": [tag(item) for item in items]})


def picking():
    x = np.arange(24, dtype="int32").reshape(2, 3, 4)
    at = np.array([[2, 0], [-1, 1]])
    case("take", [x, at], np.take(x, at, axis=1), {"axis": 1})
    case("take", [x, at], np.take(x, at, axis=0, mode="wrap"), {"axis": 0, "mode": "wrap"})
    case("take", [x, at * 9], np.take(x, at * 9, 2, mode="clip"), {"axis": 2, "mode": "clip"})
    along = np.array([[[0, 3]], [[-1, 1]]])
    case("take_along_axis", [x, along], np.take_along_axis(x, along, 2), {"axis": 2})
    case("index", [x, at[0], at[1]], x[:, at[0], at[1]], {"key": [[None] * 3, "i", "i"]})
    case("index", [x, at % 2, at], x[at % 2, :, at], {"key": ["i", [None] * 3, "i"]})
    case("index", [x, at % 2], x[..., None, at % 2], {"key": ["...", None, "i"]})
    case("index", [x, x > 9], x[x > 9], {"key": ["i"]})
    case("index", [x, x[:, :, 0] > 9], x[x[:, :, 0] > 9], {"key": ["i"]})
    case("argwhere", [x % 5], np.argwhere(x % 5))
    for mode in ["edge", "reflect", "symmetric", "wrap"]:
        widths = [1, 5, 0, 7, 9, 2]
        result = np.pad(x, np.reshape(widths, (3, 2)), mode)
        case("pad", [x], result, {"mode": mode, "widths": widths})
    filler = np.array(7, "int32")
    case("pad", [x, filler], np.pad(x, 1, constant_values=7), {"widths": [1] * 6})
    case("tile", [x], np.tile(x, (2, 1, 1, 3)), {"reps": [2, 1, 1, 3]})
    case("repeat", [x], np.repeat(x, [2, 0, 1], 1), {"axis": 1, "repeats": [2, 0, 1]})
    case("roll", [x, np.array([4, -1])], np.roll(x, (4, -1), (0, 2)), {"axis": [0, 2]})
    case("diagonal", [x], np.diagonal(x, -1, 1, 2), {"offset": -1, "axis1": 1, "axis2": 2})
    case("diag", [x[0, 0]], np.diag(x[0, 0], 2), {"offset": 2})
    case("band_part", [x], np.tril(np.triu(x, -1), 2), {"lower": -1, "upper": 2})
    for dtype in ["bool", *REAL, *COMPLEX]:
        values = special(dtype, zeros=False)
        values = np.concatenate([values, values[::-2]])
        case("unique", [values], np.unique(values))
        case("isin", [values, values[:3]], np.isin(values, values[:3]))
        ordered = np.sort(values)
        for right, side in [(False, "left"), (True, "right")]:
            result = np.searchsorted(ordered, values, side)
            case("searchsorted", [ordered, values], result, {"right": right})
    numbers = np.array([3, 1, 1, 0, 5])
    case("bincount", [numbers], np.bincount(numbers, minlength=8), {"minlength": 8})
    weights = np.array([0.5, 1, 2, 0.25, 3])
    result = np.bincount(numbers, weights)
    case("bincount", [numbers, weights], result, {"dtype": "float64"})


def reductions():
    rng = np.random.default_rng(7)
    inputs = [rng.integers(-50, 50, (3, 4, 5)), rng.normal(size=(3, 4, 5))]
    inputs += [rng.normal(size=shape).astype(dtype) for shape, dtype in
               [((2, 300), "float32"), ((4, 30), "float16")]]  # fmt: skip
    for x in inputs:
        for axis, keepdims in [(None, False), (0, False), (-1, True), ((0, 1), False)]:
            attrs = {"axis": list(axis) if isinstance(axis, tuple) else axis, "keepdims": keepdims}
            for op in ["sum", "prod", "mean"]:
                result = getattr(np, op)(x, axis=axis, keepdims=keepdims)
                case(op, [x], result, attrs | {"dtype": result.dtype.name}, sum=True)
            for op in ["max", "min", "any", "all"]:
                case(op, [x], getattr(np, op)(x, axis=axis, keepdims=keepdims), attrs)
            if not isinstance(axis, tuple):
                for op in ["argmax", "argmin"]:
                    case(op, [x], getattr(np, op)(x, axis=axis, keepdims=keepdims), attrs)
    for x in [special("float32"), special("bool"), special("int8")]:
        for op in ["max", "min", "any", "all", "argmax", "argmin"]:
            case(op, [x], getattr(np, op)(x))
    case("sum", [special("bool")], special("bool").sum(), {"dtype": "int64"})


def more_reductions():
    rng = np.random.default_rng(9)
    x = rng.normal(size=(3, 4, 5))
    for axis, keepdims in [(None, False), (1, True), ((0, 2), False)]:
        along = {"axis": list(axis) if isinstance(axis, tuple) else axis, "keepdims": keepdims}
        for dtype in [*FLOATS, *COMPLEX]:
            values = x.astype(dtype)
            result = np.var(values, axis=axis, keepdims=keepdims, ddof=1)
            case("var", [values], result, along | {"ddof": 1}, sum=True)
        for dtype in FLOATS:
            values = x.astype(dtype)
            case("median", [values], np.median(values, axis, keepdims=keepdims), along, sum=True)
        case("count_nonzero", [x > 0], np.count_nonzero(x > 0, axis, keepdims=keepdims), along)
        case("quantile", [x], np.quantile(x, 0.3, axis, keepdims=keepdims), along | {"q": 0.3},
             sum=True)  # fmt: skip
        shares = [0.25, 0.5, 0.999]
        case("quantile", [x], np.quantile(x, shares, axis, keepdims=keepdims),
             along | {"q": shares}, sum=True)  # fmt: skip
    numbers = rng.integers(-50, 50, (3, 4, 5))
    for op in ["fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_xor"]:
        case(f"reduce_{op}", [numbers], getattr(np, op).reduce(numbers, 1), {"axis": 1})
    for dtype in COMPLEX:
        for op in ["max", "min"]:
            case(op, [special(dtype)], getattr(np, op)(special(dtype)))


def order():
    for dtype in ["bool", *REAL, *COMPLEX]:
        x = np.concatenate([special(dtype), special(dtype)[::-1]])
        case("sort", [x], np.sort(x, kind="stable"))
        case("argsort", [x], np.argsort(x, kind="stable"))
    x = np.random.default_rng(4).integers(0, 9, (3, 4, 5)).astype("int16")
    for axis in range(3):
        case("sort", [x], np.sort(x, axis), {"axis": axis})
        case("argsort", [x], np.argsort(x, axis, kind="stable"), {"axis": axis})
    falling = -np.sort(-x, axis=-1)
    case("sort", [x], falling, {"descending": True})
    case("top_k", [x], falling[..., :2], {"k": 2})


def running():
    for dtype in [*SIGNED, *UNSIGNED, *FLOATS, *COMPLEX]:
        x = np.random.default_rng(5).normal(size=(2, 7, 3)) * 30
        x = (abs(x) if dtype in UNSIGNED else x).astype(dtype)
        for name, op in [("add", "cumsum"), ("multiply", "cumprod")]:
            for axis in [0, 1, 2]:
                result = getattr(np, op)(x, axis, dtype=dtype)
                case("cumulate", [x], result, {"op": name, "axis": axis}, close=True)
        if dtype not in COMPLEX:
            for op in ["maximum", "minimum", "fmax", "fmin"]:
                result = getattr(np, op).accumulate(x, 1)
                case("cumulate", [x], result, {"op": op, "axis": 1})


def products():
    rng = np.random.default_rng(6)
    equations = [
        ("ij,jk->ik", (2, 3), (3, 4)), ("ij,j->i", (2, 3), (3,)), ("i,i->", (20,), (20,)),
        ("...ij,...jk->...ik", (2, 1, 2, 3), (4, 3, 2)), ("ijk,kjl->li", (2, 3, 4), (4, 3, 2)),
        ("i,j->ij", (2,), (3,)), ("ii,jk->k", (3, 3), (2, 2)),
    ]  # fmt: skip
    for equation, first, second in equations:
        for dtype in ["bool", *SIGNED, *UNSIGNED, *FLOATS, *COMPLEX]:
            a, b = (abs(rng.normal(size=shape) * 3).astype(dtype) for shape in (first, second))
            result = np.einsum(equation, a, b)
            case("einsum", [a, b], result, {"equation": equation}, sum=True)
    x = rng.normal(size=(3, 3))
    for equation in ["ii->", "ii->i", "ij->ji", "ij->j", "...->..."]:
        case("einsum", [x], np.einsum(equation, x), {"equation": equation}, sum=True)
    three = [rng.normal(size=shape) for shape in [(2, 3), (3, 4), (4,)]]
    case("einsum", three, np.einsum("ij,jk,k->i", *three), {"equation": "ij,jk,k->i"}, sum=True)


np.seterr(all="ignore")
parts = [
    binary,
    unary,
    parted,
    casts,
    shapes,
    picking,
    reductions,
    more_reductions,
    order,
    running,
    products,
]
for part in parts:
    part()
lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
text = f'{{"numpy":"{np.__version__}","cases":[\n{lines}\n]}}\n'
pathlib.Path(__file__).with_name("numpy_ops.json").write_text(text)
