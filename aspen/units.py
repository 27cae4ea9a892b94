"""Units: which quantities may meet, what products of them are called, how values convert.

A unit is a plain text on a column (`kg`, `°C`, `m/s`); the empty text says nothing and agrees with
every unit. Products and quotients are compared by their factors, not by their spelling.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from aspen.errors import AspenError


class UnknownUnit(AspenError, code="aspen.units.unknown"):
    """A unit nothing is known of."""


class IncompatibleUnits(AspenError, code="aspen.units.incompatible"):
    """A conversion between different quantities."""


@dataclass(frozen=True, slots=True)
class UnitOfMeasure:
    """One unit of a quantity: `value_in_base = value * factor + offset`."""

    name: str
    quantity: str
    factor: float = 1.0
    offset: float = 0.0


UNITS: dict[str, UnitOfMeasure] = {
    unit.name: unit
    for unit in (
        UnitOfMeasure("kg", "mass"),
        UnitOfMeasure("g", "mass", 0.001),
        UnitOfMeasure("lb", "mass", 0.45359237),
        UnitOfMeasure("°C", "temperature"),
        UnitOfMeasure("K", "temperature", 1.0, -273.15),
        UnitOfMeasure("°F", "temperature", 5 / 9, -160 / 9),
        UnitOfMeasure("lx", "illuminance"),
        UnitOfMeasure("%", "share"),
        UnitOfMeasure("s", "time"),
        UnitOfMeasure("ms", "time", 0.001),
        UnitOfMeasure("min", "time", 60.0),
        UnitOfMeasure("h", "time", 3600.0),
        UnitOfMeasure("m", "length"),
        UnitOfMeasure("mm", "length", 0.001),
        UnitOfMeasure("cm", "length", 0.01),
        UnitOfMeasure("km", "length", 1000.0),
        UnitOfMeasure("dBm", "signal strength"),
        UnitOfMeasure("W", "power"),
        UnitOfMeasure("mW", "power", 0.001),
        UnitOfMeasure("kW", "power", 1000.0),
        UnitOfMeasure("J", "energy"),
        UnitOfMeasure("mJ", "energy", 0.001),
        UnitOfMeasure("Wh", "energy", 3600.0),
        UnitOfMeasure("kWh", "energy", 3_600_000.0),
        UnitOfMeasure("V", "voltage"),
        UnitOfMeasure("A", "current"),
        UnitOfMeasure("Hz", "frequency"),
        UnitOfMeasure("B", "information"),
    )
}


def convert(value: float, unit: str, target: str) -> float:
    """Convert a measured value.

    Args:
        value: in `unit`.

    Raises:
        UnknownUnit: no such unit.
        IncompatibleUnits: the units measure different quantities.
    """
    if unit == target:
        return value
    for name in (unit, target):
        if name not in UNITS:
            raise UnknownUnit(f"there is no unit {name!r}", found=name, exists=tuple(UNITS))
    source, wanted = UNITS[unit], UNITS[target]
    if source.quantity != wanted.quantity:
        same = tuple(u.name for u in UNITS.values() if u.quantity == wanted.quantity)
        raise IncompatibleUnits(
            f"{unit} measures {source.quantity}, {target} measures {wanted.quantity}",
            found=unit,
            exists=same,
        )
    return (value * source.factor + source.offset - wanted.offset) / wanted.factor


def common(left: str, right: str) -> str | None:
    """Returns the unit two quantities share, None when they must not meet."""
    if not left or not right or _factors(left) == _factors(right):
        return left or right
    return None


def product(left: str, right: str) -> str:
    """Returns the unit of a product."""
    factors = Counter(_factors(left))
    for name, power in _factors(right).items():
        factors[name] += power
    return _spell(factors)


def quotient(left: str, right: str) -> str:
    """Returns the unit of a quotient, empty when it is a bare number."""
    factors = Counter(_factors(left))
    for name, power in _factors(right).items():
        factors[name] -= power
    return _spell(factors)


def _factors(unit: str) -> dict[str, int]:
    above, *below = unit.split("/")
    factors: Counter[str] = Counter(name for name in above.split("·") if name not in ("", "1"))
    for part in below:
        for name in part.split("·"):
            factors[name] -= 1
    return {name: power for name, power in factors.items() if power}


def _spell(factors: Counter[str]) -> str:
    above = [name for name, power in sorted(factors.items()) for _ in range(power)]
    below = [name for name, power in sorted(factors.items()) for _ in range(-power)]
    return (
        "·".join(above) + "".join(f"/{name}" for name in below)
        if above or not below
        else ("1" + "".join(f"/{name}" for name in below))
    )
