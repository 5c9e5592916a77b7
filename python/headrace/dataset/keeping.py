"""Elements kept in memory or in files, for later passes and programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from .. import checks
from .step import Step, T_co

if TYPE_CHECKING:
    from . import Dataset

__all__ = ["Keeping"]


class Keeping(Step[T_co]):
    """The methods of `Dataset` that keep elements."""

    __slots__ = ()

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset[T_co]:
        """Keep the elements of the first pass for later ones; mirrors ``tf.data.Dataset.cache``.

        A pass counts once it has reached the end; one that is left early keeps nothing. Random
        order upstream is frozen: every pass has the first one's. In memory, the elements belong
        to this dataset, and all iterators share them.

        Parameters
        ----------
        filename
            Where to keep them: in files whose names begin with it, and which stay. While they are
            written there is a lock file; another process that reads meanwhile makes the elements
            itself. ``""``: in memory.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        AlreadyExistsError
            During iteration: another iterator of this process is writing the files.
        FailedPreconditionError
            During iteration: the files hold elements of other types, of another pipeline.
        InvalidArgumentError
            During iteration: opaque objects cannot be kept in files.

        Examples
        --------
        >>> cached = hr.Dataset.range(5).shuffle(5, seed=1).cache()
        >>> list(cached) == list(cached)
        True
        """
        return self._derive("cache", filename=checks.path("filename", filename) or None)

    def snapshot(
        self,
        path: Any,
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Dataset[T_co]:
        """Keep the elements of the first pass in files; mirrors ``tf.data.Dataset.snapshot``.

        As `cache` with a file name, but the files belong to this very pipeline: one with other
        steps, arguments or data writes its own. An iterator that finds another one writing makes
        its elements itself.

        Parameters
        ----------
        path
            A folder for the files of any number of pipelines.
        compression
            ``None``, ``"GZIP"``, or ``"AUTO"`` and ``"SNAPPY"``, which are the quickest.
        reader_func
            Gets the dataset of the shards, themselves datasets, and returns that of the elements of
            later passes: in another order, or a part of them (the cardinality stays that of the
            first pass). By default the shards are interleaved, as many as the machine has cores.
        shard_func
            Returns the number of the shard that an element is written to, an int64 from 0 on.
        name
            Accepted for tf.data's sake.

        Raises
        ------
        InvalidArgumentError
            An unknown compression. During iteration: opaque objects cannot be written, and the
            number of a shard is negative.
        TypeError
            `shard_func` returns no integer; `reader_func` no dataset, in the later pass.

        Examples
        --------
        >>> import tempfile
        >>> numbers = hr.Dataset.range(5).shuffle(5, seed=1).snapshot(tempfile.mkdtemp())
        >>> list(numbers) == list(numbers)
        True
        """
        from ..saved import snapshot

        return snapshot(cast("Dataset[T_co]", self), path, compression, reader_func, shard_func)

    def save(
        self,
        path: Any,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Write all elements into files, for `load`; mirrors ``tf.data.Dataset.save``.

        The format is headrace's own. What was saved there before is replaced once all is written.

        Parameters
        ----------
        path
            A folder, which is made if there is none.
        compression
            ``None``, ``"GZIP"``, or ``"AUTO"`` and ``"SNAPPY"``, which are the quickest.
        shard_func
            A function of an element that gives the number of the file it goes to, int64; ``None``:
            one file for all.
        checkpoint_args
            A dict that makes a saving one that goes on where it was interrupted, when it is called
            again with the same arguments: ``"directory"``, the folder of its checkpoints;
            ``"checkpoint_interval"``, the elements between two of them (at least; a chunk ends
            first), 1 by default; ``"max_to_keep"``, 1 by default, ``None`` for all;
            ``"checkpoint_name"``, ``"ckpt"`` by default; ``"step_counter"``, a variable to which
            the number of elements is added. The keys of ``tf.train.CheckpointManager``.

        Raises
        ------
        DataLossError
            The files of an interrupted saving are damaged or gone.
        InvalidArgumentError
            Opaque objects cannot be written; an unknown compression; a negative shard; a key that
            is none; checkpoints of another pipeline.

        Examples
        --------
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> hr.Dataset.range(4).save(folder, shard_func=lambda x: x % 2)
        >>> list(hr.Dataset.load(folder).batch(4))
        [array([0, 1, 2, 3])]
        """
        from ..saved import save

        save(cast("Dataset[T_co]", self), path, compression, shard_func, checkpoint_args)
