"""What all tasks of a job have in common, unpickled once in a worker rather than with each task.

A plan of a thousand queries takes longer to unpickle than its batch takes to slide. Spark hands each task the bytes of
what it runs; a worker that has seen the same bytes before has what they stand for.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import OrderedDict
from typing import Any, Generic, TypeVar

from pyspark import cloudpickle

T = TypeVar("T")

_LOADED: OrderedDict[bytes, Any] = OrderedDict()
"""What this worker has unpickled, by the digest of its bytes, last used last."""

_LOADED_MOST = 16


class Once(Generic[T]):
    """A value on its way to workers, which nobody changes. It must hold no broadcast: Spark would not find it in here.

    >>> plan = Once({"k": [1, 2]})
    >>> sent = [pickle.loads(pickle.dumps(plan)) for task in range(2)]
    >>> sent[0].value, sent[0].value is sent[1].value
    ({'k': [1, 2]}, True)
    """

    def __init__(self, value: T) -> None:
        self._packed: bytes = cloudpickle.dumps(value)  # type: ignore[no-untyped-call]
        self._digest = hashlib.sha256(self._packed).digest()

    @property
    def value(self) -> T:
        found: T = _LOADED.pop(self._digest) if self._digest in _LOADED else pickle.loads(self._packed)
        _LOADED[self._digest] = found
        while len(_LOADED) > _LOADED_MOST:
            _LOADED.popitem(last=False)
        return found
