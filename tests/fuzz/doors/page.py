"""Pages: of power outlets and of lists of software."""

from __future__ import annotations

import pytest

from aspen.errors import AspenError
from smartcis.sources.sink import check_row
from smartcis.wrappers import pdu, software
from smartcis.wrappers.base import Poller
from smartcis.wrappers.fetch import Page, storable
from smartcis.wrappers.kinds import kind_of
from smartcis.wrappers.protocol import Batch, Contents, Settings, StreamRows
from tests.fuzz.door import Door

ROWS = b"".join(
    b"<tr><td>%d</td><td>Mill %d</td><td>%d.5 W</td></tr>" % (number, number, number * 10)
    for number in range(1, 6)
)
SEEDS = (
    b"<html><head><title>x</title><style>p{}</style></head><body><table>"
    + ROWS
    + b"</table></body>",
    b"<p>Outlet 3: 41,5 Watt</p><p>Outlet 4: 0 W</p><script>1 2 W</script>",
    b"<ul><li>LaTeX | 2025</li><li>host-1 | Python | 3.13</li></ul><pre>vim\nemacs</pre>",
)
WORDS = (
    *(
        b"<td>",
        b"</tr>",
        b"<table>",
        b"<li>",
        b"<br/>",
        b"<script>",
        b"</style>",
        b"<!DOCTYPE",
        b"<?",
    ),
    *(
        b"&amp;",
        b"&#x110000;",
        b"&#xD800;",
        b"&nbsp",
        b"<a href='",
        b"41.5 W",
        b"-1 W",
        b"1e9 W",
        b"]]>",
    ),
    *(b"Outlet 1:", b" | ", b"<td " * 50, b"<" * 200, b"<!" * 100, b"&" * 300, b"1 " * 2_000),
)


class Shown:
    """What readers find instead of fetching it."""

    page = Page("", fresh=True)

    def __call__(self, *_args: object, **_options: object) -> Page:
        return self.page


def door(patch: pytest.MonkeyPatch) -> Door:
    """Returns the door."""
    shown, readers = Shown(), list[Poller]()
    for kind, module in (("pdu", pdu), ("software", software)):
        patch.setattr(module, "fetch", shown)
        config = kind_of(kind).checked({"url": "http://pages.example/"})
        reader = kind_of(kind)(Settings("p", config, 10.0, mid="m1"))
        assert isinstance(reader, Poller)
        readers.append(reader)

    def enter(data: bytes) -> str:
        shown.page = Page(storable(data.decode(errors="replace")), fresh=True)
        outcomes = []
        for reader in readers:
            try:
                reader.poll(_append)
            except AspenError as down:
                outcomes.append(down.code.rpartition(".")[2])
            else:
                outcomes.append("taken")
        return "/".join(outcomes)

    return Door(SEEDS, enter, WORDS, ("words", "words", "lines", "bytes"))


def _append(batch: Batch) -> int:
    match batch:
        case StreamRows(_, relation, rows):
            for row in rows:
                check_row(relation, row)
        case Contents(relation, by_key):
            for row in by_key.values():
                check_row(relation, row)
    return 1
