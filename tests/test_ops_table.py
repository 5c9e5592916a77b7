"""The table of ops in the docs says what there is."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent


def script():
    spec = importlib.util.spec_from_file_location("ops_table", ROOT / "scripts" / "ops_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="older NumPys have fewer functions"
)
def test_the_table_is_what_the_code_says():
    table = script()
    assert table.TARGET.read_text() == table.text(), "run: python scripts/ops_table.py"
