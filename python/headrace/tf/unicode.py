"""Text cut into pieces, and characters; part of ``tf.strings``."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidArgumentError
from ..strings.parts import ngram_attrs
from ..strings.unicode import in_bytes_of, is_of_engine, to_utf8
from .bridge import from_own, to_own
from .convert import convert, is_symbol
from .creation import zeros
from .dtypes import int32, string
from .kernels import check_allowed, run, static_shape
from .ragged_tensor import RaggedTensor
from .tensor import raw, wrap
from .text_ops import as_vector, cut, each, innermost, one_text, ragged_or_not

__all__ = [
    "bytes_split",
    "ngrams",
    "split",
    "unicode_decode",
    "unicode_decode_with_offsets",
    "unicode_encode",
    "unicode_script",
    "unicode_split",
    "unicode_split_with_offsets",
    "unicode_transcode",
]


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """Cut at a separator, or at white space; mirrors ``tf.strings.split``.

    Strings of which a function does not know the rank are a vector.

    Examples
    --------
    >>> tf.strings.split(["a b", "c"])
    <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    mark = b"" if sep is None else one_text(sep, "sep")
    return cut("string_split", as_vector(ragged_or_not(input)), sep=mark, maxsplit=maxsplit)[0]


def bytes_split(input: Any, name: str | None = None) -> Any:
    """Cut into single bytes; mirrors ``tf.strings.bytes_split``."""
    return cut("bytes_split", input)[0]


def unicode_decode(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    replace_control_characters: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the code points; mirrors ``tf.strings.unicode_decode``.

    Examples
    --------
    >>> tf.strings.unicode_decode("aé", "UTF-8").numpy()
    array([ 97, 233], dtype=int32)
    """
    text, attrs = _reading(
        input, input_encoding, errors, replacement_char, replace_control_characters
    )
    return cut("unicode_decode", text, **attrs)[0]


def unicode_decode_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    replace_control_characters: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the code points and where each begins."""
    text, attrs = _reading(
        input, input_encoding, errors, replacement_char, replace_control_characters
    )
    codes, starts = cut("unicode_decode", text, offsets=True, **attrs)
    if not is_of_engine(input_encoding):
        starts = from_own(in_bytes_of(to_own(codes), to_own(starts), input_encoding))
    return codes, starts


def unicode_split(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Cut into characters; mirrors ``tf.strings.unicode_split``."""
    _check_written(input_encoding)
    text, attrs = _reading(input, input_encoding, errors, replacement_char, False)
    return cut("unicode_split", text, **attrs)[0]


def unicode_split_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Cut into characters, and say where each begins."""
    _check_written(input_encoding)
    text, attrs = _reading(input, input_encoding, errors, replacement_char, False)
    return tuple(cut("unicode_split", text, offsets=True, **attrs))


def _check_written(encoding: str) -> None:
    """Refuse an encoding that TensorFlow does not write characters in."""
    check_allowed("output_encoding", encoding, "UTF-8", "UTF-16-BE", "UTF-32-BE")


def unicode_encode(
    input: Any, output_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Make strings of code points; mirrors ``tf.strings.unicode_encode``."""
    _check_written(output_encoding)
    check_allowed("errors", errors, "ignore", "replace", "strict")
    input = ragged_or_not(input)
    attrs = {
        "output_encoding": output_encoding, "errors": errors, "replacement_char": replacement_char,
    }  # fmt: skip
    if isinstance(input, RaggedTensor):
        if input.flat_values.shape.rank == 1:
            return innermost("unicode_encode", input, string, **attrs)
        inner = unicode_encode(input.flat_values, output_encoding, errors, replacement_char)
        return input.with_flat_values(inner)
    x = convert(input, int32)
    dims = static_shape(x)
    if dims == ():
        raise InvalidArgumentError("input_tensor's rank must be at least 1.")
    return run("unicode_encode", (x,), (None if dims is None else dims[:-1], string), **attrs)


def unicode_transcode(
    input: Any, input_encoding: str, output_encoding: str, errors: str = "replace",
    replacement_char: int = 65533, replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Change the encoding; mirrors ``tf.strings.unicode_transcode``."""
    _check_written(output_encoding)
    text, attrs = _reading(
        input, input_encoding, errors, replacement_char, replace_control_characters
    )
    return each("unicode_transcode", text, string, output_encoding=output_encoding, **attrs)


def _reading(
    input: Any, encoding: str, errors: str, replacement: int, controls: bool
) -> tuple[Any, dict[str, Any]]:
    """Return strings and how the engine reads them; what Python decodes becomes UTF-8."""
    check_allowed("errors", errors, "strict", "replace", "ignore")
    if not is_of_engine(encoding):
        input, encoding = _python_decoded(input, encoding, errors, replacement), "UTF-8"
    return input, {
        "input_encoding": encoding,
        "errors": errors,
        "replacement_char": replacement,
        "replace_control_characters": bool(controls),
    }


def _python_decoded(input: Any, encoding: str, errors: str, replacement: int) -> Any:
    mapper = getattr(type(input), "_map_values", None)
    if mapper is not None:
        return mapper(lambda x: _python_decoded(x, encoding, errors, replacement), input)
    x = convert(input, string)
    if is_symbol(x):
        return x._tracer.unrecorded(f"a conversion of {encoding}", static_shape(x), string)
    return wrap(to_utf8(raw(x), encoding, errors, replacement))


def unicode_script(input: Any, name: str | None = None) -> Any:
    """Return ICU's number of the script of each code point; mirrors ``tf.strings.unicode_script``.

    Examples
    --------
    >>> tf.strings.unicode_script([ord("a"), ord("я")]).numpy()
    array([25,  8], dtype=int32)
    """
    return each("unicode_script", input, int32, int32)


def ngrams(
    data: Any, ngram_width: Any, separator: str = " ", pad_values: Any = None,
    padding_width: Any = None, preserve_short_sequences: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Join neighbours of each row; mirrors ``tf.strings.ngrams``.

    Examples
    --------
    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy()
    array([b'a b', b'b c'], dtype=object)
    """
    attrs = ngram_attrs(ngram_width, one_text(separator, "separator"), pad_values, padding_width,
                        preserve_short_sequences)  # fmt: skip
    data = ragged_or_not(data)
    if isinstance(data, RaggedTensor):
        return innermost("string_ngrams", data, string, **attrs)
    x = convert(data, string)
    dims = static_shape(x)
    if dims is None:
        raise ValueError("Rank of data must be known.")
    if dims == ():
        raise InvalidArgumentError("Data must have rank>0")
    if len(dims) == 2 and dims[0] == 0:
        # TensorFlow's rows of nothing have one place, whatever the widths.
        return zeros((0, 1), string)
    shape = (*dims[:-1], None) if is_symbol(x) else dims
    return run("string_ngrams", (x,), (shape, string), **attrs)
