"""What would make a function traceable, for each reason that it is not.

A refusal says what the code does. Where the place that refuses knows no better, the hint is found
here by the reason's first words, so that none is without one. Nothing of this runs unless a
function was refused.
"""

from __future__ import annotations

__all__ = ["mend"]

_WHOLE = 'use NumPy or headrace functions for it, or leave it to executor="python" or "process"'
_CHOOSE = "choose with np.where(condition, a, b), or filter the elements before"
_SHAPE = (
    "give the element a known shape before: batch(..., drop_remainder=True), reshape, or "
    "output_signature= of the step above"
)
_OUTSIDE = "do it outside the function and capture the result"
_COPY = "return new values instead of changing old ones"
_RAGGED = "work on its .values and .row_splits, or make it dense before"
_SPARSE = "work on its .values and .indices, or make it dense before"
_CONSTANT = "give an argument that does not depend on the element"
_ALIKE = "return arrays, numbers, text, and tuples or dicts of them"
_RAISES = "mend the function for values of these dtypes and shapes"
_DECOMPOSED = (
    "use np.linalg.inv, solve, det, slogdet or cholesky, or compute it outside where it does not "
    "depend on the element"
)
_COPIED = "use what gives a new array: np.where(mask, new, x), np.concatenate, x.reshape"
_PLAIN = "keep what the function captures to numbers, text, arrays, tuples and plain functions"

