"""`executor="process"`: functions in worker processes. Each case is a process of its own."""

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from processes import finish, run, shared_files, start, wait_until

# Python warns of forks; here nothing forks.
TOOLS = f"""
import contextlib
{inspect.getsource(shared_files)}
def both(build, **options):
    python = list(build("python", **options))
    process = list(build("process", **options))
    assert repr(python) == repr(process), (python, process)
    return process

def workers():
    "The processes that serve this one."
    own, found = os.getpid(), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{{pid}}/stat") as file:
                stat = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(stat[1]) == own and stat[0] != "Z":
            found.append(int(pid))
    return found
"""


def script(code, *args):
    """Run a script that must end well and say nothing on stderr; return what it said."""
    ended = run(TOOLS + textwrap.dedent(code), *args)
    assert ended.clean, ended
    return ended.out


def python_file(path, code, *args):
    path.write_text(textwrap.dedent(code))
    return subprocess.run(
        [sys.executable, path, *args], capture_output=True, text=True, timeout=200
    )


def test_results_are_those_of_the_python_executor():
    script("""
    from collections import namedtuple
    Pair = namedtuple("Pair", "x y")
    def ops(x):
        array = np.full((3, 2), x, np.float32)
        return {"n": x + 1, "a": array, "t": str(x), "b": b"\\0x"}, (x > 2,)
    ds = hr.Dataset.range(40)
    for calls in (None, 1, 3, hr.AUTOTUNE):
        both(lambda executor: ds.map(ops, executor=executor, num_parallel_calls=calls))
    text = hr.Dataset.from_tensor_slices({"s": ["a", "b"], "x": np.arange(6.0).reshape(2, 3)})
    both(lambda executor: text.map(lambda d: (d["s"] + "!", d["x"][::2]), executor=executor))
    ragged = hr.Dataset.range(1, 9).map(lambda n: np.arange(n), executor="process")
    assert [len(row) for row in ragged] == list(range(1, 9))
    both(lambda executor: ds.map(lambda x: Pair(x, [x, x]), executor=executor))
    both(lambda executor: ds.batch(7).map(lambda x: x.sum(), executor=executor).repeat(2))
    """)


def test_every_op_with_an_executor_takes_it():
    script("""
    ds = hr.Dataset.range(20)
    both(lambda e: ds.filter(lambda x: x % 3 == 0, executor=e))
    both(lambda e: ds.take_while(lambda x: x < 7, executor=e))
    both(lambda e: ds.scan(np.int64(1), lambda s, x: (s + x, s * 2), executor=e))
    assert ds.reduce(np.int64(0), lambda s, x: s + x, executor="process") == 190
    target = [0.9, 0.1], [0.5, 0.5]
    both(lambda e: ds.rejection_resample(lambda x: x % 2, *target, seed=1, executor=e))
    """)


def test_random_numbers_are_those_of_the_python_executor():
    script("""
    def noise(x, rng):
        return x + rng.random(), rng.integers(1000)
    def ops(x):
        return hr.random.uniform(()) + x
    hr.random.set_seed(5)
    for function in (noise, ops):
        def build(executor, calls):
            hr.random.set_seed(5)
            ds = hr.Dataset.range(12).map(function, executor=executor, num_parallel_calls=calls)
            return ds.repeat(2)
        expected = [repr(x) for x in build("python", None)]
        assert len(set(expected)) == 24
        for calls in (None, 3):
            assert [repr(x) for x in build("process", calls)] == expected
    """)


def test_a_signature_holds_in_processes_too():
    script("""
    spec = hr.TensorSpec((None,), np.float32)
    ds = hr.Dataset.range(3).map(lambda n: [1] * int(n), executor="process", output_signature=spec)
    assert ds.element_spec == spec
    assert [x.dtype for x in ds] == [np.float32] * 3
    bad = hr.Dataset.range(3).map(lambda n: "text", executor="process", output_signature=spec)
    try:
        list(bad)
    except Exception as error:
        assert "could not be converted" in str(error), error
    else:
        raise AssertionError
    """)


def test_there_are_as_many_workers_as_calls_and_none_is_left():
    script("""
    import tempfile
    folder = tempfile.TemporaryDirectory()
    def who(x, name=folder.name, count=3):
        "Wait for as many workers to be here."
        open(os.path.join(name, str(os.getpid())), "w").close()
        while len(os.listdir(name)) < count:
            time.sleep(0.005)
        return os.getpid()
    parallel = hr.Dataset.range(60).map(who, executor="process", num_parallel_calls=3)
    pids = {int(pid) for pid in parallel}
    assert len(pids) == 3 and os.getpid() not in pids, pids
    wait_until(lambda: not workers())
    assert len({int(pid) for pid in hr.Dataset.range(9).map(who, executor="process")}) == 1
    iterator = iter(parallel.repeat())
    for _ in range(200):
        next(iterator)
    assert len(workers()) == 3
    del iterator
    wait_until(lambda: not workers())
    iterator = iter(parallel)
    assert len(list(iterator)) == 60
    wait_until(lambda: not workers())  # the iterator is still there
    """)


