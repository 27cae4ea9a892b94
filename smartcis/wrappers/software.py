"""Software list: a page that says what is installed, on one machine or on many.

Law:        after a poll the source's rows of `machine_software` are those of the page; an
            unchanged page changes no row. While the page is away, what it said last stands, and
            is marked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aspen.model.schema import Row
from smartcis.wrappers.base import Poller
from smartcis.wrappers.config import ConfigField
from smartcis.wrappers.errors import BadConfig
from smartcis.wrappers.fetch import fetch
from smartcis.wrappers.page import matches, pattern_with
from smartcis.wrappers.protocol import Append, Capability, Contents

PATTERN = r"^(?:(?P<host>[\w.-]+) \| )?(?P<software>[^|]+?)(?: \| .*)?$"
ONE_MACHINE = r"^(?P<software>[^|]+?)(?: \| .*)?$"
NAME_LENGTH = 120


class SoftwareList(Poller):
    """One page."""

    key = "software"
    label = "Software list (web page)"
    fields = (
        ConfigField("url", "url", "address of the page", required=True),
        ConfigField(
            "pattern",
            "pattern",
            "regular expression with the group software, and host where several machines are "
            "listed; empty for the usual",
        ),
        ConfigField("machines", "names", "host as the page writes it → machine id", default={}),
    )
    period_s = 600.0
    feeds = ("machine_software",)
    capabilities = (Capability.POLL,)

    def _set_up(self, config: Mapping[str, Any]) -> None:
        self._machines: Mapping[str, str] = config["machines"]
        if bool(self._machines) == bool(self.settings.mid):
            raise BadConfig(
                "a software list belongs to one machine, or names machines",
                attempt="choose a machine, or fill in `machines`",
            )
        standard = PATTERN if self._machines else ONE_MACHINE
        needed = ("host", "software") if self._machines else ("software",)
        self._pattern = pattern_with(config["pattern"] or standard, needed)

    def _read(self, append: Append, _now_s: float) -> list[str]:
        page = fetch(str(self.settings.config["url"]), self.settings.memory)
        rows: dict[str, Row] = {}
        strange: set[str] = set()
        for found in matches(page.text, self._pattern, "software"):
            software = found["software"][:NAME_LENGTH]
            host = found.get("host", "")
            mid = self.settings.mid or self._machines.get(host, "")
            if mid and software:
                rows[f"{mid}/{software}"] = (mid, software)
            elif host:
                strange.add(host)
        append(Contents("machine_software", rows))
        return [f"no machine is set for the host {host[:60]!r}" for host in sorted(strange)]
