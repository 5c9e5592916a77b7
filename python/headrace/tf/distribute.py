"""What input functions get of ``tf.distribute``."""

from __future__ import annotations

from .names import lookup

__all__ = ["InputContext"]


class InputContext:
    """Which part of the input a pipeline makes; mirrors ``tf.distribute.InputContext``.

    Parameters
    ----------
    num_input_pipelines, input_pipeline_id
        How many pipelines there are, and the number of this one.
    num_replicas_in_sync
        How many replicas share a global batch.

    Examples
    --------
    >>> context = tf.distribute.InputContext(4, 1, num_replicas_in_sync=8)
    >>> ds = tf.data.Dataset.range(8)
    >>> ds = ds.shard(context.num_input_pipelines, context.input_pipeline_id)
    >>> ds = ds.batch(context.get_per_replica_batch_size(16))
    >>> list(ds.as_numpy_iterator())
    [array([1, 5])]
    """

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self._pipelines = num_input_pipelines
        self._number = input_pipeline_id
        self._replicas = num_replicas_in_sync

    @property
    def num_input_pipelines(self) -> int:
        """How many pipelines there are."""
        return self._pipelines

    @property
    def input_pipeline_id(self) -> int:
        """The number of this pipeline."""
        return self._number

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas share a global batch."""
        return self._replicas

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Return the batch size of each replica.

        Raises
        ------
        ValueError
            The replicas do not divide the global batch size.
        """
        if global_batch_size % self._replicas:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by "
                f"`num_replicas_in_sync` {self._replicas!r} "
            )
        return global_batch_size // self._replicas

    def __str__(self) -> str:
        return (
            f"tf.distribute.InputContext(input pipeline id {self._number}, "
            f"total: {self._pipelines})"
        )


__getattr__ = lookup(__name__)