def test_order_is_kept_unless_it_need_not_be():
    script("""
    def slow(x):
        time.sleep(0.03 if x % 4 == 0 else 0)
        return x
    ds = hr.Dataset.range(40)
    both(lambda e: ds.map(slow, executor=e, num_parallel_calls=4))
    loose = ds.map(slow, executor="process", num_parallel_calls=4, deterministic=False)
    assert sorted(loose) == list(range(40))
    """)


def test_large_arrays_go_through_shared_memory_that_has_no_name():
    script("""
    def turn(x):
        assert not x.flags.writeable
        return x[::-1], x
    rows = np.arange(5 * 1_300_000, dtype=np.float64).reshape(5, -1)  # 10 MB each
    ds = hr.Dataset.from_tensor_slices(rows).map(turn, executor="process", num_parallel_calls=2)
    for row, (turned, same) in zip(rows, ds):
        assert np.array_equal(turned, row[::-1]) and np.array_equal(same, row)
        turned[0] = 0  # what is handed out is the user's own
        assert not any(shared_files(pid) for pid in ["self", *workers()])
    """)


def test_arrays_that_are_kept_do_not_change():
    script("""
    kept = []
    def remember(x):
        kept.append(x)
        return sum(float(old[0]) for old in kept)
    rows = np.repeat(np.arange(6.0)[:, None], 50_000, 1)
    ds = hr.Dataset.from_tensor_slices(rows).map(remember, executor="process")
    assert list(ds) == [0, 1, 3, 6, 10, 15]
    class Box:
        def __init__(self, x):
            self.x = x
    boxes = list(hr.Dataset.from_tensor_slices(rows).map(Box, executor="process"))
    assert [float(box.x[-1]) for box in boxes] == [0, 1, 2, 3, 4, 5]
    """)


def test_an_exception_keeps_its_type_and_tells_where():
    script("""
    class Odd(ValueError):
        def __init__(self, code, *, text):
            super().__init__(f"{text} {code}")
            self.code = code
    def fail(x):
        if x == 7:
            raise Odd(3, text="no good")
        return x
    for calls in (None, 4):
        iterator = iter(hr.Dataset.range(9).map(fail, executor="process", num_parallel_calls=calls))
        seen = []
        try:
            for x in iterator:
                seen.append(int(x))
        except ValueError as error:
            assert type(error).__name__ == "Odd" and str(error) == "no good 3" and error.code == 3
            notes = "\\n".join(error.__notes__)
            assert "in worker process" in notes and "in fail" in notes, notes
            assert "map fail" in notes and "element 7" in notes, notes
        else:
            raise AssertionError
        assert seen == list(range(7)) and list(iterator) == [8]
    """)


def test_an_exception_that_does_not_pickle_is_told_as_text():
    script("""
    def fail(x):
        class Local(Exception):
            pass
        error = Local("inside")
        error.lock = threading.Lock()
        raise error
    try:
        list(hr.Dataset.range(1).map(fail, executor="process"))
    except Exception as error:
        assert "inside" in str(error) and "Local" in str(type(error)) + str(error)
    else:
        raise AssertionError
    """)


def test_an_exception_keeps_its_causes_and_its_notes_the_name_of_the_file(tmp_path):
    path = tmp_path / "functions.py"
    code = """
        import headrace as hr

        def divided(number):
            def fail(x):
                try:
                    number // int(x)
                except ZeroDivisionError as error:
                    raise ValueError("no") from error

            return fail

        if __name__ == "__main__":
            try:
                list(hr.Dataset.range(2).map(divided(1), executor="process"))
            except ValueError as error:
                cause = error.__cause__
                print(type(cause).__name__, *error.__notes__, *cause.__notes__)
    """
    ended = python_file(path, code)
    assert ended.returncode == 0, ended
    assert ended.stdout.startswith("ZeroDivisionError ")
    assert ended.stdout.count(f'File "{path}", line') >= 2, ended.stdout
    assert "number // int(x)" in ended.stdout


def test_one_traceback_is_printed(tmp_path):
    ended = python_file(
        tmp_path / "fails.py",
        """
        import headrace as hr
        def fail(x):
            raise KeyError("gone")
        if __name__ == "__main__":
            list(hr.Dataset.range(3).map(fail, executor="process", num_parallel_calls=2))
        """,
    )
    assert ended.returncode == 1
    assert ended.stderr.count("Traceback (most recent call last)") == 1
    assert re.search(r"KeyError: 'gone'\nin worker process \d+:\n", ended.stderr), ended.stderr
    assert 'fails.py", line 4, in fail' in ended.stderr


DEATHS = {
    "exit": ("os._exit(3)", "ended with exit status 3"),
    "kill": ("os.kill(os.getpid(), signal.SIGKILL)", "was killed by SIGKILL"),
    "segfault": ("faulthandler._sigsegv()", "was killed by SIGSEGV"),
}


