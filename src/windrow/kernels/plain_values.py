"""Plain values as bytes and back: what states and payloads hold, without running any code when they are read."""

from __future__ import annotations

import struct
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from windrow.kernels.plain_parts import PARTS, put_together, taken_apart

DEEPEST = 200
"""Values may be nested so deep."""


@dataclass(frozen=True, slots=True)
class Extension:
    """One more type that counts as plain, by the plain values that it is made of."""

    name: str
    type: type
    dump: Callable[[Any], Any]
    load: Callable[[Any], Any]


class PlainValues:
    """A tag of one byte, then the value. Equal values give equal bytes: sets are put in order, dicts keep theirs.

    None, booleans, whole numbers of any size, floats, texts, bytes, lists, tuples, dicts, sets, dates and times,
    decimals, deques, counters, and numpy's scalars and arrays of these; of exactly these types, since what a class of
    its own adds would be lost.

    >>> values = PlainValues()
    >>> values.decode(values.encode({"n": 2**70, "seen": {"b", "a"}, "at": (1.5, None)})) == {
    ...     "n": 2**70, "seen": {"b", "a"}, "at": (1.5, None)}
    True
    >>> values.encode(object())
    Traceback (most recent call last):
    windrow.kernels.plain_parts.NotPlain: builtins.object
    """

    def __init__(self, extensions: Sequence[Extension] = ()) -> None:
        self._by_type = {extension.type: extension for extension in extensions}
        self._by_name = {extension.name: extension for extension in extensions}

    def encode(self, value: Any) -> bytes:
        """Raises NotPlain for what cannot be stored, and ValueError for what refers to itself."""
        out: list[bytes] = []
        self._write(value, out, 0)
        return b"".join(out)

    def decode(self, stored: bytes) -> Any:
        """Raises ValueError for bytes that no value has."""
        try:
            value, end = self._read(memoryview(stored), 0, 0)
        except (IndexError, struct.error, TypeError, KeyError, ArithmeticError, AttributeError, SyntaxError) as error:
            raise ValueError(f"these are no plain values: {error}") from error
        if end != len(stored):
            raise ValueError("these are no plain values: there is more behind them")
        return value

    def _write(self, value: Any, out: list[bytes], depth: int) -> None:
        if depth > DEEPEST:
            raise ValueError(f"it is nested more than {DEEPEST} deep, or refers to itself")
        kind = type(value)
        if value is None or kind is bool:
            out.append(b"N" if value is None else b"T" if value else b"F")
        elif kind is int:
            out.append(b"i" + _sized(value.to_bytes((value.bit_length() + 8) // 8, "little", signed=True)))
        elif kind is float:
            out.append(b"f" + struct.pack("<d", value))
        elif kind is complex:
            out.append(b"c" + struct.pack("<dd", value.real, value.imag))
        elif kind is str:
            out.append(b"s" + _sized(value.encode("utf-8", "surrogatepass")))
        elif kind is bytes or kind is bytearray:
            out.append((b"b" if kind is bytes else b"B") + _sized(bytes(value)))
        elif kind in _LISTS:
            out.append(_LISTS[kind] + _count(len(value)))
            self._write_all(value, out, depth)
        elif kind is deque:
            out.append(b"q" + _count(len(value)))
            self._write_all([value.maxlen, *value], out, depth)
        elif kind is dict or kind is Counter:
            out.append((b"d" if kind is dict else b"k") + _count(len(value)))
            self._write_all((part for item in value.items() for part in item), out, depth)
        elif kind is set or kind is frozenset:
            out.append((b"e" if kind is set else b"z") + _count(len(value)))
            out += sorted(self._nested(part, depth) for part in value)
        elif kind in self._by_type:
            extension = self._by_type[kind]
            out.append(b"x")
            self._write_all((extension.name, extension.dump(value)), out, depth)
        else:
            tag, parts = taken_apart(value)
            out.append(tag)
            self._write_all(parts, out, depth)

    def _write_all(self, values: Iterable[Any], out: list[bytes], depth: int) -> None:
        for value in values:
            self._write(value, out, depth + 1)

    def _nested(self, value: Any, depth: int) -> bytes:
        out: list[bytes] = []
        self._write(value, out, depth + 1)
        return b"".join(out)

    def _read(self, data: memoryview, at: int, depth: int) -> tuple[Any, int]:
        if depth > DEEPEST:
            raise ValueError(f"these are no plain values: nested more than {DEEPEST} deep")
        tag, at = bytes(data[at : at + 1]), at + 1
        if tag in _SINGLE:
            return _SINGLE[tag], at
        if tag in b"fc" and tag:
            size = 8 if tag == b"f" else 16
            parts = struct.unpack("<d" if tag == b"f" else "<dd", data[at : at + size])
            return (parts[0] if tag == b"f" else complex(*parts)), at + size
        if tag in (b"i", b"s", b"b", b"B"):
            size, at = _counted(data, at)
            held = bytes(data[at : at + size])
            if len(held) != size:
                raise ValueError("these are no plain values: they end too early")
            return _UNSIZED[tag](held), at + size
        if tag in PARTS:
            parts_, at = self._read_all(data, at, depth, PARTS[tag])
            return put_together(tag, parts_), at
        if tag == b"x":
            (name, dumped), at = self._read_all(data, at, depth, 2)
            return self._by_name[name].load(dumped), at
        count, at = _counted(data, at)
        if tag in (b"d", b"k"):
            flat, at = self._read_all(data, at, depth, 2 * count)
            pairs = dict(zip(flat[::2], flat[1::2]))
            return (pairs if tag == b"d" else Counter(pairs)), at
        if tag == b"q":
            (longest, *held_), at = self._read_all(data, at, depth, count + 1)
            return deque(held_, longest), at
        several, at = self._read_all(data, at, depth, count)
        return _MADE[tag](several), at

    def _read_all(self, data: memoryview, at: int, depth: int, count: int) -> tuple[list[Any], int]:
        if count > len(data):
            raise ValueError("these are no plain values: they end too early")
        values = []
        for _ in range(count):
            value, at = self._read(data, at, depth + 1)
            values.append(value)
        return values, at


_LISTS: dict[type, bytes] = {list: b"l", tuple: b"t"}
_SINGLE: dict[bytes, Any] = {b"N": None, b"T": True, b"F": False}
_MADE: dict[bytes, Callable[[list[Any]], Any]] = {b"l": list, b"t": tuple, b"e": set, b"z": frozenset}
_UNSIZED: dict[bytes, Callable[[bytes], Any]] = {
    b"i": lambda held: int.from_bytes(held, "little", signed=True),
    b"s": lambda held: held.decode("utf-8", "surrogatepass"),
    b"b": bytes,
    b"B": bytearray,
}


def _count(number: int) -> bytes:
    """A length, seven bits a byte."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _counted(data: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7


def _sized(held: bytes) -> bytes:
    return _count(len(held)) + held
