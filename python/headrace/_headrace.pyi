"""Types of the binding. The public API is the typed Python around it."""

from collections.abc import Callable, Sequence
from collections.abc import Iterator as PyIterator
from typing import Any, Protocol, final, type_check_only

from typing_extensions import disjoint_base

from headrace.spec import AnySpec

__all__ = [
    "FunctionSeeds",
    "Graph",
    "GraphBuilder",
    "Iterator",
    "Plan",
    "RecordReader",
    "RecordWriter",
    "__version__",
    "argument_key",
    "assert_cardinality",
    "batch",
    "cache",
    "call_at",
    "call_seed",
    "choose_from_datasets",
    "close_all",
    "concatenate",
    "counted",
    "counter",
    "csv",
    "decode_message",
    "echo",
    "echo_spec",
    "element_seed",
    "encode_message",
    "enumerate",
    "filter",
    "fingerprint",
    "fixed_length_record",
    "flat_map",
    "fresh_pair",
    "from_generator",
    "from_source",
    "from_tensor_slices",
    "from_tensors",
    "group_by_window",
    "ignore_errors",
    "index_tfrecord",
    "interleave",
    "is_in_call",
    "load",
    "map",
    "pack",
    "padded_batch",
    "placeholder",
    "prefetch",
    "ragged_batch",
    "random",
    "range",
    "rebatch",
    "reduce",
    "rejection_resample",
    "repeat",
    "reshard",
    "run_op",
    "salvage",
    "sample_from_datasets",
    "save",
    "scan",
    "serialize_example",
    "shard",
    "sharded_snapshot",
    "shuffle",
    "skip",
    "snapshot",
    "sparse_batch",
    "take",
    "take_while",
    "text_line",
    "tfrecord",
    "unbatch",
    "unique",
    "window",
    "zip",
]
__version__: str

# Nests: tuples, dicts, namedtuples, dataclasses, attrs instances and None are structure; any other
# object is a leaf. Specs are nests whose leaves are headrace.spec objects; an unknown element
# spec is an `UnknownSpec`.
_Nest = Any

