"""Page: an HTML page as lines of text, one per table row or block; cells are parted by ` | `.

<tr><td>3</td><td>Mill</td><td>41.5 W</td></tr>      3 | Mill | 41.5 W
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser

from smartcis.wrappers.errors import BadConfig, SourceDown

CELL = " | "
CELLS = 100  # of a row
LINES = 20_000
LINE_LENGTH = 200  # a pattern is tried from any character of it to any other
_UNSEEN = {"script", "style", "template", "title"}
_CELLS = {"td", "th"}
_BREAKS = {"tr", "p", "div", "li", "br", "h1", "h2", "h3", "h4", "table", "dt", "dd", "pre"}


class _Lines(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._cells: list[str] = [""]
        self._in_row = False
        self._unseen = 0

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen += 1
        elif tag in _BREAKS:
            self._end_line()
        elif tag in _CELLS and self._in_row:
            if len(self._cells) < CELLS:
                self._cells.append("")
        elif tag in _CELLS:
            self._in_row, self._cells = True, [""]

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(0, self._unseen - 1)
        elif tag in _BREAKS:
            self._end_line()

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        room = LINE_LENGTH - len(self._cells[-1])
        self._cells[-1] += data[: max(0, room)]

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Passes over `<![…>` as over a comment, as browsers do; Python's own breaks at some."""
        return self.parse_bogus_comment(i, bool(report))

    def close(self) -> None:
        super().close()
        self._end_line()

    def _end_line(self) -> None:
        line = CELL.join(" ".join(cell.split()) for cell in self._cells)[:LINE_LENGTH]
        if line.strip(" |"):
            self.lines.append(line)
            if len(self.lines) > LINES:
                raise SourceDown(f"the page has more than {LINES} lines")
        self._cells, self._in_row = [""], False


def lines_of(html: str) -> list[str]:
    """Returns the page's lines of text; what is not shown is left out.

    Raises:
        SourceDown: more than 20,000: half a page would look as if the rest had gone.
    """
    parser = _Lines()
    parser.feed(html)
    parser.close()
    return parser.lines


def matches(html: str, pattern: str, what: str) -> Iterator[dict[str, str]]:
    """Returns the named groups of every line that fits a pattern.

    Raises:
        SourceDown: no line does: this is not the page it was.
    """
    expression = re.compile(pattern, re.IGNORECASE)
    found = [match for line in lines_of(html) if (match := expression.search(line))]
    if not found:
        raise SourceDown(f"the page lists no {what}", attempt="look at the page and the pattern")
    for match in found:
        yield {name: (value or "").strip() for name, value in match.groupdict().items()}


def pattern_with(pattern: str, groups: Sequence[str]) -> str:
    """Returns a pattern that names what a reader looks for.

    Raises:
        BadConfig: it lacks a group by which the reader knows what it found.
    """
    missing = [name for name in groups if name not in re.compile(pattern).groupindex]
    if missing:
        raise BadConfig(
            f"the pattern has no group {missing[0]!r}",
            found=pattern[:80],
            exists=[f"(?P<{name}>…)" for name in groups],
        )
    return pattern
