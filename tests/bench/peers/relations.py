"""The relations of all cases: columns by name, every one a whole number."""

from __future__ import annotations

RELATIONS: dict[str, tuple[str, ...]] = {
    "link": ("src", "dst", "cost"),
    "origin": ("node",),
    "region_seed": ("seed", "node"),
    "triggered": ("node",),
    **{f"part{n}": ("item", "v") for n in range(7)},
    "made": ("var", "obj"),
    "assigned": ("var", "of"),
    "stored": ("base", "of"),
    "loaded": ("var", "base"),
}
