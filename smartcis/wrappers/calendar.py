"""Calendar: an iCalendar feed or file; its events close the rooms they take place in.

Law:        after a poll the source's reservations are those of the feed between yesterday and two
            weeks ahead; an unchanged feed changes no row. While the feed is away, what it said
            last stands, and is marked.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aspen.model.schema import Row
from smartcis.wrappers.base import Poller
from smartcis.wrappers.config import ConfigField
from smartcis.wrappers.errors import BadConfig, SourceDown
from smartcis.wrappers.fetch import LARGEST_BYTES, Page, fetch, storable
from smartcis.wrappers.ical import read_calendar
from smartcis.wrappers.protocol import Append, Capability, Contents

BEHIND_S = 24 * 3600.0
AHEAD_S = 14 * 24 * 3600.0
EXPAND_AGAIN_S = 3600.0  # the same feed reads the same until then, but for two weeks and an hour


class Calendar(Poller):
    """One feed."""

    key = "calendar"
    label = "iCalendar"
    fields = (
        ConfigField("url", "url", "address of the .ics feed"),
        ConfigField(
            "file", "text", "or the name of a file in the folder `sources` of SMARTCIS_VAR"
        ),
        ConfigField("zone", "zone", "zone of times that name none", default="UTC"),
        ConfigField("rooms", "names", "LOCATION as the calendar writes it → room id", default={}),
    )
    period_s = 300.0
    feeds = ("reservation",)
    capabilities = (Capability.POLL,)

    def _set_up(self, config: Mapping[str, Any]) -> None:
        self._url, self._file = str(config["url"]), str(config["file"])
        rooms: Mapping[str, str] = config["rooms"]
        self._rooms = {_plain(location): rid for location, rid in rooms.items()}
        if bool(self._url) == bool(self._file):
            raise BadConfig("a calendar has either a url or a file")
        if self._file and Path(self._file).name != self._file:
            raise BadConfig("a file name has no folders", found=self._file[:60])
        if not self._rooms and not self.settings.rid:
            raise BadConfig(
                "a calendar belongs to a room", attempt="choose a room, or name rooms by LOCATION"
            )

    def _read(self, append: Append, now_s: float) -> list[str]:
        memory = self.settings.memory
        page = self._page()
        if page.fresh:
            memory["expanded_s"] = 0.0  # and so it stays until the rows have been taken
        if not 0 <= now_s - float(memory.get("expanded_s", 0.0)) < EXPAND_AGAIN_S:
            found = read_calendar(
                page.text, str(self.settings.config["zone"]), now_s - BEHIND_S, now_s + AHEAD_S
            )
            rows: dict[str, Row] = {}
            unplaced: set[str] = set()
            for one in found.bookings:
                # By its location where that is set, else the calendar's own room.
                rid = self._rooms.get(_plain(one.location), self.settings.rid)
                if rid:
                    rows[one.key] = (rid, one.start_s, one.end_s, one.title)
                else:
                    unplaced.add(one.location)
            append(Contents("reservation", rows))
            strange = [f"no room is set for the location {one[:60]!r}" for one in sorted(unplaced)]
            memory.update(expanded_s=now_s, warnings=[*found.warnings, *strange])
        return list(memory.get("warnings", ()))

    def _page(self) -> Page:
        memory = self.settings.memory
        if self._url:
            return fetch(self._url, memory)
        path = self.settings.folder / self._file
        try:
            if path.stat().st_size > LARGEST_BYTES:
                raise SourceDown(f"the file is larger than {LARGEST_BYTES} bytes")
            text = storable(path.read_text(encoding="utf-8", errors="replace"))
        except OSError as error:
            raise SourceDown(f"the file cannot be read: {error.strerror}") from error
        fresh = memory.get("body") != text
        memory["body"] = text
        return Page(text, fresh)


def _plain(location: str) -> str:
    return " ".join(location.split()).casefold()
