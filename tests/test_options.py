"""Options."""

import copy
import json
import pickle

import pytest
from overlap import Calls

import headrace as hr


def test_an_unknown_property_is_refused():
    with pytest.raises(AttributeError, match="Cannot set the property foo on Options"):
        hr.Options().foo = 1
    with pytest.raises(AttributeError, match="Cannot set the property foo on ThreadingOptions"):
        hr.Options().threading.foo = 1


@pytest.mark.parametrize("value", [1, "yes", object])
def test_a_value_of_the_wrong_type_is_refused(value):
    with pytest.raises(TypeError, match='Property "deterministic" must be of type'):
        hr.Options().deterministic = value


def test_a_bool_is_no_number_of_threads():
    with pytest.raises(TypeError, match="private_threadpool_size"):
        hr.Options().threading.private_threadpool_size = True


def test_the_later_options_win():
    first = hr.Options(deterministic=True)
    first.threading.private_threadpool_size = 3
    second = hr.Options(deterministic=False)
    merged = first.merge(second)
    assert merged.deterministic is False
    assert merged.threading.private_threadpool_size == 3
    assert first.deterministic is True


def test_datasets_merge_the_options_of_their_inputs():
    left = hr.Dataset.range(3).with_options(hr.Options(deterministic=False))
    right = hr.Dataset.range(3)
    assert hr.Dataset.zip(left, right).map(lambda a, b: a).options().deterministic is False
    assert left.with_options(hr.Options(deterministic=True)).options().deterministic is True


def test_changing_options_later_changes_no_dataset():
    options = hr.Options(deterministic=False)
    dataset = hr.Dataset.range(3).with_options(options)
    options.deterministic = True
    assert dataset.options().deterministic is False


def test_only_options_are_options():
    with pytest.raises(TypeError, match="must be an Options"):
        hr.Dataset.range(3).with_options({"deterministic": True})


def test_options_are_compared_printed_copied_and_pickled():
    options = hr.Options(deterministic=False)
    options.threading.private_threadpool_size = 2
    assert options == copy.deepcopy(options) == pickle.loads(pickle.dumps(options))
    assert options != hr.Options()
    text = "Options(deterministic=False, threading=ThreadingOptions(private_threadpool_size=2))"
    assert repr(options) == text


def test_json_says_what_is_set():
    options = hr.Options(_chunk_rows=7)
    options.experimental_optimization.inject_prefetch = True
    assert json.loads(options.to_json()) == {
        "chunk_rows": 7,
        "optimization": {"inject_prefetch": True},
    }
    assert hr.Options().to_json() == "{}"


def _properties(group, prefix=""):
    for name, kind in type(group)._types.items():
        value = getattr(group, name)
        if hasattr(value, "_types"):
            yield from _properties(value, f"{prefix}{name}.")
        elif not name.startswith("_"):
            yield f"{prefix}{name}", kind


def _get(options, path):
    for name in path.split("."):
        options = getattr(options, name)
    return options


def _set(options, path, value):
    *groups, name = path.split(".")
    setattr(_get(options, ".".join(groups)) if groups else options, name, value)


PROPERTIES = dict(_properties(hr.Options()))
TF_PROPERTIES = [
    "autotune.autotune_algorithm",
    "autotune.cpu_budget",
    "autotune.enabled",
    "autotune.initial_parallelism",
    "autotune.min_parallelism",
    "autotune.ram_budget",
    "dataset_name",
    "deterministic",
    "experimental_distribute.auto_shard_policy",
    "experimental_distribute.num_devices",
    "experimental_external_state_policy",
    "experimental_optimization.apply_default_optimizations",
    "experimental_optimization.filter_fusion",
    "experimental_optimization.filter_parallelization",
    "experimental_optimization.inject_prefetch",
    "experimental_optimization.map_and_batch_fusion",
    "experimental_optimization.map_and_filter_fusion",
    "experimental_optimization.map_fusion",
    "experimental_optimization.map_parallelization",
    "experimental_optimization.noop_elimination",
    "experimental_optimization.parallel_batch",
    "experimental_optimization.seq_interleave_prefetch",
    "experimental_optimization.shuffle_and_repeat_fusion",
    "experimental_service.pinned",
    "experimental_slack",
    "experimental_symbolic_checkpoint",
    "experimental_warm_start",
    "framework_type",
    "threading.max_intra_op_parallelism",
    "threading.private_threadpool_size",
]
VALUES = {
    bool: True,
    int: 3,
    str: "name",
    list: ["torch"],
    hr.AutotuneAlgorithm: hr.AutotuneAlgorithm.STAGE_BASED,
    hr.AutoShardPolicy: hr.AutoShardPolicy.FILE,
    hr.ExternalStatePolicy: hr.ExternalStatePolicy.FAIL,
}


def test_every_option_of_tf_data_is_there():
    assert set(TF_PROPERTIES) <= set(PROPERTIES)
    silent = {path: _get(hr.Options(), path) for path in PROPERTIES}
    assert silent.pop("experimental_distribute.auto_shard_policy") == hr.AutoShardPolicy.AUTO
    assert set(silent.values()) == {None}


