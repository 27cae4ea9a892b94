"""Examples: queries that run as they stand, from the simplest to a recursive one.

What visitors run of them is shared: one query for all who run the same text, which counts as
nobody's and cannot be stopped by anybody but staff. A text that was changed is one's own.

They stand in `examples.streamsql`, a blank line apart, each below `-- slug: title`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Example:
    """A query to begin with.

    Args:
        slug: what it is known by while its text changes.
        title: in a few words, what it asks.
    """

    slug: str
    title: str
    sql: str


def _read(text: str) -> Iterator[Example]:
    for block in text.strip().split("\n\n"):
        head, sql = block.split("\n", 1)
        slug, title = head.removeprefix("-- ").split(": ", 1)
        yield Example(slug, title, sql)


EXAMPLES = tuple(_read(Path(__file__).with_suffix(".streamsql").read_text(encoding="utf-8")))
_BY_TEXT = {example.sql: example for example in EXAMPLES}


def example_of(sql: str) -> Example | None:
    """Returns the example that a text is, letter by letter; space around it aside."""
    return _BY_TEXT.get(sql.strip().removesuffix(";").rstrip())
