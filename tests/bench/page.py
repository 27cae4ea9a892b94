"""The page under load: its frames while 300 visitors move on a floor of 2,000 rooms and doors, and
its memory while its socket is cut again and again.

A building of one floor is written and shown by a product of its own; the simulator walks the
visitors. Frames are those that Chromium hands to the page; memory is what is left after it has
collected its garbage.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page

from tests.bench.browser import chromium, until_live
from tests.bench.report import Target, report
from tests.bench.rig import Rig, manage, running

CORRIDORS, ROOMS_BESIDE = 20, 50
VISITORS, MOVING = 400, 300
"""Of those that are there, some rest where no receiver is near."""
FRAMES_S, QUICK_FRAMES_S = 60, 10
MINUTES, QUICK_MINUTES = 30.0, 0.5
CUT_EVERY_S = 10
SETTLED_S = 20
ROOM_M, CORRIDOR_M = 4.0, 3.0
METRE_DEG = 1 / 111_320
"""Near the equator, where the building stands, a metre is as long to the north as to the east."""

# Keeps the page's newest socket where it can be cut, and no other.
HOLD_SOCKET = """window.WebSocket = class extends WebSocket {
  constructor(...given) { super(...given); window.socket = this; }
};"""
NOTE_FRAMES = """(seconds) => new Promise((done) => {
  const times = [];
  const step = (now) => {
    times.push(now);
    if (now - times[0] < 1000 * seconds) requestAnimationFrame(step);
    else done(times.slice(1).map((time, i) => time - times[i]));
  };
  requestAnimationFrame(step);
})"""
COUNT_FEATURES = """['room', 'door'].map((kind) => `.leaflet-overlay-pane [data-testid^=${kind}-]`)
  .reduce((sum, one) => sum + document.querySelectorAll(one).length, 0)"""
ADD_VISITORS = """
from smartcis.models import Visitor
for number in range({number}):
    Visitor.objects.create(tag=f"walker-{{number}}", consent=Visitor.EXACT)
"""


def run(
    *, quick: bool = False, minutes: float | None = None, say: Callable[[str], Any] = print
) -> dict[str, Any]:
    """Measures it.

    Args:
        minutes: how long sockets are cut.
    """
    minutes = minutes or (QUICK_MINUTES if quick else MINUTES)
    with tempfile.TemporaryDirectory(prefix="smartcis-") as folder:
        plan = Path(folder) / "hall.geojson"
        plan.write_text(json.dumps(building()), encoding="utf-8")
        with running("--building", str(plan)) as rig, chromium() as browser:
            _add_visitors(rig)
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            page.add_init_script(HOLD_SOCKET)
            page.goto(rig.url)
            until_live(page, 120)
            page.wait_for_timeout(1000 * SETTLED_S)
            features = page.evaluate(COUNT_FEATURES)
            say(f"{features} features")
            frames_ms = page.evaluate(NOTE_FRAMES, QUICK_FRAMES_S if quick else FRAMES_S)
            moving = _moving(rig)
            say(f"{moving} visitors, worst frame {max(frames_ms):.0f} ms")
            session = page.context.new_cdp_session(page)
            heap_mb = list(_heap_between_cuts_mb(page, session, minutes))
            say(f"memory of the page, MB: {[round(one, 1) for one in heap_mb]}")
    per_s = 1000 / statistics.median(frames_ms)
    third = max(1, len(heap_mb) // 3)
    growth = statistics.median(heap_mb[-third:]) / statistics.median(heap_mb[:third]) - 1
    return report(
        "page",
        {
            "features": features,
            "visitors": moving,
            "median_frames_per_s": round(per_s, 1),
            "worst_frame_ms": round(max(frames_ms), 1),
            "minutes": minutes,
            "cuts": len(heap_mb),
            "heap_first_mb": round(heap_mb[0], 1),
            "heap_last_mb": round(heap_mb[-1], 1),
        },
        [
            Target("features on the floor", features, 2000, "", at_most=False),
            Target("visitors that move", moving, MOVING, "", at_most=False),
            Target("median frame rate", per_s, 50, "1/s", at_most=False),
            Target("worst frame", max(frames_ms), 100, "ms"),
            Target("growth of memory, last third over first", growth, 0.1, ""),
        ],
    )


def building() -> dict[str, Any]:
    """Returns a floor of rooms with a door each, along corridors that a long one joins: GeoJSON."""
    features = []
    pitch_m = 2 * ROOM_M + CORRIDOR_M
    long_m = ROOMS_BESIDE // 2 * ROOM_M

    def feature(use: str, geometry: dict[str, Any], **more: str) -> None:
        properties = {"geschoss": "EG", "Nutzung": use, **more}
        features.append({"type": "Feature", "properties": properties, "geometry": geometry})

    def area(use: str, name: str, west: float, south: float, east: float, north: float) -> None:
        corners = ((west, south), (east, south), (east, north), (west, north), (west, south))
        ring = [[x * METRE_DEG, y * METRE_DEG] for x, y in corners]
        feature(use, {"type": "Polygon", "coordinates": [ring]}, Raumnummer=name)

    def point(use: str, x: float, y: float, **more: str) -> None:
        place = [x * METRE_DEG, y * METRE_DEG]
        feature(use, {"type": "Point", "coordinates": place}, **more)

    area("Flur", "spine", -CORRIDOR_M, 0, 0, CORRIDORS * pitch_m)
    point("Eingang", -CORRIDOR_M, CORRIDOR_M, name="Entrance")
    for row in range(CORRIDORS):
        south = row * pitch_m
        area("Flur", f"corridor {row}", 0, south + ROOM_M, long_m, south + ROOM_M + CORRIDOR_M)
        point("Tür", 0, south + ROOM_M + CORRIDOR_M / 2)
        for at in range(ROOMS_BESIDE // 2):
            west, middle = at * ROOM_M, (at + 0.5) * ROOM_M
            for side, low in (("S", south), ("N", south + ROOM_M + CORRIDOR_M)):
                area("Büro", f"{row}.{side}{at}", west, low, west + ROOM_M, low + ROOM_M)
                point("Tür", middle, south + ROOM_M + (CORRIDOR_M if side == "N" else 0))
    return {"type": "FeatureCollection", "features": features}


def _add_visitors(rig: Rig) -> None:
    environment = {**os.environ, "SMARTCIS_VAR": str(rig.var)}
    manage(environment, "shell", "-c", ADD_VISITORS.format(number=VISITORS))


def _moving(rig: Rig) -> int:
    return sum(1 for row in rig.rows("visitor_position") if row[5] == "exact")


def _heap_between_cuts_mb(page: Page, session: CDPSession, minutes: float) -> Iterator[float]:
    """Cuts the socket every few seconds; yields the page's memory before each, collected."""
    session.send("HeapProfiler.enable")
    for _ in range(max(2, int(60 * minutes / CUT_EVERY_S))):
        until_live(page)
        session.send("HeapProfiler.collectGarbage")
        yield session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
        page.evaluate("window.socket.close()")
        page.wait_for_timeout(1000 * CUT_EVERY_S)
