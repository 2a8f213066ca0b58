"""Whether a group was seen at all: a bit in blocks."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.kernels.count import Count
from windrow.kernels.kernel import Irreversible, KernelDefaults


@dataclass(frozen=True, slots=True)
class Seen(Count):
    """How often a group was seen; that it is not 0 is all that blocks keep of it, so that nothing is subtracted.

    Of a window it is no number of rows (`SeenPartial`), and late events beside the panes add to it.
    """

    reversible = False
    remove = Irreversible.remove
    slide = KernelDefaults.slide
