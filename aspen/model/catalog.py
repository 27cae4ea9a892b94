"""Catalog: the relations and views a query may name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from aspen.errors import AspenError
from aspen.model.schema import Relation


class UnknownRelation(AspenError, code="aspen.model.unknown_relation"):
    """A relation that no catalog entry names."""


@dataclass(frozen=True)
class Catalog:
    """An immutable set of relations by name."""

    relations: Mapping[str, Relation] = field(default_factory=dict)

    @classmethod
    def of(cls, relations: Iterable[Relation]) -> Catalog:
        """Build a catalog from relations; a later one of the same name replaces the earlier."""
        return cls({relation.name: relation for relation in relations})

    def __iter__(self) -> Iterator[Relation]:
        return iter(self.relations.values())

    def __contains__(self, name: str) -> bool:
        return name in self.relations

    def get(self, name: str) -> Relation:
        """Look a relation up.

        Raises:
            UnknownRelation: nothing of that name; the nearest names come first in `exists`.
        """
        if name in self.relations:
            return self.relations[name]
        names = sorted(self.relations)
        near = get_close_matches(name, names, n=3)
        raise UnknownRelation(
            f"there is no relation {name!r}",
            found=name,
            exists=[*near, *(other for other in names if other not in near)],
            attempt=f"did you mean {near[0]}?" if near else "see the schema browser for the names",
        )

    def with_relation(self, relation: Relation) -> Catalog:
        """Returns a catalog that also holds `relation`."""
        return Catalog({**self.relations, relation.name: relation})
