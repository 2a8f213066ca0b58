"""Tests here, and the processes they start, import what lies beside them, as `make torture` does."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