@pytest.mark.parametrize("path", PROPERTIES)
def test_options_are_set_merged_printed_pickled_and_compared(path):
    value = VALUES[PROPERTIES[path]]
    options = hr.Options()
    _set(options, path, value)
    assert _get(options, path) == value
    assert options != hr.Options()
    assert path.split(".")[-1] in repr(options)
    assert pickle.loads(pickle.dumps(options)) == copy.deepcopy(options) == options
    dataset = hr.Dataset.range(3).with_options(options)
    assert dataset.options() == options
    assert list(dataset) == list(hr.Dataset.range(3))
    assert hr.Options().merge(options) == options.merge(hr.Options()) == options
    with pytest.raises(TypeError, match="must be of type"):
        _set(hr.Options(), path, object())
    _set(options, path, None)
    assert options == hr.Options()


def test_a_group_is_replaced_by_one_of_its_kind_only():
    options = hr.Options()
    options.threading = hr.ThreadingOptions(private_threadpool_size=1)
    options.autotune = hr.AutotuneOptions(cpu_budget=2)
    options.experimental_distribute = hr.DistributeOptions(num_devices=2)
    assert options.autotune.cpu_budget == 2
    with pytest.raises(TypeError, match='Property "autotune" must be of type'):
        options.autotune = True
    with pytest.raises(TypeError, match='Property "threading" must be of type'):
        options.threading = None
    assert hr.Options().threading is not hr.Options().threading


def test_older_names_are_accepted():
    options = hr.Options()
    options.experimental_optimization.map_vectorization.enabled = True
    options.experimental_optimization.map_and_filter_fusion = False
    options.experimental_optimization.autotune_buffers = True
    options.experimental_deterministic = False
    options.experimental_threading.private_threadpool_size = 2
    options.experimental_autotune = False
    options.experimental_distribute.auto_shard = False
    assert options.experimental_optimization.map_vectorization.enabled is True
    assert options.deterministic is options.experimental_deterministic is False
    assert options.threading.private_threadpool_size == 2
    assert options.autotune.enabled is options.experimental_autotune is False
    options.experimental_threading = hr.ThreadingOptions(private_threadpool_size=3)
    assert options.threading.private_threadpool_size == 3
    assert list(hr.Dataset.range(2).with_options(options)) == [0, 1]
    flat = hr.Options()
    flat.experimental_optimization.map_vectorization = True
    assert flat.experimental_optimization.map_vectorization.enabled is True


def test_unknown_names_lead_to_the_nearest():
    with pytest.raises(AttributeError, match="did you mean deterministic"):
        hr.Options().determinstic = True
    with pytest.raises(AttributeError, match="did you mean map_fusion"):
        _ = hr.Options().experimental_optimization.map_fusions
    with pytest.raises(AttributeError, match="Its properties are"):
        hr.Options().zzz = 1
    assert not hasattr(hr.Options(), "foo")


def test_negative_numbers_are_refused():
    with pytest.raises(hr.errors.InvalidArgumentError, match="at least 0"):
        hr.Options().threading.private_threadpool_size = -1
    with pytest.raises(hr.errors.InvalidArgumentError, match="at least 0"):
        hr.Options().autotune.cpu_budget = -1


def test_what_a_dataset_returns_cannot_be_changed():
    options = hr.Dataset.range(3).options()
    with pytest.raises(ValueError, match="has no effect"):
        options.deterministic = False
    with pytest.raises(ValueError, match="has no effect"):
        options.threading.private_threadpool_size = 1
    changed = copy.deepcopy(options)
    changed.deterministic = False
    assert changed.merge(options) == changed


def test_merging_joins_the_types_of_frameworks():
    first, second = hr.Options(framework_type=["a"]), hr.Options(framework_type=["b"])
    assert first.merge(second).framework_type == ["a", "b"]
    with pytest.raises(TypeError, match="incompatible options"):
        first.merge(hr.ThreadingOptions())


def test_autotune_has_a_budget():
    options = hr.Options()
    options.experimental_optimization.autotune_cpu_budget = 3
    options.experimental_optimization.autotune_ram_budget = 1 << 30
    options.autotune.min_parallelism = 2
    dataset = hr.Dataset.range(50).map(lambda x: x + 1, num_parallel_calls=hr.AUTOTUNE)
    assert list(dataset.with_options(options)) == list(range(1, 51))
    assert json.loads(options.to_json())["autotune"] == {
        "min_parallelism": 2,
        "cpu_budget": 3,
        "ram_budget": 1 << 30,
    }


def test_one_thread_runs_one_function_at_a_time_and_parallelism_can_be_read():
    slow = Calls(0.001)
    options = hr.Options()
    options.threading.private_threadpool_size = 1
    dataset = hr.Dataset.range(20).map(slow, hr.AUTOTUNE).map(slow, hr.AUTOTUNE)
    iterator = iter(dataset.with_options(options))
    assert list(iterator) == list(range(20))
    assert slow.most == 1
    steps = {row["name"]: row.get("parallelism") for row in iterator.stats()}
    assert steps["map"] >= 1
    assert steps["range"] is None
    options.threading.private_threadpool_size = 0
    options.autotune.cpu_budget = 3
    iterator = iter(dataset.with_options(options))
    assert [row["max_parallelism"] for row in iterator.stats()[:2]] == [3, 3]
    assert all(1 <= row["parallelism"] <= 3 for row in iterator.stats()[:2])
