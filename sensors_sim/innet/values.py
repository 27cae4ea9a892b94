"""Values as bytes: what a mote writes into a payload, one column after the other.

    INT    zigzag varint                        −3 → 05
    FLOAT  with d decimals: the scaled integer  21.57, d = 2 → zigzag varint of 2157
           otherwise: eight bytes, IEEE double
    TEXT   its number in the field's dictionary
    BOOL   one byte; a column that may be null is preceded by a byte that says whether it is

Law: `take(put(v)) == v` for every value its wire can carry.
Source: own; varints as in Protocol Buffers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from aspen.model.schema import Value
from sensors_sim.errors import BadMessage

DOUBLE = -1
POWERS: tuple[int, ...] = tuple(10**decimals for decimals in range(16))
_MORE, _SEVEN = 0x80, 0x7F
_SHORT = 1e6  # greater numbers are as short as doubles


class WireType(Enum):
    """How a value travels."""

    INT = 0
    SCALED = 1
    DOUBLE = 2
    TEXT = 3
    BOOL = 4


@dataclass(frozen=True, slots=True)
class Wire:
    """How one column travels.

    Args:
        decimals: digits after the point, of SCALED.
    """

    type: WireType
    decimals: int = 0
    nullable: bool = False


class Dictionary:
    """The texts both ends know: ids of sensors, rooms, machines, and the words of queries.

    It is written to motes when they are installed; a query's new words equal nothing a mote holds.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []

    def number(self, text: str) -> int:
        """Returns a text's number, a new one if it has none."""
        known = self._numbers.get(text)
        if known is None:
            known = self._numbers[text] = len(self._texts)
            self._texts.append(text)
        return known

    def text(self, number: int) -> str:
        """Returns a number's text.

        Raises:
            BadMessage: nobody gave that number out.
        """
        if not 0 <= number < len(self._texts):
            raise BadMessage("a text that is not in the dictionary", found=str(number))
        return self._texts[number]


class Writer:
    """Builds a payload."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.data = bytearray()
        self._dictionary = dictionary

    def byte(self, value: int) -> None:
        """Write one byte."""
        self.data.append(value)

    def count(self, *values: int) -> None:
        """Write whole numbers from 0 up."""
        for value in values:
            rest = value
            while rest > _SEVEN:
                self.data.append(rest & _SEVEN | _MORE)
                rest >>= 7
            self.data.append(rest)

    def whole(self, value: int) -> None:
        """Write a whole number of either sign."""
        self.count(value * 2 if value >= 0 else -value * 2 - 1)

    def text(self, value: str) -> None:
        """Write a text as its number."""
        self.count(self._dictionary.number(value))

    def double(self, value: float) -> None:
        """Write eight bytes."""
        self.data += struct.pack("<d", value)

    def put(self, wire: Wire, value: Value) -> None:
        """Write a value.

        Raises:
            BadMessage: the wire cannot carry it.
        """
        if wire.nullable:
            self.byte(value is not None)
            if value is None:
                return
        match wire.type, value:
            case WireType.BOOL, bool():
                self.byte(value)
            case WireType.INT, int():
                self.whole(value)
            case WireType.SCALED, int() | float():
                self.whole(scaled(value, wire.decimals))
            case WireType.DOUBLE, int() | float():
                self.double(value)
            case WireType.TEXT, str():
                self.text(value)
            case _:
                raise BadMessage(f"a {wire.type.name} cannot be this", found=repr(value))


class ValueReader:
    """Takes a payload apart.

    Raises:
        BadMessage: from every method, when the payload ends too soon.
    """

    def __init__(self, data: bytes, dictionary: Dictionary) -> None:
        self._data = data
        self._at = 0
        self._dictionary = dictionary

    @property
    def done(self) -> bool:
        """Whether all has been read."""
        return self._at >= len(self._data)

    def byte(self) -> int:
        """Read one byte."""
        if self.done:
            raise BadMessage("a message ends too soon", found=self._data.hex())
        self._at += 1
        return self._data[self._at - 1]

    def count(self) -> int:
        """Read a whole number from 0 up."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & _SEVEN) << shift
            if byte < _MORE:
                return value
            shift += 7

    def whole(self) -> int:
        """Read a whole number of either sign."""
        value = self.count()
        return value >> 1 if value & 1 == 0 else -(value + 1 >> 1)

    def text(self) -> str:
        """Read a text."""
        return self._dictionary.text(self.count())

    def double(self) -> float:
        """Read eight bytes."""
        if self._at + 8 > len(self._data):
            raise BadMessage("a message ends too soon", found=self._data.hex())
        (value,) = struct.unpack_from("<d", self._data, self._at)
        self._at += 8
        return float(value)

    def take(self, wire: Wire) -> Value:
        """Read a value."""
        if wire.nullable and not self.byte():
            return None
        match wire.type:
            case WireType.BOOL:
                return bool(self.byte())
            case WireType.INT:
                return self.whole()
            case WireType.SCALED:
                return unscaled(self.whole(), wire.decimals)
            case WireType.DOUBLE:
                return self.double()
            case WireType.TEXT:
                return self.text()


def counts(*values: int) -> bytes:
    """Returns whole numbers from 0 up as bytes."""
    out = Writer(Dictionary())
    out.count(*values)
    return bytes(out.data)


def read_counts(data: bytes) -> list[int]:
    """Returns the whole numbers that bytes hold."""
    source, found = ValueReader(data, Dictionary()), list[int]()
    while not source.done:
        found.append(source.count())
    return found


def packed(
    entries: Iterable[bytes], room: int, first: bytes = b"", later: bytes = b""
) -> list[bytes]:
    """Returns the payloads of at most `room` bytes that entries fill.

    Args:
        first: stands at the head of the first payload; `later` at the heads of the others.
    """
    payloads = [bytearray(first)]
    for entry in entries:
        if len(payloads[-1]) + len(entry) > room:
            payloads.append(bytearray(later))
        payloads[-1] += entry
    return [bytes(one) for one in payloads]


def scaled(value: float, decimals: int) -> int:
    """Returns the integer a measured value is sent as."""
    return round(value * POWERS[decimals])


def unscaled(value: int, decimals: int) -> float:
    """Returns the measured value an integer stands for.

    Law: `unscaled(scaled(v, d), d) == round(v, d)` for values a device can report.
    """
    return value / POWERS[decimals]


def shortest_decimals(value: float) -> int:
    """Returns the fewest decimals that carry a number exactly, DOUBLE if none up to six do."""
    if abs(value) < _SHORT:
        for decimals in range(7):
            whole = round(value * POWERS[decimals])
            if whole / POWERS[decimals] == value:
                return decimals
    return DOUBLE
