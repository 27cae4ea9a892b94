"""The standing queries: one `.streamsql` file per view, in this folder."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent

LISTENING = frozenset(
    {
        "energy_histogram",
        "light_histogram",
        "newest_contact",
        "newest_humidity",
        "seat_histogram",
        "stream_rate",
        "temperature_histogram",
    }
)
"""Views that take what comes by and ask no device for it: looking must not change the load."""


def standing_queries(folder: Path = FOLDER) -> dict[str, str]:
    """Returns the text of every standing query by file name, sorted."""
    return {
        path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.streamsql"))
    }
