"""Cases written one after the other."""

from __future__ import annotations


def listed(text: str) -> list[str]:
    """Cases written one after the other, with semicolons and line ends between them."""
    return [case.strip() for line in text.strip().split("\n") for case in line.split(";") if case.strip()]
