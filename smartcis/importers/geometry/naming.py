"""Naming: give every unit an id people recognise and a URL can carry."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence

_UNSAFE = re.compile(r"[^A-Za-z0-9.]+")
LONGEST = 40  # of an id made of a label
_SPELLED = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
)


def slug(text: str) -> str:
    """Turns a label into an id: `O27/331` becomes `O27-331`."""
    plain = unicodedata.normalize("NFKD", text.translate(_SPELLED))
    return _UNSAFE.sub("-", plain.encode("ascii", "ignore").decode()).strip("-")


def unit_ids(labels: Sequence[tuple[float, str, str]], taken: Collection[str] = ()) -> list[str]:
    """Returns unique ids, the same for the same sequence.

    Args:
        labels: (level ordinal, label, category) per unit, in a stable order.
        taken: ids that others have.

    Returns:
        The label's slug where no other unit has it, else with its level in front, else numbered;
        unlabelled units are called by level, category and number.
    """
    slugs = [slug(label)[:LONGEST].rstrip("-.") for _, label, _ in labels]
    alone = Counter(slugs)
    on_level = Counter((level, one) for (level, _, _), one in zip(labels, slugs, strict=True))
    taken = set(taken)
    numbers: Counter[str] = Counter()
    ids = []
    for (level, _, category), one in zip(labels, slugs, strict=True):
        if one and alone[one] == 1 and one not in taken:
            chosen = one
        else:
            stem = f"L{level}-{one or slug(category)}"
            chosen = stem if one and on_level[level, one] == 1 else ""
            while not chosen or chosen in taken:
                numbers[stem] += 1
                chosen = f"{stem}-{numbers[stem]}"
        taken.add(chosen)
        ids.append(chosen)
    return ids
