"""Context variables: a generator has those of `iter(ds)`, whoever pulls from it."""

import contextvars

import pytest

import headrace as hr

variable = contextvars.ContextVar("variable", default="unset")

ABOVE = {
    "directly": lambda dataset: dataset,
    "prefetch": lambda dataset: dataset.prefetch(1),
    "parallel map": lambda dataset: dataset.map(lambda x: x, num_parallel_calls=2),
    "repeat": lambda dataset: dataset.repeat(3),
    "repeat and prefetch": lambda dataset: dataset.repeat(3).prefetch(1),
    "concatenate": lambda dataset: dataset.concatenate(dataset).prefetch(1),
    "zip": lambda dataset: hr.Dataset.zip(dataset, hr.Dataset.range(9).prefetch(1)).map(
        lambda x, i: x, num_parallel_calls=2
    ),
}


def noted():
    """A dataset of what its generator sees, and a list of what it sees as it closes."""
    closing = []

    def look():
        try:
            yield variable.get()
            yield variable.get()
        finally:
            closing.append(variable.get())

    spec = hr.TensorSpec((), str)
    return hr.Dataset.from_generator(look, output_signature=spec), closing


@pytest.mark.parametrize("above", ABOVE.values(), ids=ABOVE)
def test_a_generator_has_the_variables_of_iter(above):
    dataset, closing = noted()
    dataset = above(dataset)
    token = variable.set("set before iter")
    iterator = iter(dataset)
    variable.reset(token)
    assert set(iterator) == {"set before iter"}
    assert set(closing) == {"set before iter"}


@pytest.mark.parametrize("above", ABOVE.values(), ids=ABOVE)
def test_a_generator_that_is_closed_early_has_them_too(above):
    dataset, closing = noted()
    token = variable.set("set before iter")
    iterator = iter(above(dataset))
    variable.reset(token)
    next(iterator)
    iterator.close()
    assert set(closing) == {"set before iter"}


def test_two_runs_have_their_own():
    dataset, _ = noted()
    runs = []

    def start(name):
        variable.set(name)
        runs.append(iter(dataset.prefetch(1)))

    for name in ("one", "two"):
        contextvars.copy_context().run(start, name)
    assert [list(each) for each in runs] == [["one"] * 2, ["two"] * 2]


@pytest.mark.parametrize("above", ABOVE.values(), ids=ABOVE)
def test_what_a_generator_sets_stays_with_it(above):
    def count():
        for i in range(3):
            variable.set(f"{variable.get()}{i}")
            yield variable.get()

    spec = hr.TensorSpec((), str)
    seen = list(above(hr.Dataset.from_generator(count, output_signature=spec)))
    assert seen[:3] == ["unset0", "unset01", "unset012"]
    assert seen[3:6] in ([], seen[:3])
    assert variable.get() == "unset"
