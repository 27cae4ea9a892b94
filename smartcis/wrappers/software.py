"""Software list: a page that says what is installed, on one machine or on many.

Law:        after a poll the source's rows of `machine_software` are those of the page; an
            unchanged page changes no row. While the page is away, what it said last stands, and
            is marked.
Source:     own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from aspen.model.schema import Row
from smartcis.wrappers.errors import BadConfig
from smartcis.wrappers.fetch import fetch
from smartcis.wrappers.page import matches
from smartcis.wrappers.polling import PolledSource, named, pattern_with
from smartcis.wrappers.protocol import Append, Contents, Settings

PATTERN = r"^(?:(?P<host>[\w.-]+) \| )?(?P<software>[^|]+?)(?: \| .*)?$"
ONE_MACHINE = r"^(?P<software>[^|]+?)(?: \| .*)?$"
NAME_LENGTH = 120


class SoftwareList(PolledSource):
    """One page.

    Args:
        settings: `config.url`, `config.pattern`, `config.machines`; the machine it speaks for.
        clock: wall time, seconds since the epoch.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        super().__init__(settings, clock, ("machine_software",))
        self._machines: Mapping[str, str] = settings.config["machines"]
        if bool(self._machines) == bool(settings.mid):
            raise BadConfig(
                "a software list belongs to one machine, or names machines",
                attempt="choose a machine, or fill in `machines`",
            )
        standard = PATTERN if self._machines else ONE_MACHINE
        needed = ("host", "software") if self._machines else ("software",)
        self._pattern = pattern_with(settings, standard, needed)

    def poll(self, append: Append) -> None:
        """Reads the page once; see `Poller.poll`."""
        page = fetch(str(self._settings.config["url"]), self._settings.memory)
        rows: dict[str, Row] = {}
        strange: set[str] = set()
        for found in matches(page.text, self._pattern, "software"):
            software = found["software"][:NAME_LENGTH]
            host = found.get("host", "")
            mid = self._settings.mid or self._machines.get(host, "")
            if mid and software:
                rows[f"{mid}/{software}"] = (mid, software)
            elif host:
                strange.add(host)
        append(Contents("machine_software", rows))
        self.warnings = [
            f"no machine is set for the host {host[:60]!r}" for host in sorted(strange)
        ]
        self.pulse.heard(self._clock(), named(self.warnings))
