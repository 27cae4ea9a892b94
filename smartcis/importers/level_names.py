"""Level names: which floor people mean by `EG`, `2. OG`, `B1`, `First Floor`, `0;1`, `-1-3`."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

LOWEST, HIGHEST = -20.0, 250.0
NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({NUMBER})\s*(?:-|\.\.|\u2013|to|bis)\s*({NUMBER})")
_WORDS: dict[str, float] = {
    **dict.fromkeys(("eg", "erdgeschoss", "parterre", "ground", "ground floor", "gf", "g"), 0.0),
    **dict.fromkeys(("ground level", "gl", "rc", "rdc", "rez de chaussee", "pb", "pt"), 0.0),
    **dict.fromkeys(("planta baja", "piano terra", "begane grond", "bg", "lobby level"), 0.0),
    **dict.fromkeys(("ug", "basement", "keller", "kg", "untergeschoss", "lower ground"), -1.0),
    **dict.fromkeys(("sous sol", "sotano", "lower ground floor", "lg", "cellar", "b"), -1.0),
    **dict.fromkeys(("og", "obergeschoss", "upper floor"), 1.0),
    **dict.fromkeys(("mezzanine", "mezz", "m", "zg", "zwischengeschoss", "entresol"), 0.5),
}
_ORDER = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_BELOW = re.compile(
    r"^(?:b|ug|basement|kg|untergeschoss|ss|sous sol|sotano|p|parking|lg)(?:level|floor)?\s*(\d+)$"
    r"|^(\d+)\s*(?:ug|kg|untergeschoss|sous sol|sotano|basement)$"
)
_ABOVE = re.compile(
    rf"^(?:l|lvl|level|floor|fl|f|storey|story|stockwerk|etage|geschoss|stock|piso|planta|piano|"
    rf"nivel|niveau|ebene|og|e|floor level)\s*({NUMBER})$"
    rf"|^({NUMBER})\s*(?:st|nd|rd|th|e|er|eme|o|a)?\s*"
    rf"(?:f|fl|floor|level|storey|story|stock|stockwerk|etage|og|obergeschoss|geschoss|piso|planta|piano|f)?$"
)


def level_of(label: object) -> float | None:
    """Returns the ordinal a label means, 0 at the ground; None when it means none by itself.

    European counting: the first floor is above the ground floor.

    >>> [level_of(one) for one in ("EG", "2. OG", "B1", "First Floor", 3, "0.5", "west wing")]
    [0.0, 2.0, -1.0, 1.0, 3.0, 0.5, None]
    """
    if isinstance(label, bool):
        return None
    if isinstance(label, int | float):
        return float(label) if LOWEST <= label <= HIGHEST else None
    if not isinstance(label, str):
        return None
    text = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode().lower()
    text = re.sub(r"(?<=\d),(?=\d)", ".", text.strip())
    if re.fullmatch(rf"\+?{NUMBER}", text):
        return level_of(float(text.removeprefix("+")))
    text = re.sub(
        r"(?<!\d)\.|\.(?!\d)|['\"_()#/]|(?<=[a-km-z])-|(?<=[a-z]l)-|(?<=\s)-(?=\s)", " ", text
    )
    text = re.sub(r"\s+", " ", text).strip()
    if match := re.fullmatch(rf"l ?({NUMBER})", text):
        return level_of(float(match[1]))
    if text in _WORDS:
        return _WORDS[text]
    for number, word in enumerate(_ORDER, start=1):
        if text in {word, f"{word} floor", f"{word} level", f"floor {word}"}:
            return float(number)
    if match := _BELOW.match(text):
        return level_of(-float(match[1] or match[2]))
    if match := _ABOVE.match(text):
        return level_of(float(match[1] or match[2]))
    return None


def level_in(text: str) -> float | None:
    """Returns the ordinal that the name of a file or a feature ends or begins with.

    >>> [level_in(one) for one in ("house-floor-gf", "level_2_rooms", "EG.geojson", "desks")]
    [0.0, 2.0, 0.0, None]
    """
    stem = re.sub(r"\.[a-z]{2,7}$", "", text.lower())
    parts = [part for part in re.split(r"[\s_/]+|(?<=[a-z0-9])-+", stem) if part]
    for size in (2, 1):
        for at in range(len(parts) - size, -1, -1):
            words = " ".join(parts[at : at + size])
            alone = size == 1 and len(parts) > 1
            if alone and (words in {"g", "m", "b", "pt", "rc", "bg"} or words.isdigit()):
                continue
            found = level_of(words)
            if found is not None:
                return found
    digits = [part for part in parts if re.fullmatch(NUMBER, part)]
    return level_of(digits[-1]) if len(digits) == 1 else None


def levels_of(text: object, known: Sequence[float] = ()) -> list[float]:
    """Returns the ordinals of a list or range, ascending: `0;1`, `0-3`, `-2--1`, `0.5`.

    Args:
        text: as tagged.
        known: levels of the building; those inside a range belong to it.

    >>> levels_of("-1-1;2.5")
    [-1.0, 0.0, 1.0, 2.5]
    """
    if isinstance(text, list | tuple):
        return sorted({level for one in text for level in levels_of(one, known)})
    if not isinstance(text, str):
        single = level_of(text)
        return [] if single is None else [single]
    found: set[float] = set()
    for raw in re.split(r"[;|]|,\s+|,(?=-?\d+(?:[;,]|$))", text):
        part = raw.strip()
        if match := re.fullmatch(_RANGE, part):
            low, high = sorted((float(match[1]), float(match[2])))
            if low >= LOWEST and high <= HIGHEST:
                found |= {low, high}
                found |= {float(n) for n in range(math.ceil(low), math.floor(high) + 1)}
                found |= {level for level in known if low <= level <= high}
        else:
            single = level_of(part)
            if single is not None:
                found.add(single)
    return sorted(found)


def tidy(ordinal: float) -> float:
    """Returns a whole ordinal as a whole number, so that it prints as people write it."""
    return int(ordinal) if float(ordinal).is_integer() else round(ordinal, 2)


def level_id(ordinal: float) -> str:
    """Returns the id of a level: `L0`, `L-1`, `L0.5`."""
    return f"L{tidy(ordinal)}"
