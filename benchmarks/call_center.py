"""The example of the call center, as the benchmark of many queries uses it: its calls and its KPIs."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[1] / "examples" / "call_center"


def _loaded(name: str) -> ModuleType:
    """A module of the example, under a name of its own: every example has a `generate`."""
    spec = importlib.util.spec_from_file_location(f"call_center_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_kpis = _loaded("kpis")
FIELDS, FUNCTIONS, KEYS, WINDOW, kpi_queries = (
    _kpis.FIELDS, _kpis.FUNCTIONS, _kpis.KEYS, _kpis.WINDOW, _kpis.kpi_queries
)  # fmt: skip
_generate = _loaded("generate")
write_calls, CallCenter = _generate.write_calls, _generate.CallCenter
