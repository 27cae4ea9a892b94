"""Words: what the kinds of things that drawings name are, in any format and several languages.

A word is looked up whole, then by its parts from the last: `male_restroom`, `Office 3`, `IfcDoor`.
Categories are those of IMDF units, so that one table of the product's own serves every format.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum


class Role(StrEnum):
    """What a drawn thing is to somebody who walks."""

    SPACE = "space"
    SOLID = "solid"  # walls and windows: they bound rooms
    VOID = "void"  # nobody walks there, and no room ends there
    DOOR = "door"
    ENTRANCE = "entrance"
    PATH = "path"
    OUTLINE = "outline"  # of a level
    BUILDING = "building"
    FIXTURE = "fixture"
    NOTHING = "nothing"


_ROLES: dict[Role, str] = {
    Role.SOLID: "wall walls brick concretewall drywall glass wood structure window windows "
    "partition facade curtain mur wand fenster curtainwall exteriorwall interiorwall fence "
    "mauer pared muro muur",
    Role.VOID: "column pillar opentobelow void hole shaft_void floor_opening inaccessible_space "
    "inaccessible airspace luftraum unreachable nonnavigable nonnavigablespace obstacle "
    "no_access solid beam chimney",
    Role.DOOR: "door doors opening gate portal doorway tuer tur porte puerta porta "
    "connectionspace connectionboundary deur passage_opening",
    Role.ENTRANCE: "entrance entry exit entrances eingang ausgang entree entrada anchorspace "
    "anchorboundary hauseingang main_entrance ingresso building_entrance",
    Role.PATH: "path pathway walkpath route footway edge walking_path navpath centerline "
    "centreline network weg traversal",
    Role.OUTLINE: "building_outline outline level floor floorplan storey floor_outline perimeter "
    "boundary slab geschoss indoor_level level_outline floor_area",
    Role.BUILDING: "building footprint gebaeude batiment edificio building_footprint",
    Role.FIXTURE: "desk table chair furniture fixture counter kiosk shelf sofa bed instancedentity "
    "equipment moebel seat workstation cabinet obstruction stand plant",
    Role.NOTHING: "detail section geofence address annotation dimension text grid label light tree "
    "handrail railing ceiling roof cladding",
}
_CATEGORIES: dict[str, str] = {
    "walkway": "walkway corridor hallway hall_way aisle passage passageway gang flur korridor "
    "couloir pasillo corridoio circulation verkehrsflaeche verkehrsflache horizontalpassage arcade "
    "landing path_area gangway transit hallway_area diele walkable pedestrian concourse_corridor "
    "generalcorridor flure couloirs pasillos halle",
    "lobby": "lobby vestibule vestibuel eingangshalle "
    "reception empfang windfang airlock "
    "foyer_entrance entrance_hall entrancehall hall_entree",
    "foyer": "foyer atrium",
    "concourse": "concourse mall",
    "stairs": "stairs stair staircase stairway stairwell steps treppe treppen treppenhaus escalier "
    "escalera scala stairflight stairs_area fluchttreppe trap verticalpassage",
    "escalator": "escalator rolltreppe escalators",
    "elevator": "elevator elevators lift aufzug ascenseur ascensor ascensore fahrstuhl lifts "
    "elevator_shaft liftshaft transportelement aufzugsschacht",
    "ramp": "ramp rampe rampa rampflight",
    "movingwalkway": "movingwalkway moving_walkway travelator",
    "restroom": "restroom toilet toilets bathroom wc washroom lavatory sanitaer toilette bano "
    "toiletten bagno lavabo",
    "restroom.male": "restroom.male male_restroom mens men herren",
    "restroom.female": "restroom.female female_restroom womens women damen",
    "restroom.unisex": "restroom.unisex",
    "restroom.wheelchair": "restroom.wheelchair accessible_toilet",
    "office": "office offices buero bureau oficina ufficio workspace coworking kantoor buroraum",
    "conferenceroom": "conferenceroom conference meeting meetingroom meeting_room besprechung "
    "boardroom konferenz sitzungszimmer seminar seminarraum",
    "classroom": "classroom class lecture lecturehall lecture_hall hoersaal unterricht schulzimmer "
    "klassenzimmer aula klassenraum",
    "auditorium": "auditorium theatre_hall",
    "laboratory": "laboratory lab labor laboratoire laboratorio",
    "library": "library bibliothek bibliotheque biblioteca",
    "kitchen": "kitchen kitchenette kueche cuisine cocina cucina teekueche pantry",
    "foodservice": "foodservice cafe cafeteria canteen restaurant mensa kantine bar food",
    "storage": "storage store_room storeroom lager archive archiv abstellraum depot closet magazin",
    "serverroom": "serverroom server technical technik electrical it_room hvac mechanical utility "
    "haustechnik plantroom technicalroom",
    "lounge": "lounge waiting waitingroom waiting_room wartezimmer break aufenthalt",
    "shop": "shop retail store laden boutique",
    "parking": "parking garage carpark tiefgarage",
    "terrace": "terrace balcony terrasse balkon balcon patio",
    "nonpublic": "nonpublic private",
    "room": "room rooms raum zimmer salle sala piece space area bedroom unit zone cell cellspace "
    "generalspace indoor chambre habitacion camera cubicle suite apartment wohnung living dining "
    "internal",
    "unspecified": "unspecified yes userdefined notdefined undefined",
}
# IMDF's own categories that stand in no list above: every one is a space.
_IMDF = (
    "fieldofplay firstaid fitnessroom footbridge huddleroom laundryroom mailroom mothersroom "
    "movietheater phoneroom platform privatelounge recreation restroom.family restroom.transgender "
    "road shower smokingarea theater unenclosedarea vegetation walkway.island waitingroom"
)
_TABLE: dict[str, tuple[Role, str]] = {
    **{word: (role, "") for role, words in _ROLES.items() for word in words.split()},
    **{word: (Role.SPACE, name) for name, words in _CATEGORIES.items() for word in words.split()},
    **{word: (Role.SPACE, word) for word in _IMDF.split()},
    **{category: (Role.SPACE, category) for category in _CATEGORIES},
}

CATEGORIES = tuple(sorted({*_CATEGORIES, *_IMDF.split()}))
"""Unit categories of IMDF: what a space can be."""
CONNECTORS = {"stairs": "stairs", "elevator": "lift", "escalator": "escalator", "ramp": "ramp"}
"""Those that join levels, and what people call them."""

_ROOM = (Role.SPACE, "room")
_SPELLED: dict[int, str] = {
    ord(sign): spelled
    for sign, spelled in zip("äöüÄÖÜß", ("ae", "oe", "ue", "Ae", "Oe", "Ue", "ss"), strict=True)
}


def plain(word: str) -> str:
    """Returns a word in lower-case ASCII, its parts joined by underscores."""
    spelled = word.translate(_SPELLED)
    spelled = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", spelled)
    ascii_ = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9.]+", "_", ascii_).strip("_.")


def meaning(word: object) -> tuple[Role, str] | None:
    """Returns the role a word names, and the category of a space; None for an unknown word.

    >>> meaning("Male_Restroom"), meaning("IfcDoor"), meaning("Büro 12"), meaning("zork")
    ((<Role.SPACE: 'space'>, 'restroom.male'), (<Role.DOOR: 'door'>, ''), \
(<Role.SPACE: 'space'>, 'office'), None)
    """
    if not isinstance(word, str) or not word.strip():
        return None
    text = plain(word[:100])
    for whole in (text, text.replace("_", ""), text.removesuffix("s")):
        if whole in _TABLE:
            return _TABLE[whole]
    parts = [part for part in text.split("_") if part and not part.isdigit() and part != "ifc"]
    for size in (2, 1):
        for at in range(len(parts) - size, -1, -1):
            found = _TABLE.get("_".join(parts[at : at + size]))
            # "area", "room" and "space" say nothing that an earlier part may not say better.
            if found and (found[1] != "room" or len(parts) == 1):
                return found
    return _ROOM if any(_TABLE.get(part) == _ROOM for part in parts) else None


def category_of(*words: object) -> str:
    """Returns the category of a space that is called by these words, `room` when none is known."""
    for word in words:
        found = meaning(word)
        if found and found[0] is Role.SPACE and found[1] not in {"room", "unspecified"}:
            return found[1]
    return "room"