@final
class Graph:
    """What a traced function recorded."""

    structure_spec: _Nest
    def __str__(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class FunctionSeeds:
    """What random ops in a function draw by, from one run to the next."""

    def __new__(
        cls,
        global_seed: int,
        pair: tuple[int, int] | None,
        entropy: tuple[int, int],
        drawn: int = 0,
    ) -> FunctionSeeds: ...
    def __reduce__(
        self,
    ) -> tuple[type[FunctionSeeds], tuple[int, tuple[int, int] | None, tuple[int, int], int]]: ...

@final
class GraphBuilder:
    """Records ops; values are numbers."""

    def __new__(cls) -> GraphBuilder: ...
    def input(self, spec: AnySpec) -> int: ...
    def constant(self, value: Any) -> int: ...
    def add(self, op: str, attrs: dict[str, Any], inputs: list[int]) -> list[int]: ...
    def spec(self, value: int) -> AnySpec: ...
    def finish(self, outputs: _Nest) -> Graph: ...  # leaves of the nest are value numbers

def run_op(op: str, attrs: dict[str, Any], args: list[Any]) -> list[Any]:
    """Run one op on arrays at once: the eager twin of `GraphBuilder.add`."""

@type_check_only
class UserFunction(Protocol):
    """What the binding needs of `headrace.function.Function`."""

    name: str
    fingerprint: int
    callable: Callable[..., Any]
    on_trial: bool
    # A graph, or why the function runs as Python and the spec of what it gives.
    def prepare(self, element_spec: _Nest) -> Graph | tuple[str, _Nest]: ...

@type_check_only
class GeneratorSource(Protocol):
    """What the binding needs of `headrace.generator.Source`."""

    name: str
    element_spec: _Nest
    # A fresh iterator of raw yields.
    def open(self) -> PyIterator[Any]: ...
    # A yield as a nest of arrays that fits the element spec; raises with the element's number.
    def convert(self, value: Any, index: int) -> _Nest: ...

@type_check_only
class IndexedSource(Protocol):
    """What the binding needs of `headrace.source.Source`."""

    name: str
    element_spec: _Nest
    length: int
    # Whether `slice` and `pick` give rows as one array; otherwise `item` gives nests.
    stacked: bool
    def item(self, index: int) -> _Nest: ...
    def slice(self, start: int, stop: int) -> Any: ...
    def pick(self, indices: list[int]) -> Any: ...

@final
class Plan:
    """One node of a pipeline's plan."""

    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> list[Plan]: ...
    @property
    def element_spec(self) -> _Nest: ...
    @property
    def cardinality(self) -> int: ...
    def count(self, find: bool = True) -> int: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def quiet(self) -> bool: ...
    # As it runs with these options, and what was done to it.
    def explain(self, options: str) -> str: ...
    def at(self, index: int) -> Any: ...
    def fingerprint(self) -> int: ...
    def rewrites(self, options: str) -> list[str]: ...
    # (kind, value): the seed pair and number of pairs drawn by a shuffle, for pickling
    def seeds(self) -> tuple[int, int, int] | None: ...
    def advance_seeds(self, count: int) -> None: ...

def range(start: int, stop: int, step: int, dtype: str) -> Plan: ...
def counted(input: Plan, one_by_one: Plan, cycle_length: int | None) -> Plan: ...
def counter(start: float, step: float, dtype: str) -> Plan: ...
def from_tensors(value: _Nest) -> Plan: ...
def from_tensor_slices(value: _Nest) -> Plan: ...
def from_generator(source: GeneratorSource) -> Plan: ...
def tfrecord(
    filenames: list[str],
    compression_type: str | None,
    buffer_size: int | None,
    num_parallel_reads: int | None,
    index: str | None,
    salvage: bool,
) -> Plan: ...
def text_line(
    filenames: list[str], compression_type: str | None, buffer_size: int | None
) -> Plan: ...
def fixed_length_record(
    filenames: list[str],
    record_bytes: int,
    header_bytes: int,
    footer_bytes: int,
    compression_type: str | None,
    buffer_size: int | None,
) -> Plan: ...
def csv(
    filenames: list[str],
    # dtype, and the value of an empty field
    record_defaults: list[tuple[str, Any]],
    compression_type: str | None,
    buffer_size: int | None,
    header: bool,
    field_delim: bytes,
    use_quote_delim: bool,
    na_value: bytes,
    select_cols: list[int],
    exclude_cols: list[int],
) -> Plan: ...
def random(seeds: tuple[int, int] | None, rerandomize: bool) -> Plan: ...
def map(
    input: Plan,
    function: UserFunction,
    num_parallel_calls: int | None,
    deterministic: bool | None,
    output_signature: _Nest | None,
    reorder_window: int | None = None,
) -> Plan: ...
def filter(input: Plan, predicate: UserFunction) -> Plan: ...
def take_while(input: Plan, predicate: UserFunction) -> Plan: ...
def scan(input: Plan, initial_state: _Nest, scan_func: UserFunction) -> Plan: ...
def reduce(input: Plan, initial_state: _Nest, reduce_func: UserFunction) -> Plan: ...
def ignore_errors(
    input: Plan, limit: int | None, report: Callable[[Exception], object] | None
) -> Plan: ...
def salvage(input: Plan, corruption_limit: int | None) -> Plan: ...
def unique(input: Plan) -> Plan: ...
def shard(input: Plan, num_shards: int, index: int, equal: str | None) -> Plan: ...
def assert_cardinality(input: Plan, expected: int) -> Plan: ...
def shuffle(
    input: Plan, buffer_size: int | None, seeds: tuple[int, int] | None, reshuffle: bool
) -> Plan: ...  # None: only numbers are held
def repeat(input: Plan, count: int) -> Plan: ...
def take(input: Plan, count: int) -> Plan: ...
def skip(input: Plan, count: int) -> Plan: ...
def batch(
    input: Plan,
    batch_size: int,
    drop_remainder: bool,
    num_parallel_calls: int | None,
    deterministic: bool | None,
) -> Plan: ...
def padded_batch(
    input: Plan,
    batch_size: int,
    padded_shapes: list[tuple[int | None, ...]] | None,
    padding_values: list[Any] | None,
    drop_remainder: bool,
    num_parallel_calls: int | None = None,
    deterministic: bool | None = None,
) -> Plan: ...
def ragged_batch(
    input: Plan,
    batch_size: int,
    drop_remainder: bool,
    row_splits_dtype: Any,
    num_parallel_calls: int | None = None,
    deterministic: bool | None = None,
) -> Plan: ...
def sparse_batch(
    input: Plan, batch_size: int, row_shape: tuple[int | None, ...] | None
) -> Plan: ...
def rebatch(input: Plan, batch_size: list[int], drop_remainder: bool) -> Plan: ...
def unbatch(input: Plan) -> Plan: ...
def prefetch(input: Plan, buffer_size: int) -> Plan: ...
def zip(inputs: _Nest) -> Plan: ...  # leaves are plans
def concatenate(first: Plan, second: Plan) -> Plan: ...
def choose_from_datasets(datasets: list[Plan], choices: Plan, stop_on_empty: bool) -> Plan: ...
def sample_from_datasets(
    datasets: list[Plan],
    weights: Plan | None,
    logits: list[float],
    seeds: tuple[int, int] | None,
    rerandomize: bool,
    stop_on_empty: bool,
) -> Plan: ...
def rejection_resample(
    input: Plan,
    class_func: UserFunction,
    target_dist: list[float],
    initial_dist: list[float] | None,
    seeds: tuple[int, int] | None,
) -> Plan: ...
def flat_map(input: Plan, function: UserFunction) -> Plan: ...
def interleave(
    input: Plan,
    function: UserFunction,
    cycle_length: int | None,
    block_length: int | None,
    num_parallel_calls: int | None,
    deterministic: bool | None,
) -> Plan: ...
def pack(input: Plan, length: int, open_rows: int, padding_values: list[Any] | None) -> Plan: ...
def window(
    input: Plan,
    size: int,
    shift: int | None,
    stride: int,
    drop_remainder: bool,
    as_arrays: bool,
) -> Plan: ...
def group_by_window(
    input: Plan,
    key_func: UserFunction,
    reduce_func: UserFunction,
    window_size: int,
    window_size_func: UserFunction | None,
    order: str,
) -> Plan: ...
def placeholder(spec: _Nest) -> Plan: ...  # for functions that make datasets, while looked at
def call_seed() -> int | None: ...  # number of a new random op in the call of a function
def fresh_pair() -> tuple[int, int]: ...  # entropy for what was given no seed
def is_in_call() -> bool: ...  # of a function of a dataset, in this thread
def element_seed(seed: int | None) -> tuple[int, int] | None: ...  # of an op in such a call
def argument_key() -> tuple[int, int] | None: ...  # of the generator given to such a call
def call_at(site: Sequence[int], function: Callable[..., Any], args: tuple[Any, ...]) -> Any: ...
def enumerate(input: Plan, start: int) -> Plan: ...
def cache(input: Plan, filename: str | None) -> Plan: ...
def sharded_snapshot(
    input: Plan, path: str, compression: str | None, sharded: bool, function: UserFunction
) -> Plan: ...
def snapshot(input: Plan, path: str, compression: str | None) -> Plan: ...
def load(path: str, spec: _Nest, shard: int | None) -> Plan: ...  # by place; None: all
def from_source(source: IndexedSource) -> Plan: ...
def save(
    input: Plan,
    options: str,
    path: str,
    compression: str | None,
    sharded: bool,
    checkpoints: tuple[int, str | None, Callable[[str, int], None]] | None,
) -> tuple[str, str, _Nest | None]:
    """Write all elements: the run's name, the metadata still to be written, the first's spec.

    `checkpoints` are the elements between two, the one to go on from, and what keeps each, with the
    number of elements since the one before.
    """

@disjoint_base
class Iterator:
    """One run of a plan. `options` and `state` are JSON texts."""

    def __new__(
        cls, plan: Plan, options: str, state: str | None, checkpointable: bool = False
    ) -> Iterator: ...
    @property
    def element_spec(self) -> _Nest: ...
    def __iter__(self) -> Iterator: ...
    def __next__(self) -> Any: ...
    def state(self) -> str: ...
    def stats(self) -> list[dict[str, Any]]: ...
    def losses(
        self,
    ) -> tuple[int, int, list[tuple[str | None, int | None, int | None, str]]]: ...
    def close(self) -> None: ...

def reshard(plan: Plan, states: list[str]) -> str: ...

@final
class RecordReader:
    """Reads TFRecord files one record at a time, for tools."""

    def __new__(cls, path: str, compression_type: str | None) -> RecordReader: ...
    def __iter__(self) -> RecordReader: ...
    def __next__(self) -> bytes: ...

@final
class RecordWriter:
    def __new__(
        cls, path: str, compression_type: str | None, compression_level: int | None
    ) -> RecordWriter: ...
    def write(self, record: bytes) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...

def encode_message(name: str, object: Any) -> bytes:
    """Write a message of `headrace.tf.train`."""

def decode_message(name: str, bytes: bytes) -> tuple[dict[str, Any], bytes]:
    """Read a message: fields by name, and the bytes of those that are not known."""

def fingerprint(data: bytes) -> int:
    """Return 64 bits that stand for `data`, the same in every process."""

def index_tfrecord(
    path: str,
    compression_type: str | None,
    into: str | None,
    force: bool,
    check: bool,
    progress: Callable[[int], object] | None,
) -> tuple[str, int, bool]: ...
def serialize_example(features: dict[str, Any]) -> bytes: ...
def close_all() -> None:
    """Cancel and join everything that runs; registered with `atexit`."""

def echo(object: Any, *, copy: bool = False, view: bool = False) -> Any:
    """Take a nest in and give it out again, for tests of the conversions."""

def echo_spec(object: _Nest) -> _Nest:
    """Take a nest of specs in and give it out again, for tests."""
