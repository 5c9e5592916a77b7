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


FUSED = [case for case in golden("shuffle_and_repeat.json")["cases"] if case["fused"]]


@pytest.mark.parametrize("chunk_rows", [None, 1, 7])
@pytest.mark.parametrize("fused", [None, False])
def test_epochs_of_a_shuffle_are_those_of_the_fused_step(fused, chunk_rows):
    for case in FUSED:
        dataset = hr.Dataset.range(case["n"])
        if case["below"]:
            dataset = dataset.shuffle(case["below"], seed=5)
        reshuffle = case["reshuffle_each_iteration"]
        dataset = dataset.shuffle(case["buffer_size"], 7, reshuffle).repeat(case["count"])
        options = hr.Options(_chunk_rows=chunk_rows)
        options.experimental_optimization.shuffle_and_repeat_fusion = fused
        dataset = dataset.with_options(options)
        passes = [[int(x) for x in dataset] for _ in range(2)]
        assert passes == case["passes"], case


def test_the_first_pass_is_the_same_whether_tensorflow_fuses_or_not():
    cases = golden("shuffle_and_repeat.json")["cases"]
    for fused, apart in zip(cases[::2], cases[1::2], strict=True):
        assert fused["passes"][0] == apart["passes"][0]
