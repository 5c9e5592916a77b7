"""Datasets that work ahead, as code for scripts in processes of their own."""

import pytest

# Each makes a dataset that works ahead, in one way or another.
DATASETS = {
    "native map": "hr.Dataset.range(10**9).map(lambda x: x + 1, num_parallel_calls=8)",
    "python map": "hr.Dataset.range(10**9).map(python(lambda x: x), num_parallel_calls=8)",
    "slow map": "hr.Dataset.range(10**9).map(python(sleeper(0.05)), num_parallel_calls=8)",
    "generator": "generate(lambda: iter(range(10**9))).prefetch(4)",
    "slow generator": "generate(lambda: map(sleeper(0.05), range(10**9))).prefetch(4)",
    "deep": """
        generate(lambda: iter(range(10**9))).prefetch(2)
        .map(python(lambda x: x + 1), num_parallel_calls=8).shuffle(100).batch(4)
        .map(lambda x: x * 2, num_parallel_calls=4).prefetch(hr.AUTOTUNE)""",
    "interleave": """
        hr.Dataset.range(10**9).interleave(
        lambda i: hr.Dataset.range(9).map(python(lambda x: x), num_parallel_calls=8),
        cycle_length=4, num_parallel_calls=4).batch(4).prefetch(4)""",
}
SIMPLE = ("native map", "python map", "slow map", "generator", "slow generator")


def datasets(*kinds):
    """Run a test with each of these datasets."""
    values = [f"({DATASETS[kind].strip()})" for kind in kinds]
    return pytest.mark.parametrize("dataset", values, ids=kinds)


ahead = datasets(*SIMPLE, "deep")
# Where one of each sort is enough: a process takes a third of a second.
partly_ahead = datasets("slow map", "slow generator", "deep")
