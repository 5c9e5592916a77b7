"""Files by the names of TensorFlow 1; mirrors ``tf.compat.v1.gfile``."""

from __future__ import annotations

from ...io.gfile import GFile
from ...io.gfile import copy as Copy
from ...io.gfile import exists as Exists
from ...io.gfile import glob as Glob
from ...io.gfile import isdir as IsDirectory
from ...io.gfile import listdir as ListDirectory
from ...io.gfile import makedirs as MakeDirs
from ...io.gfile import mkdir as MkDir
from ...io.gfile import remove as Remove
from ...io.gfile import rename as Rename
from ...io.gfile import rmtree as DeleteRecursively
from ...io.gfile import stat as Stat
from ...io.gfile import walk as Walk
from ...names import lookup as _lookup

__all__ = [
    "Copy",
    "DeleteRecursively",
    "Exists",
    "FastGFile",
    "GFile",
    "Glob",
    "IsDirectory",
    "ListDirectory",
    "MakeDirs",
    "MkDir",
    "Open",
    "Remove",
    "Rename",
    "Stat",
    "Walk",
]

FastGFile = Open = GFile

__getattr__ = _lookup(__name__)
