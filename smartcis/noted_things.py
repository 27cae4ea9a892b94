"""What the notes of an import are about, in the language of the page that shows them."""

from __future__ import annotations

import re

from django.utils.translation import gettext_lazy as _

COUNTED = re.compile(r"(\d+ )?(.*)")

THINGS = {
    "amenity": _("amenity"),
    "building": _("building"),
    "cell": _("cell"),
    "corridors": _("corridors"),
    "door": _("door"),
    "doors": _("doors"),
    "elevator": _("lift"),
    "entrance": _("entrance"),
    "entrances": _("entrances"),
    "escalator": _("escalator"),
    "feature": _("feature"),
    "file": _("file"),
    "fixture": _("fixture"),
    "footprint": _("footprint"),
    "id": _("id"),
    "label": _("label"),
    "lengths": _("lengths"),
    "level": _("level"),
    "level outline": _("level outline"),
    "levels": _("levels"),
    "lift": _("lift"),
    "opening": _("opening"),
    "openings": _("openings"),
    "outline": _("outline"),
    "path": _("path"),
    "point": _("point"),
    "position": _("position"),
    "ramp": _("ramp"),
    "relationship": _("relationship"),
    "riser": _("riser"),
    "rooms": _("rooms"),
    "solid": _("solid"),
    "space": _("space"),
    "stairs": _("stairs"),
    "step": _("step"),
    "stop": _("stop"),
    "storey": _("storey"),
    "unit": _("unit"),
    "way": _("way"),
    "way outdoors": _("way outdoors"),
}


def thing(what: str) -> str:
    """Returns what a note is about: `3 doors`, or a file's own word as it is."""
    found = COUNTED.fullmatch(what)
    count, word = (found[1] or "", found[2]) if found else ("", what)
    return f"{count}{THINGS.get(word, word)}"
