"""Units: which quantities may meet, and what products of them are called.

A unit is a plain text on a column (`kg`, `°C`, `m/s`); the empty text says nothing and agrees with
every unit. Products and quotients are compared by their factors, not by their spelling.
"""

from __future__ import annotations

from collections import Counter


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
    above = "·".join(name for name, power in sorted(factors.items()) for _ in range(power))
    below = "".join(f"/{name}" * -power for name, power in sorted(factors.items()))
    return (above or "1") + below if below else above
