"""Hour: one reading of each sensor and minute goes to `past_reading`, too, and stays an hour.

    readings   |· · · · |· · · |· · · ·|        kept   |·      |·     |·      |

Law: of each sensor and minute the first reading that this process meets is kept, and no other; a
sensor whose readings come by several processes may have one from each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from smartcis.catalog import CATALOG
from smartcis.ingest.valid import ValidReading
from smartcis.models.sensor_kinds import CODED

EVERY_S = 60.0
PAST = "past_reading"
_MEASURED = {
    **{kind.stream: kind.measures for kind in CODED.values() if not kind.hears_tags},
    "reading": "value",
}
_PLACES = {
    stream: (CATALOG.get(stream).index("sid"), CATALOG.get(stream).index(measured))
    for stream, measured in _MEASURED.items()
}


@dataclass(slots=True)
class Sampling:
    """Which minute each sensor has its reading of."""

    _minutes: dict[str, int] = field(default_factory=dict)

    def of(self, readings: Iterable[ValidReading]) -> list[ValidReading]:
        """Returns what is kept of these readings, as rows of `past_reading`."""
        kept = []
        for one in readings:
            if one.relation not in _PLACES:
                continue
            sid, value = (one.row[place] for place in _PLACES[one.relation])
            minute = int(one.at_s // EVERY_S)
            if self._minutes.get(str(sid), -1) < minute:
                self._minutes[str(sid)] = minute
                kept.append(ValidReading(PAST, (sid, value, one.at_s), one.at_s))
        return kept
