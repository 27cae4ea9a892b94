"""PDU: the web page of a power distribution unit, read as it stands.

Law:        every poll appends what the page shows now, or nothing; a page that is gone or shows
            something else appends nothing, and windows over `pdu_power` empty by themselves.
Source:     own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping

from aspen.model.schema import Row
from smartcis.wrappers.errors import BadRow
from smartcis.wrappers.fetch import fetch
from smartcis.wrappers.page import matches
from smartcis.wrappers.polling import PolledSource, named, pattern_with
from smartcis.wrappers.protocol import Append, Arrivals, Capability, Settings

# `3 | Mill | 41.5 W`, `Outlet 3: 41,5 Watt`
PATTERN = (
    r"(?:outlet\s*)?(?P<outlet>[A-Za-z]?\d+)\b.*?(?P<watts>-?\d+(?:[.,]\d+)?)\s*(?:w|watts?)\b"
)
GREATEST_W = 100_000.0  # no outlet gives more


class Pdu(PolledSource):
    """One page.

    Args:
        settings: `config.url`, `config.pattern`, `config.outlets`.
        clock: wall time, seconds since the epoch.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        super().__init__(settings, clock, ("pdu_power",), Capability.SAMPLE)
        self._outlets: Mapping[str, str] = settings.config["outlets"]
        self._pattern = pattern_with(settings, PATTERN, ("outlet", "watts"))

    def poll(self, append: Append) -> None:
        """Reads the page once; see `Poller.poll`."""
        page = fetch(str(self._settings.config["url"]), self._settings.memory)
        now_s = self._clock()
        rows: list[Row] = []
        self.warnings = []
        for found in matches(page.text, self._pattern, "outlets"):
            outlet = found["outlet"]
            try:
                rows.append((self._settings.source, outlet, self._mid(outlet), watts(found), now_s))
            except BadRow as bad:
                self.warnings.append(f"{bad.code}: outlet {outlet!r}: {bad.message}")
        append(Arrivals("", "pdu_power", rows))
        self.pulse.heard(now_s, named(self.warnings))

    def _mid(self, outlet: str) -> str | None:
        return self._outlets.get(outlet) or None


def watts(found: Mapping[str, str]) -> float:
    """Reads a power in watts.

    Raises:
        BadRow: no finite number, or more than any outlet gives.
    """
    try:
        value = float(found["watts"].replace(",", "."))
    except ValueError:
        raise BadRow("its power is no number", found=found["watts"][:40]) from None
    if not math.isfinite(value) or not 0.0 <= value <= GREATEST_W:
        raise BadRow("its power cannot be", found=f"{value:g} W")
    return value
