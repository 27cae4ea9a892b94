"""PDU: the web page of a power distribution unit, read as it stands.

Law:        every poll appends what the page shows now, or nothing; a page that is gone or shows
            something else appends nothing, and windows over `pdu_power` empty by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from aspen.model.schema import Row
from smartcis.wrappers.base import Poller
from smartcis.wrappers.config import ConfigField
from smartcis.wrappers.errors import BadRow
from smartcis.wrappers.fetch import fetch
from smartcis.wrappers.page import matches, pattern_with
from smartcis.wrappers.protocol import Append, Capability, StreamRows

# `3 | Mill | 41.5 W`, `Outlet 3: 41,5 Watt`
PATTERN = (
    r"(?:outlet\s*)?(?P<outlet>[A-Za-z]?\d+)\b.*?(?P<watts>-?\d+(?:[.,]\d+)?)\s*(?:w|watts?)\b"
)
GREATEST_W = 100_000.0  # no outlet gives more


class Pdu(Poller):
    """One page."""

    key = "pdu"
    label = "Power distribution unit (web page)"
    fields = (
        ConfigField("url", "url", "address of the page", required=True),
        ConfigField(
            "pattern",
            "pattern",
            "regular expression with the groups outlet and watts, for lines such as "
            "`3 | Mill | 41.5 W`; empty for the usual",
        ),
        ConfigField("outlets", "names", "outlet → machine id", default={}),
    )
    feeds = ("pdu_power",)
    capabilities = (Capability.POLL, Capability.SAMPLE)

    def _set_up(self, config: Mapping[str, Any]) -> None:
        self._outlets: Mapping[str, str] = config["outlets"]
        self._pattern = pattern_with(config["pattern"] or PATTERN, ("outlet", "watts"))

    def _read(self, append: Append, _now_s: float) -> list[str]:
        page = fetch(str(self.settings.config["url"]), self.settings.memory)
        at_s = self._clock()
        rows: list[Row] = []
        warnings: list[str] = []
        for found in matches(page.text, self._pattern, "outlets"):
            outlet = found["outlet"]
            mid = self._outlets.get(outlet) or None
            try:
                rows.append((self.settings.source, outlet, mid, watts(found), at_s))
            except BadRow as bad:
                warnings.append(f"{bad.code}: outlet {outlet!r}: {bad.message}")
        append(StreamRows("", "pdu_power", rows))
        return warnings


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
