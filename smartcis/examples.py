"""Examples: queries that run as they stand, from the simplest to a recursive one.

What visitors run of them is shared: one query for all who run the same text, which counts as
nobody's and cannot be stopped by anybody but staff. A text that was changed is one's own.
"""

from __future__ import annotations

from dataclasses import dataclass


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


EXAMPLES = (
    Example(
        "locked-doors",
        "Locked doors",
        """SELECT door_id, level_id, x_m, y_m
FROM door
WHERE state = 'locked'""",
    ),
    Example(
        "free-machines",
        "Free machines in each room",
        """SELECT r.name, COUNT(*) AS free
FROM free_machine f
JOIN room r ON r.rid = f.rid
GROUP BY r.name""",
    ),
    Example(
        "free-with-latex",
        "Free machines with LaTeX",
        """SELECT m.host, f.rid
FROM free_machine f
JOIN machine m ON m.mid = f.mid
JOIN machine_software s ON s.mid = f.mid
WHERE s.software = 'LaTeX'""",
    ),
    Example(
        "visitors",
        "Visitors on each floor",
        """SELECT l.name, COUNT(*) AS visitors
FROM visitor_position v
JOIN level l ON l.level_id = v.level_id
GROUP BY l.name""",
    ),
    Example(
        "busy-seats",
        "Busy seats, last two minutes",
        """SELECT m.host, s.weight_kg, s.at_s
FROM seat_reading [PARTITION BY mid ROWS 1 RANGE 120 SECONDS] s
JOIN machine m ON m.mid = s.mid
WHERE s.weight_kg >= 5.0""",
    ),
    Example(
        "temperatures",
        "Temperatures of the last five minutes",
        """SELECT t.sid, t.at_s, t.celsius
FROM temperature_reading [RANGE 5 MINUTES] t""",
    ),
    Example(
        "warm-rooms",
        "Warm rooms, for the map",
        """SELECT r.rid, r.name, c.celsius
FROM room_climate c
JOIN room r ON r.rid = c.rid
WHERE c.celsius >= 23""",
    ),
    Example(
        "too-warm",
        "Alarm: rooms that are too warm (staff)",
        """SELECT c.rid, MAX(c.celsius) AS celsius
FROM room_climate c
GROUP BY c.rid
OUTPUT TO ALARM 'too warm' KEY (rid)
  RAISE WHEN celsius >= 26 FOR 30 SECONDS
  CLEAR WHEN celsius < 25 FOR 60 SECONDS
  NO DATA AFTER 5 MINUTES
  SEVERITY warning""",
    ),
    Example(
        "once",
        "Ask once: rooms by name",
        """ONCE SELECT rid, name, category
FROM room
ORDER BY name
LIMIT 20""",
    ),
    Example(
        "engine",
        "The engine about itself",
        """SELECT q.view, q.state, q.rows, q.sharing, q.holders
FROM sys.queries q
ORDER BY q.rows DESC""",
    ),
    Example(
        "walking",
        "Walking distance from each kiosk (recursive)",
        """WITH RECURSIVE walk(kiosk_id, node, cost_mm) AS (
    SELECT k.kiosk_id, k.node, 0 FROM kiosk k
  UNION
    SELECT w.kiosk_id, p.dst, MIN(w.cost_mm + p.length_mm)
    FROM walk w
    JOIN passable p ON p.src = w.node
    GROUP BY w.kiosk_id, p.dst
)
SELECT w.kiosk_id, m.host, w.cost_mm
FROM walk w
JOIN machine m ON m.node = w.node""",
    ),
)

_BY_TEXT = {example.sql: example for example in EXAMPLES}


def example_of(sql: str) -> Example | None:
    """Returns the example that a text is, letter by letter; space around it aside."""
    return _BY_TEXT.get(sql.strip().removesuffix(";").rstrip())
