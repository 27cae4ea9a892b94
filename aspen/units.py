"""Units: which quantities may meet, what products of them are called, how values convert.

A unit is a plain text on a column (`kg`, `°C`, `m/s`); the empty text says nothing and agrees with
every unit. Products and quotients are compared by their factors, not by their spelling.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from aspen.errors import AspenError


class UnknownUnit(AspenError):
    """A unit nothing is known of."""

    code = "aspen.units.unknown"


class IncompatibleUnits(AspenError):
    """A conversion between different quantities."""

    code = "aspen.units.incompatible"


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of a quantity: `value_in_base = value * factor + offset`."""

    name: str
    quantity: str
    factor: float = 1.0
    offset: float = 0.0


UNITS: dict[str, Unit] = {
    unit.name: unit
    for unit in (
        Unit("kg", "mass"),
        Unit("g", "mass", 0.001),
        Unit("lb", "mass", 0.45359237),
        Unit("°C", "temperature"),
        Unit("K", "temperature", 1.0, -273.15),
        Unit("°F", "temperature", 5 / 9, -160 / 9),
        Unit("lx", "illuminance"),
        Unit("%", "share"),
        Unit("s", "time"),
        Unit("ms", "time", 0.001),
        Unit("min", "time", 60.0),
        Unit("h", "time", 3600.0),
        Unit("m", "length"),
        Unit("mm", "length", 0.001),
        Unit("cm", "length", 0.01),
        Unit("km", "length", 1000.0),
        Unit("dBm", "signal strength"),
        Unit("W", "power"),
        Unit("mW", "power", 0.001),
        Unit("kW", "power", 1000.0),
        Unit("J", "energy"),
        Unit("mJ", "energy", 0.001),
        Unit("Wh", "energy", 3600.0),
        Unit("kWh", "energy", 3_600_000.0),
        Unit("V", "voltage"),
        Unit("A", "current"),
        Unit("Hz", "frequency"),
        Unit("B", "information"),
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
