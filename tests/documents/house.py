"""The house: what each room holds, as its files say it of themselves. `python tests/documents/house.py` writes it down.

A room's `__init__` begins with what the room is for, then lists its rooms and files, each with the first sentence of
its own docstring. A reader finds a place by reading one page, and the page cannot be wrong.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

HOME = Path(__file__).parents[2] / "src" / "windrow"
PICTURE = Path(__file__).parents[2] / "CONTRIBUTING.md"
WIDTH = 120


def rooms() -> list[Path]:
    """All rooms below the house itself, the outer ones first."""
    return sorted(path.parent for path in HOME.rglob("__init__.py") if path.parent != HOME)


def said(path: Path) -> str:
    """The first sentence of a file's docstring, or of a room's."""
    text = ast.get_docstring(ast.parse((path / "__init__.py" if path.is_dir() else path).read_text())) or ""
    first = re.sub(r"\s+", " ", text.partition("\n\n")[0])
    return re.split(r"(?<=[^.]\.) (?=[A-Z`])", first)[0].removesuffix(".")


def index(room: Path) -> str:
    """What is in a room, a line or two each: its rooms, then its files."""
    inner = sorted(path for path in room.iterdir() if (path / "__init__.py").exists())
    files = sorted(path for path in room.glob("*.py") if path.name != "__init__.py")
    names = [f"{path.name}/" if path.is_dir() else path.stem for path in (*inner, *files)]
    if not names:
        return ""
    wide = max(map(len, names)) + 2
    lines = (_line(name, said(path), wide) for name, path in zip(names, (*inner, *files)))
    return "\n".join(lines)


def _line(name: str, text: str, wide: int) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=f"{name:<{wide}}", subsequent_indent=" " * wide)


def indexed(room: Path) -> str:
    """The room's `__init__` with its index as it should be."""
    source = (room / "__init__.py").read_text()
    old = ast.get_docstring(ast.parse(source), clean=False)
    assert old, f"{room} does not say what it is for"
    head = "\n\n".join(part for part in old.strip().split("\n\n") if not re.match(r"[\w/]+ {2,}\S", part))
    whole = f"{head}\n\n{index(room)}\n" if index(room) else head
    return source.replace(f'"""{old}"""', f'"""{whole}"""', 1)


def pictured() -> list[str]:
    """The rooms that CONTRIBUTING shows, by their paths."""
    picture = PICTURE.read_text().partition("src/windrow/\n")[2].partition("```")[0]
    return list(_paths(picture.splitlines()))


def _paths(lines: list[str]) -> Iterator[str]:
    outer = ""
    for line in lines:
        found = re.match(r"(  |    )(\w+)/ ", line)
        if found is not None:
            outer = found[2] if found[1] == "  " else outer
            yield found[2] if found[1] == "  " else f"{outer}/{found[2]}"


if __name__ == "__main__":
    for room in reversed(rooms()):
        (room / "__init__.py").write_text(indexed(room))
