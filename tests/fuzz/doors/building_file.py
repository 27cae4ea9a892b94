"""Building files: an archive with one file spoilt; refused whole, or imported whole."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from smartcis.importers.derive import derive
from smartcis.importers.errors import ImportRefused
from smartcis.importers.formats import drawing_of
from smartcis.importers.run import run
from smartcis.models import OutboxEntry, Unit
from tests.fuzz.door import Door, Fault
from tests.importers.conftest import entrance, opening, unit, write_archive

STORED_ONE_IN = 10  # storing takes longer than reading
KINDS = ("venue", "level", "unit", "amenity", "opening", "smartcis")
WORDS = (
    b'"coordinates"',
    b'"Polygon"',
    b'"ordinal"',
    b'"level_id"',
    b"[0,0]",
    b'"geometry"',
    b"181",
)


def door(folder: Path) -> Door:
    """Returns the door.

    Args:
        folder: where archives are written.
    """
    units = [unit("corridor", (0, 5, 8, 2), "walkway"), unit("N0", (0, 7, 4, 5))]
    units += [unit("N1", (4, 7, 4, 5)), unit("S0", (0, 0, 4, 5))]
    whole = write_archive(folder / "whole", units, [entrance(0, 6)], openings=[opening(2, 7)])
    (whole / "smartcis.json").write_text('{"slug": "h", "name": "H", "level_height_m": 3.5}')
    seeds = [
        json.dumps({"kind": kind}).encode() + b"\n" + (whole / f"{kind}.json").read_bytes()
        for kind in KINDS
    ]

    def enter(data: bytes) -> str:
        head, _, body = data.partition(b"\n")
        kind = next((one for one in KINDS if one.encode() in head), "unit")
        spoilt = folder / "spoilt"
        if not spoilt.exists():
            shutil.copytree(whole, spoilt)
        kept = (whole / f"{kind}.json").read_bytes()
        try:
            (spoilt / f"{kind}.json").write_bytes(body)
            stored = hashlib.sha256(data).digest()[0] % STORED_ONE_IN == 0
            return _stored(spoilt) if stored else _read(spoilt)
        finally:
            (spoilt / f"{kind}.json").write_bytes(kept)

    return Door(seeds, enter, WORDS, ("json", "json", "json", "words", "bytes"))


def _read(folder: Path) -> str:
    try:
        derive(drawing_of(folder))
    except ImportRefused as refused:
        return refused.code
    return "taken"


def _stored(folder: Path) -> str:
    before = _state()
    try:
        run(folder)
    except ImportRefused as refused:
        if _state() != before:
            raise Fault("a refused archive was imported in part") from refused
        return refused.code
    return "stored"


def _state() -> tuple[int, int, tuple[str, ...]]:
    units = tuple(Unit.objects.order_by("pk").values_list("pk", flat=True))
    return Unit.objects.count(), OutboxEntry.objects.count(), units
