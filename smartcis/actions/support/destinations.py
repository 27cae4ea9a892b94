"""Destinations: what may be asked for as the goal of a walk, and the standing views behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

from aspen.errors import AspenError
from aspen.model.catalog import Catalog
from aspen.model.schema import Type
from aspen.streamsql import Compiled, compile_query, compile_views
from smartcis.catalog import CATALOG
from smartcis.errors import Invalid, unknown
from smartcis.models import Destination, Machine, SoftwareInstall, Unit
from smartcis.models.lookup import found
from smartcis.policies import CLOSED, reach

FREE_MACHINE, MACHINE, ROOM = "free-machine", "machine", "room"
BUILT_IN = (FREE_MACHINE, MACHINE, ROOM)
UNION = "destination.streamsql"


def check_goal(goal: str) -> None:
    """Refuses a goal that nothing in the building can answer.

    Raises:
        NotFound: no such software, machine, room or destination.
    """
    kind, colon, name = goal.partition(":")
    if colon and kind in BUILT_IN:
        _CHECKS[kind](name)
    elif not Destination.objects.filter(pk=goal, error__isnull=True).exists():
        slugs = Destination.objects.filter(error__isnull=True).values_list("slug", flat=True)
        raise unknown("destination", goal, [*(f"{one}:…" for one in BUILT_IN), *slugs])


def _check_software(name: str) -> None:
    if not SoftwareInstall.objects.filter(software=name).exists():
        names = SoftwareInstall.objects.order_by().values_list("software", flat=True).distinct()
        raise unknown("software", name, names)


_CHECKS: dict[str, Callable[[str], object]] = {
    FREE_MACHINE: _check_software,
    MACHINE: lambda mid: found(Machine, mid, "machine"),
    ROOM: lambda rid: found(Unit, rid, "room"),
}


def destination_texts(others: Mapping[str, str]) -> dict[str, str]:
    """Returns the standing views of the destinations in the database, and the union of them all.

    One whose query does not compile over the standing views is left out, and its row says why.

    Args:
        others: the standing queries by file name, the union's own branches among them.
    """
    texts, branches = dict[str, str](), [others[UNION].rstrip().removesuffix(";")]
    stored = list(Destination.objects.all())
    beneath = Beneath.of(others) if stored else None
    for one in stored:
        assert beneath is not None
        try:
            compiled, fault = beneath.check(one.sql), None
        except AspenError as error:
            fault = error.as_dict()
        else:
            texts[f"{one.view}.streamsql"] = (
                f"-- {one.name}\nCREATE VIEW {one.view} AS\n{one.sql};\n"
            )
            branches.append(_branch(one, compiled))
        if one.error != fault:
            Destination.objects.filter(pk=one.pk).update(error=fault)
    return {**texts, UNION: "\n  UNION ALL\n".join(branches) + ";\n"}


@dataclass(frozen=True, slots=True)
class Beneath:
    """What queries of destinations are made of: the base relations and the standing views.

    Args:
        reads: what each standing view reads.
    """

    catalog: Catalog
    reads: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Self:
        """Compiles the standing queries."""
        views = compile_views(texts, CATALOG)
        catalog = CATALOG
        for view in views:
            catalog = catalog.with_relation(view.relation)
        return cls(catalog, {str(view.name): tuple(view.sources) for view in views})

    def check(self, sql: str) -> Compiled:
        """Compiles the query of a destination.

        Raises:
            AspenError: it does not compile over the base relations and the standing views.
            Invalid: it lacks a column, or reads what is not for everybody or made of destinations.
        """
        compiled = compile_query(sql, self.catalog)
        kinds = {column.name: column.type for column in compiled.relation.columns}
        if kinds.get("rid") is not Type.TEXT or kinds.get("node") is not Type.INT:
            raise Invalid(
                "the query of a destination has the columns rid and node",
                found=", ".join(f"{name} {kind.name}" for name, kind in kinds.items()),
                exists=["rid TEXT", "node INT", "mid TEXT, where it leads to machines"],
                attempt="SELECT n.rid, n.node FROM routing_node n WHERE …",
            )
        unfit = CLOSED | {UNION.removesuffix(".streamsql")}
        if met := sorted(unfit.intersection(reach(compiled.sources, self.reads))):
            raise Invalid(
                "every visitor may ask for a destination, so its query reads nothing that is not "
                "for everybody, and no destinations",
                found=", ".join(met),
                attempt="leave it out",
            )
        return compiled


def _branch(one: Destination, compiled: Compiled) -> str:
    of_machines = "mid" in compiled.relation.names
    target = "coalesce(d.mid, d.rid)" if of_machines else "d.rid"
    mid = "coalesce(d.mid, '')" if of_machines else "''"
    return (
        f"  SELECT '{one.slug}' AS goal, {target} AS target, d.rid, {mid} AS mid, d.node\n"  # noqa: S608  # slug and view are letters and digits
        f"  FROM {one.view} d"
    )
