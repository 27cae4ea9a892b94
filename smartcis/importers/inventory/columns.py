"""Columns: which list a header belongs to, and what each of its columns holds.

Case, spaces, umlauts and signs of a header do not matter: `Raum-Nr.` is `raumnr`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from smartcis.importers.words import plain

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "sensors": {
        "sid": "sid sensor sensorid sensornr sensornummer",
        "kind": "kind sensorkind sensortype type art typ sensorart sensortyp messgroesse",
        "rid": "rid room roomid roomno roomnumber roomname raum raumnr raumnummer raumname zimmer "
        "zimmernummer location standort ort",
        "mid": "mid machine machineid maschine rechner computer",
        "period_s": "periods period interval intervals intervall intervalls takt takts periode "
        "periodes sekunden seconds",
        "source": "source quelle gateway broker",
        "device": "device deviceid geraet geraeteid deveui",
        "enabled": "enabled active aktiv eingeschaltet",
        "simulated": "simulated simuliert",
    },
    "machines": {
        "mid": "mid machine machineid maschine maschinenid rechner rechnerid pc computerid asset "
        "assettag inventorynumber inventoryno inventarnummer inventarnr",
        "host": "host hostname name computer computername rechnername dnsname",
        "rid": "rid room roomid roomno roomnumber roomname raum raumnr raumnummer raumname zimmer "
        "zimmernummer location standort ort",
        "x_m": "xm x",
        "y_m": "ym y",
        "cpu_type": "cputype cpu processor prozessor cputyp prozessortyp",
        "software": "software programs programme programm installed installiert",
        "simulated": "simulated simuliert",
    },
    "rooms": {
        "rid": "rid room roomid roomno roomnumber raum raumnr raumnummer zimmer zimmernummer",
        "name": "name roomname raumname bezeichnung",
        "category": "category kategorie use usage nutzung nutzungsart roomtype raumtyp type typ",
    },
}
"""Of each list its columns, and the words for them."""
_KEYS = {"sensors": ({"sid"}, {"source", "device"}), "machines": ({"mid"},), "rooms": ({"rid"},)}
_WORDS = {
    thing: {word: column for column, words in columns.items() for word in words.split()}
    for thing, columns in COLUMNS.items()
}


def columns_of(thing: str, header: Sequence[str]) -> list[str]:
    """Returns the column of a list that each header names, empty for none."""
    return [_WORDS[thing].get(re.sub(r"[^a-z0-9]", "", plain(word[:100])), "") for word in header]


def thing_of(header: Sequence[str]) -> str:
    """Returns the list of which a header names most columns, its key among them; empty for none."""
    known = {thing: set(columns_of(thing, header)) - {""} for thing in COLUMNS}
    fits = [thing for thing, keys in _KEYS.items() if any(key <= known[thing] for key in keys)]
    return max(fits, key=lambda thing: len(known[thing]), default="")
