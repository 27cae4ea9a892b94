"""The relations of the seeds' section 3.1, and its programs as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aspen.model.catalog import Catalog
from aspen.model.delta import Delta
from aspen.model.schema import Column, Relation, Type
from aspen.streamsql import Compiled
from tests.oracle import evaluate

PROGRAMS = Path(__file__).parent / "programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.overlog"))


def _relation(name: str, **columns: Type | tuple[Type, str]) -> Relation:
    made = (
        Column(column, *kind) if isinstance(kind, tuple) else Column(column, kind)
        for column, kind in columns.items()
    )
    return Relation(name, tuple(made))


CATALOG = Catalog.of(
    [
        _relation("link", src=Type.TEXT, dst=Type.TEXT),
        _relation("channel", src=Type.TEXT, dst=Type.TEXT, mbit=Type.INT),
        _relation("near", sid=Type.TEXT, other=Type.TEXT),
        _relation("region_seed", region_id=Type.TEXT, sid=Type.TEXT),
        _relation("triggered", sid=Type.TEXT),
        _relation("temperature", sid=Type.TEXT, celsius=(Type.FLOAT, "°C")),
        _relation("tree", child=Type.TEXT, parent=Type.TEXT),
        _relation("blocked", node=Type.TEXT),
    ]
)


def text_of(name: str, suffix: str) -> str:
    """Read a program file."""
    return (PROGRAMS / f"{name}.{suffix}").read_text(encoding="utf-8")


def answers(views: list[Compiled], tables: Mapping[str, Delta]) -> dict[str, Delta]:
    """Evaluate views from scratch, each over those before it."""
    contents = dict(tables)
    for view in views:
        assert view.name is not None
        contents[view.name] = evaluate(view.plan, contents)
    return {view.name: contents[view.name] for view in views if view.name is not None}
