"""Points drawn with characters: each is 2 dots wide and 4 dots high, and has one colour."""

from __future__ import annotations

import numpy as np
from rich.text import Text

FIRST = 0x2800
DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""The bit of each dot, by its row and column within the character (Unicode's Braille patterns)."""


class Canvas:
    """A field of so many characters, with x to the right and y upwards within `bounds`.

    >>> canvas = Canvas(4, 2, (0.0, 0.0, 8.0, 8.0))
    >>> canvas.dots(np.array([0.0, 7.9]), np.array([7.9, 0.0]), "red")
    >>> canvas.label(4.0, 1.0, "12", "green")
    >>> print(canvas.drawn().plain)
    ⠁⠀⠀⠀
    ⠀12⢀
    """

    def __init__(self, columns: int, rows: int, bounds: tuple[float, float, float, float]) -> None:
        self._cells = np.zeros((rows, columns), int)
        self._styles = np.full((rows, columns), "", dtype=object)
        self._bounds = bounds

    def dots(self, x: np.ndarray, y: np.ndarray, style: str) -> None:
        """Draw points; a character has the colour of the points that came last."""
        rows, columns = self._cells.shape
        across, down = self._places(x, y, 2 * columns, 4 * rows)
        np.bitwise_or.at(self._cells, (down // 4, across // 2), DOTS[down % 4, across % 2])
        self._styles[down // 4, across // 2] = style

    def label(self, x: float, y: float, text: str, style: str) -> None:
        """Write a text, its middle at (x, y)."""
        rows, columns = self._cells.shape
        across, down = self._places(np.array([x]), np.array([y]), columns, rows)
        start = max(0, min(columns - len(text), int(across[0]) - len(text) // 2))
        for place, letter in enumerate(text[:columns], start):
            self._cells[down[0], place], self._styles[down[0], place] = ord(letter) - FIRST, style

    def drawn(self) -> Text:
        """All of it, with its colours."""
        text = Text(no_wrap=True)
        for row, (cells, styles) in enumerate(zip(self._cells, self._styles)):
            for cell, style in zip(cells.tolist(), styles):
                text.append(chr(FIRST + cell), style)
            if row + 1 < len(self._cells):
                text.append("\n")
        return text

    def _places(self, x: np.ndarray, y: np.ndarray, columns: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
        left, bottom, right, top = self._bounds
        across = np.clip((x - left) / (right - left) * columns, 0, columns - 1).astype(int)
        down = np.clip((top - y) / (top - bottom) * rows, 0, rows - 1).astype(int)
        return across, down
