"""What was asked for by name, of a query or of all that runs over one scan."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """Wishes by choice, each the name of an alternative; `index` is the class of a user's own index.

    >>> asked = Wanted((("maintenance", "tree"),)).over(Wanted((("index", "grid"), ("maintenance", "DABA"))))
    >>> print(asked)
    index grid, maintenance tree
    """

    wishes: tuple[tuple[str, str], ...] = ()
    index: type | None = None

    def get(self, choice: str) -> str | None:
        return dict(self.wishes).get(choice)

    def over(self, others: Wanted) -> Wanted:
        """These, and `others` where there are none."""
        both = dict(others.wishes) | dict(self.wishes)
        own = self.index if self.get("index") is not None else others.index
        return Wanted(tuple(sorted(both.items())), own)

    def __str__(self) -> str:
        return ", ".join(f"{choice} {name}" for choice, name in self.wishes)


NOTHING = Wanted()
