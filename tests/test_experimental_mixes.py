"""`experimental`: mixes, rejection_resample, devices."""

import pytest

import headrace as hr


def test_mixes_of_experimental_go_on_by_default():
    sources = [hr.Dataset.range(1), hr.Dataset.range(10, 13)]
    choices = hr.Dataset.range(2).repeat(3)
    mixed = hr.experimental.choose_from_datasets(sources, choices)
    assert [int(x) for x in mixed] == [0, 10, 11, 12]
    sampled = hr.experimental.sample_from_datasets(sources, [0.5, 0.5], seed=1)
    assert sorted(int(x) for x in sampled) == [0, 10, 11, 12]
    resample = hr.experimental.rejection_resample(lambda x: x % 2, [0.5, 0.5], [0.5, 0.5])
    assert len(list(hr.Dataset.range(4).apply(resample))) == 4


@pytest.mark.parametrize("device", ["/cpu:0", "CPU:0", "/device:CPU:0", "cpu", "/job:a/cpu:0"])
def test_the_cpu_is_where_elements_are(device):
    dataset = hr.Dataset.range(3)
    assert list(dataset.apply(hr.experimental.copy_to_device(device))) == [0, 1, 2]
    assert list(dataset.apply(hr.experimental.prefetch_to_device(device))) == [0, 1, 2]


def test_other_devices_are_refused():
    for make in (hr.experimental.copy_to_device, hr.experimental.prefetch_to_device):
        with pytest.raises(hr.errors.UnimplementedError, match="CPU"):
            make("/gpu:0")
        with pytest.raises(TypeError, match="named by a str"):
            make(0)


def test_methods_are_functions_here_too(tmp_path):
    numbers = hr.Dataset.range(6)

    def group(key, dataset):
        return dataset.batch(3)

    grouped = numbers.apply(hr.experimental.group_by_window(lambda x: x % 2, group, 3))
    assert [batch.tolist() for batch in grouped] == [[0, 2, 4], [1, 3, 5]]
    interleaved = hr.experimental.parallel_interleave(
        lambda x: hr.Dataset.from_tensors(x).repeat(3), 2, block_length=2
    )
    assert [int(x) for x in numbers.take(2).apply(interleaved)] == [0, 0, 1, 1, 0, 1]
    kept = numbers.apply(hr.experimental.snapshot(tmp_path / "snapshot"))
    assert list(kept) == list(kept) == list(numbers)
    hr.experimental.save(numbers, tmp_path / "saved")
    assert list(hr.experimental.load(tmp_path / "saved")) == list(numbers)
