"""Random orders are tf.data's, bit for bit."""

import pytest
from conftest import golden

import headrace as hr

CASES = golden("random_orders.json")["cases"]
OPS = {
    "shuffle": lambda source, shuffle, count: shuffle(source),
    "shuffle.repeat": lambda source, shuffle, count: shuffle(source).repeat(count),
    "repeat.shuffle": lambda source, shuffle, count: shuffle(source.repeat(count)),
    "shuffle.map(x*1+0).repeat": lambda source, shuffle, count: (
        shuffle(source).map(lambda x: x * 1 + 0).repeat(count)
    ),
}


def _name(case):
    return "-".join(str(case[key]) for key in case if key != "epochs")


@pytest.mark.parametrize("chunk_rows", [None, 1, 7])
@pytest.mark.parametrize("case", [c for c in CASES if c["op"] in OPS], ids=_name)
def test_the_order_is_that_of_tf_data(case, chunk_rows):
    def shuffle(dataset):
        reshuffle = case.get("reshuffle_each_iteration")
        return dataset.shuffle(case["buffer_size"], case["seed"], reshuffle)

    dataset = OPS[case["op"]](hr.Dataset.range(case["n"]), shuffle, case.get("count"))
    dataset = dataset.with_options(hr.Options(_chunk_rows=chunk_rows))
    epochs = [[int(x) for x in dataset] for _ in case["epochs"]]
    assert epochs == case["epochs"]


@pytest.mark.parametrize("case", [c for c in CASES if c["op"] in OPS][::5], ids=_name)
def test_a_resumed_run_keeps_the_order(case):
    def build():
        shuffled = hr.Dataset.range(case["n"])
        reshuffle = case.get("reshuffle_each_iteration")
        return OPS[case["op"]](
            shuffled,
            lambda dataset: dataset.shuffle(case["buffer_size"], case["seed"], reshuffle),
            case.get("count"),
        )

    order = case["epochs"][0]
    for position in range(0, len(order) + 1, max(1, len(order) // 7)):
        iterator = iter(build())
        for _ in range(position):
            next(iterator)
        resumed = build().iterator(state=iterator.state())
        assert [int(x) for x in resumed] == order[position:]