@pytest.mark.parametrize("how", DEATHS)
def test_the_death_of_a_worker_is_an_error_of_its_element(how):
    code, told = DEATHS[how]
    script(f"""
    def die(x):
        if x == 5:
            {code}
        return x
    for calls in (None, 3):
        iterator = iter(hr.Dataset.range(8).map(die, executor="process", num_parallel_calls=calls))
        assert [int(next(iterator)) for _ in range(5)] == [0, 1, 2, 3, 4]
        try:
            next(iterator)
        except hr.errors.AbortedError as error:
            assert {told!r} in str(error) and "element 5" in str(error), error
        else:
            raise AssertionError
        assert [int(x) for x in iterator] == [6, 7]
    """)


def test_leaving_early_ends_busy_workers():
    script("""
    ds = hr.Dataset.range(100).map(sleeper(30), executor="process", num_parallel_calls=2)
    iterator = iter(ds)
    thread = threading.Thread(target=lambda: list(iterator), daemon=True)
    thread.start()
    wait_until(lambda: len(workers()) == 2)
    iterator.close()
    # They would sleep for much longer.
    wait_until(lambda: not workers(), 2)
    """)


def test_workers_end_when_their_parent_is_killed():
    process = start(
        TOOLS
        + textwrap.dedent("""
        def big(x):
            time.sleep(0.05)
            return np.zeros(1_000_000)
        iterator = iter(hr.Dataset.range(1000).map(big, executor="process", num_parallel_calls=2))
        next(iterator)
        tell(workers=workers())
        time.sleep(60)
        """)
    )
    told = json.loads(process.stdout.readline())
    assert told["workers"]
    shared = [name for pid in (process.pid, *told["workers"]) for name in shared_files(pid)]
    os.kill(process.pid, signal.SIGKILL)
    finish(process)
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in told["workers"]))
    assert not any(map(os.path.exists, shared))


def test_ctrl_c_ends_the_run_and_its_workers():
    process = start(
        TOOLS
        + textwrap.dedent("""
        ds = hr.Dataset.range(100).map(sleeper(30), executor="process", num_parallel_calls=2)
        tell(ready=True)
        try:
            list(ds)
        except KeyboardInterrupt:
            wait_until(lambda: not workers(), 5)
            tell(left=True)
        """)
    )
    process.stdout.readline()
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    ended = finish(process)
    assert ended.clean, ended
    assert '"left": true' in ended.out


def test_a_script_without_a_guard_is_told_so(tmp_path):
    ended = python_file(
        tmp_path / "bare.py",
        """
        import headrace as hr
        def double(x):
            return x * 2
        print(list(hr.Dataset.range(3).map(double, executor="process")))
        """,
    )
    assert ended.returncode == 1
    assert 'put that code under `if __name__ == "__main__":`' in ended.stderr
    assert ended.stderr.count("Traceback (most recent call last)") == 1


def test_functions_of_a_script_go_by_name_and_of_a_closure_by_value(tmp_path):
    ended = python_file(
        tmp_path / "script.py",
        """
        import sys
        import headrace as hr
        def double(x):
            return x * FACTOR
        FACTOR = 2
        if __name__ == "__main__":
            def inner(x):
                return x + len(sys.argv)
            assert list(hr.Dataset.range(3).map(double, executor="process")) == [0, 2, 4]
            assert list(hr.Dataset.range(3).map(inner, executor="process")) == [2, 3, 4]
            k = 5
            assert list(hr.Dataset.range(2).map(lambda x: x + k, executor="process")) == [5, 6]
        """,
        "argument",
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_without_cloudpickle_the_error_names_the_extra():
    script("""
    sys.modules["cloudpickle"] = None
    import importlib.util
    found = importlib.util.find_spec
    importlib.util.find_spec = lambda name, *a: None if name == "cloudpickle" else found(name, *a)
    try:
        list(hr.Dataset.range(3).map(lambda x: x, executor="process"))
    except Exception as error:
        assert "headrace[process]" in str(error), error
    else:
        raise AssertionError
    """)


def test_a_dataset_with_processes_pickles_and_nests():
    script("""
    import cloudpickle
    ds = hr.Dataset.range(5).map(lambda x: x * 3, executor="process", num_parallel_calls=2)
    assert list(cloudpickle.loads(cloudpickle.dumps(ds))) == [0, 3, 6, 9, 12]
    def inner(n):
        return hr.Dataset.range(n).map(lambda x: x + 1, executor="process")
    assert list(hr.Dataset.range(1, 4).flat_map(inner)) == [1, 1, 2, 1, 2, 3]
    both(lambda e: hr.Dataset.range(6).map(lambda x: x + 1, executor=e).map(
        lambda x: x * 2, executor=e, num_parallel_calls=2).batch(2).prefetch(1))
    """)


def test_a_run_goes_on_from_its_state():
    script("""
    ds = hr.Dataset.range(20).map(lambda x: x * 3, executor="process", num_parallel_calls=2)
    iterator = iter(ds)
    for _ in range(7):
        next(iterator)
    again = ds.iterator(state=iterator.state())
    assert list(again) == list(iterator) == [x * 3 for x in range(7, 20)]
    """)


def test_explain_says_so():
    import headrace as hr

    text = hr.Dataset.range(3).map(lambda x: x, executor="process").explain()
    assert 'executor="process"' in text
