"""Units of outside devices, converted to the one unit in which a kind's readings are kept."""

from __future__ import annotations

from smartcis.readings.errors import BadUnit

_SPELLINGS = {
    "°C": ("C", "c", "degC", "Cel", "celsius", "Celsius", "℃", "º C", "ºC"),
    "°F": ("F", "degF", "fahrenheit", "Fahrenheit", "℉", "ºF"),
    "K": ("kelvin", "Kelvin"),
    "%": ("percent", "pct", "%RH", "% RH", "%rh", "RH"),
    "lx": ("lux", "Lux", "lm/m²"),
    "dB": ("dBA", "dB(A)", "db"),
    "hPa": ("hpa", "mbar", "mb"),
    "µg/m³": ("μg/m³", "ug/m3", "ug/m³", "µg/m3", "μg/m3"),
    "mg/m³": ("mg/m3",),
    "W": ("watt", "watts", "Watt"),
    "V": ("volt", "volts"),
    "": ("bool", "boolean", "lqi"),
}
_SPELT = {other: unit for unit, others in _SPELLINGS.items() for other in others}

# (from, to) → factor, and what is added afterwards
_LINEAR: dict[tuple[str, str], tuple[float, float]] = {
    ("°F", "°C"): (5 / 9, -160 / 9),
    ("K", "°C"): (1.0, -273.15),
    ("fraction", "%"): (100.0, 0.0),
    ("klx", "lx"): (1_000.0, 0.0),
    ("Pa", "hPa"): (0.01, 0.0),
    ("kPa", "hPa"): (10.0, 0.0),
    ("bar", "hPa"): (1_000.0, 0.0),
    ("inHg", "hPa"): (33.8638866667, 0.0),
    ("mmHg", "hPa"): (1.33322387415, 0.0),
    ("ppb", "ppm"): (0.001, 0.0),
    ("ppm", "ppb"): (1_000.0, 0.0),
    ("mg/m³", "µg/m³"): (1_000.0, 0.0),
    ("mW", "W"): (0.001, 0.0),
    ("kW", "W"): (1_000.0, 0.0),
    ("MW", "W"): (1e6, 0.0),
    ("Wh", "kWh"): (0.001, 0.0),
    ("MWh", "kWh"): (1_000.0, 0.0),
    ("mV", "V"): (0.001, 0.0),
    ("kV", "V"): (1_000.0, 0.0),
    ("mA", "A"): (0.001, 0.0),
    ("g", "kg"): (0.001, 0.0),
}


def converted(value: float, unit: str, wanted: str) -> float:
    """Returns a value in another unit; one that comes without a unit is in the wanted one.

    >>> converted(212.0, "F", "°C")
    100.0

    Raises:
        BadUnit: nobody knows the way from the one to the other.
    """
    said, into = _SPELT.get(unit.strip(), unit.strip()), _SPELT.get(wanted, wanted)
    if said in ("", into):
        return value
    if (said, into) not in _LINEAR:
        raise BadUnit(
            f"{unit[:20]} cannot be converted to {wanted or 'a bare number'}",
            found=unit[:20],
            exists=[wanted, *(one for one, other in _LINEAR if other == into)],
        )
    factor, added = _LINEAR[said, into]
    return round(value * factor + added, 9)