# The first entry whose words begin the reason holds.
_HINTS: tuple[tuple[str, str], ...] = (
    *(
        (f"uses np.linalg.{name}", _DECOMPOSED)
        for name in (
            "cond",
            "eig",
            "lstsq",
            "matrix_rank",
            "pinv",
            "qr",
            "svd",
            "tensorinv",
            "tensorsolve",
        )
    ),
    *((f"uses np.{name}", _DECOMPOSED) for name in ("poly,", "polyfit", "roots")),
    *(
        (f"uses np.{name}", _COPIED)
        for name in ("copyto", "fill_diagonal", "place", "put", "putmask", "put_along_axis")
    ),
    *((f"uses .{name}", _COPIED) for name in ("fill", "put", "setfield", "resize")),
    ("uses .sort", "use np.sort(x), which gives a sorted copy"),
    ("uses .partition", "use np.partition(x, kth), which gives a copy"),
    ("uses .tolist", "leave the array as it is: it can be iterated over and indexed"),
    ("uses .item", "leave the number as it is: x[0] is one already"),
    ("uses .flat", "use x.ravel()"),
    ("uses .view", "use x.astype(dtype), or leave bits as they are"),
    ("uses np.apply_along_axis", "use functions with axis=, or headrace.control.map_fn"),
    ("uses np.apply_over_axes", "use the reduction with axis=(...) and keepdims=True"),
    ("uses np.piecewise", "use np.where, or np.select(conditions, values)"),
    ("uses np.empty_like", "use np.zeros_like"),
    ("uses np.histogram_bin_edges", "give the edges as np.linspace(low, high, bins + 1)"),
    ("uses np.trim_zeros", "slice from the first to the last of np.flatnonzero(x)"),
    ("uses np.unique_values", "use np.unique, which sorts them too"),
    ("uses np.logspace", "use 10.0 ** np.linspace(start, stop, num)"),
    ("uses np.geomspace", "use np.exp(np.linspace(np.log(start), np.log(stop), num))"),
    ("uses np.polymul", "use np.convolve, which keeps zeros in front"),
    ("uses np.sort_complex", "use np.sort(x.astype(np.complex128))"),
    ("uses np.may_share_memory", _OUTSIDE),
    ("uses np.shares_memory", _OUTSIDE),
    ("calls getattr", "write the attribute out: value.name"),
    ("calls eval", "write the expression out"),
    ("calls exec", "write the statements out"),
    ("calls hash", "use headrace.strings.to_hash_bucket_fast"),
    ("calls object", _ALIKE),
    ("calls __import__", "import the module outside the function"),
    ("branches on values without end", "loop a fixed number of times"),
    ("branches", _CHOOSE),
    ("gives another structure in each branch", "return the same structure from both branches"),
    ("loops on a value", "let the variables of the loop be tensors that keep dtype and shape"),
    ("sets in a loop", "let the variable be a tensor before the loop, too"),
    ("spreads a tensor over", _RAGGED),
    ("iterates over a ragged", _RAGGED),
    ("iterates over a sparse", _SPARSE),
    ("iterates over a tensor", "use an op on the whole tensor, or unbatch before"),
    ("iterates", "use an op on the whole value"),
    ("makes a Python int", "use x.astype(np.int64)"),
    ("makes a Python float", "use x.astype(np.float64)"),
    ("makes a Python complex", "use x.astype(np.complex128)"),
    ("makes text", "use headrace.strings, or make the text after the pipeline"),
    ("makes bytes", "use headrace.io, or make the bytes after the pipeline"),
    ("makes an array of a value", "use np.stack or np.concatenate of the values"),
    ("makes a sparse or ragged", "return its parts"),
    ("makes a matrix of a vector", "make the vector a matrix before"),
    ("makes", _CHOOSE),
    ("hashes", "use np.where or a captured array as the table: table[x]"),
    ("uses a value as a Python index", "index an array with it: np.asarray(values)[x]"),
    ("uses a value of another function's trace", "give it to the function as an argument"),
    ("uses a shape or axis that only a run knows", _SHAPE),
    ("reads a size", _SHAPE),
    ("reads a rank", _SHAPE),
    ("reads a length", _SHAPE),
    ("reads a shape", _SHAPE),
    ("compares arrays of a shape", _SHAPE),
    ("maps a function over rows", _SHAPE),
    ("cuts glimpses", "give them one size; tf.image.crop_to_bounding_box takes computed ones"),
    ("chooses values by where=", "choose with np.where(condition, x, y) before"),
    ("counts in bins", "give range=, or the edges as bins="),
    ("counts up to a number", "count to a number that does not depend on the element"),
    ("counts", "count integers or floats"),
    ("deletes at places", _CONSTANT),
    ("inserts at places", _CONSTANT),
    ("sorts into bins", "give the bins as a list or array of numbers"),
    ("fills an array of a shape", _SHAPE),
    ("fills an array of text", "capture an array of text that was made outside"),
    ("reads the imaginary part", "use np.zeros_like(x)"),
    ("reads rows of rows", _RAGGED),
    ("takes a row of a ragged", _RAGGED),
    ("slices the rows of a ragged", _RAGGED),
    ("gathers rows of a ragged", _RAGGED),
    ("joins rows of a ragged", _RAGGED),
    ("compares a ragged", _RAGGED),
    ("compares a sparse", _SPARSE),
    ("compares bytes with", "compare bytes with bytes, str with str, numbers with numbers"),
    ("captures a sparse or ragged", "capture its parts, as arrays"),
    ("assigns to items", "use np.where(mask, new, x), or np.concatenate of the parts"),
    ("deletes items", "use np.delete, or index with what is to stay"),
    ("changes an array in place, perhaps", "write x = x + y"),
    ("changes", _COPY),
    ("copies or pickles", "use x.copy()"),
    ("asks for the type", "use x.dtype and x.ndim"),
    ("converts", "convert in steps with x.astype(dtype)"),
    ("rounds", "use np.rint(x) of a float"),
    ("rolls by", "roll by integers"),
    ("looks for a value", "use (x == value).any()"),
    ("looks for values", "use np.isin(x, list(values))"),
    ("indexes with", "index with integers, slices, arrays of integers or masks"),
    ("slices with", "slice with integers"),
    ("reshapes in order", "reshape in order 'C', and transpose"),
    ("pads", "pad with the mode 'constant', 'edge', 'reflect' or 'symmetric'"),
    ("prints", "print outside of the pipeline"),
    ("returns", _ALIKE),
    ("raises", _RAISES),
    ("does something else each time", "make what it does depend on its arguments alone"),
    ("gets opaque objects", "give the elements arrays, numbers or text instead"),
    ("gets a batch of datasets", "unbatch before"),
    ("gets", "give the elements arrays, numbers or text instead"),
    ("works with", "it is called once for each element, which needs no graph"),
    ("draws random numbers for each row", "draw the numbers of all rows at once"),
    ("catches exceptions", "let exceptions pass, and leave elements out with ignore_errors()"),
    ("enters a with block", _OUTSIDE),
    ("stores to a global", "keep state with scan or enumerate, outside the function"),
    ("stores to the nonlocal", "keep state with scan or enumerate, outside the function"),
    ("deletes a global", _OUTSIDE),
    ("stores to an attribute", "return new values, or keep state with scan"),
    ("deletes an attribute", "return new values, or keep state with scan"),
    ("stores to a name of a class", "define the class outside the function"),
    ("reads a name of a class", "define the class outside the function"),
    ("defines a class", "define the class outside the function"),
    ("matches a class pattern", "read the fields by name"),
    ("uses super()", "call the method of the base class by its name"),
    ("imports", "import it outside the function"),
    ("is a generator or a coroutine", "return a value instead of yielding or awaiting"),
    ("is a generator", "return a value instead of yielding"),
    ("is a coroutine", "make it a plain function"),
    ("reads `", "define it before the dataset is made"),
    ("deletes the import", "leave the name alone"),
    ("rebinds", "use another name"),
    ("uses the text", "compute the time outside and capture it"),
    ("reads the attribute", "read it outside and capture the result"),
    ("reads the private attribute", "use a public attribute, or read it outside"),
    ("reads the property", "read it outside"),
    ("reads", "read it outside and capture the result"),
    ("cannot be examined", _PLAIN),
    ("passes", _COPY),
    ("gives", _COPY),
    ("stores by subscript", _COPY),
    ("unpacks arguments", "write the arguments out"),
    ("calls", _OUTSIDE),
)
_OF_USE: tuple[tuple[str, str], ...] = (
    ("of a ragged value", _RAGGED),
    ("of a sparse value", _SPARSE),
    ("of text", "use headrace.strings"),
    ("an iterator", "capture a list or an array"),
    ("a module", "read its attribute where it is used"),
    ("dtype with metadata", "use the dtype without metadata"),
    ("the opcode", "write the line in another way"),
    ("object", _PLAIN),
    ("class", _PLAIN),
    ("with", "leave that argument out"),
    ("pow with three", "use (x ** y) % z"),
)


def mend(reason: str) -> str:
    """Return what would make a function traceable that was refused for `reason`.

    Examples
    --------
    >>> mend("makes a Python int of a value")
    'use x.astype(np.int64)'
    """
    for words, hint in _HINTS:
        if reason.startswith(words):
            return hint
    if reason.startswith("uses"):
        if ": " in reason:  # an op that says what is wrong with its arguments
            return _RAISES
        for words, hint in _OF_USE:
            if words in reason:
                return hint
    return _WHOLE
