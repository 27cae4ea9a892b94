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
        "sensor_reading",
        "stream_rate",
        "temperature_histogram",
    }
)
"""Views that take what comes by and ask no device for it: looking must not change the load."""

ON_DEMAND = frozenset(
    {
        "cut_off_room",
        "leavable_room",
        "machine_load",
        "machine_task",
        "mote_health",
        "nearest_exit",
        "room_air",
        "room_booking",
        "room_exit",
        "room_occupancy",
        "room_power",
        "sensor_reading",
        "way_out",
        "way_out_next",
        "way_out_step",
        "way_out_walk",
    }
)
"""Views that the engine keeps only while somebody looks; until then they have neither operators
nor rows, and no device measures for them. Only other views of this kind read them."""


def standing_queries(folder: Path = FOLDER) -> dict[str, str]:
    """Returns the text of every standing query by file name, sorted."""
    return {
        path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.streamsql"))
    }


def comment_of(text: str) -> str:
    """Returns the leading comment of a standing query, as one line for the schema browser."""
    head = [line.removeprefix("--").strip() for line in text.splitlines() if line.startswith("--")]
    return " ".join(head)[:300]
