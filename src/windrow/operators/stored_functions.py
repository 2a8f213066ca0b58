"""Whether the states of a function that remembers can be stored, as far as that of a new key can tell."""

from __future__ import annotations

from dataclasses import replace

from windrow.errors import FunctionError
from windrow.kernels.state_codec import StateCodec, storing
from windrow.operators.function_states import ColumnStates
from windrow.plan.catalog import UserFunction
from windrow.storage.blocks import MemoryBlocks


def check_function(name: str, function: UserFunction, state: str | None) -> UserFunction:
    """The function, with the wish of who registers it; refuses a class whose states cannot be stored."""
    what = f"stream function {name!r}"
    code = storing(what, function.implementation, state)
    try:
        made = code()
        first = made.init()
    except Exception:  # what it needs to run may not be here; it is blamed where it does run
        return replace(function, implementation=code)
    if hasattr(code, "step_many"):
        ColumnStates(what, first, "", MemoryBlocks(), None)
    elif first is not None:
        StateCodec(what, made, FunctionError).encode(first)
    return replace(function, implementation=code)
