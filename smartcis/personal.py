"""Personal: the relations that tell where people are, and for how long.

A standing view over them is for everybody, and its text decides what it gives away; whoever else
reads them must be staff, and is noted.
"""

from __future__ import annotations

from smartcis.catalog import CATALOG

POSITIONS_KEPT_S = CATALOG.get("rfid_reading").ttl_s
"""How long the engine holds a position that a reader heard: no window reaches further back."""

PERSONAL = frozenset({"visitor", "rfid_reading", "visitor_heard"})
"""What only staff may read; the last is a standing view that others are made of."""
