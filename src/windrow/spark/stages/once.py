"""What all tasks of a job have in common, unpickled once in a worker rather than with each task.

A plan of a thousand queries takes longer to unpickle than its batch takes to slide. Spark hands each task the bytes of
what it runs; a worker that has seen the same bytes before has what they stand for.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Generic, TypeVar

from pyspark.serializers import CloudPickleSerializer

T = TypeVar("T")

_PACKING = CloudPickleSerializer()  # type: ignore[no-untyped-call]
"""As Spark itself packs what its tasks run. Nothing of this is ever stored."""


class Once(Generic[T]):
    """A value on its way to workers, which nobody changes. It must hold no broadcast: Spark would not find it in here.

    >>> plan = Once({"k": [1, 2]})
    >>> sent = [_PACKING.loads(_PACKING.dumps(plan)) for task in range(2)]
    >>> sent[0].value, sent[0].value is sent[1].value
    ({'k': [1, 2]}, True)
    """

    def __init__(self, value: T) -> None:
        self._packed: bytes = _PACKING.dumps(value)  # type: ignore[no-untyped-call]

    @property
    def value(self) -> T:
        found: T = _loaded(self._packed)
        return found


@lru_cache(maxsize=16)
def _loaded(packed: bytes) -> Any:
    """What a worker has unpickled of late."""
    return _PACKING.loads(packed)  # type: ignore[no-untyped-call]
