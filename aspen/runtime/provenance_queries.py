"""Questions: what can be asked about the rows of a lane's views, between two epochs.

why          a row that is there       the base rows it rests on
why_not      one that is not           what would have to come or go
what_if      base rows come or go      the view's change, nothing kept
weak_points  some rows                 the base rows that take most of them along
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches

from aspen.errors import AspenError, as_aspen_error
from aspen.log.entry import Change
from aspen.model.delta import Delta, accumulate, merge
from aspen.model.schema import Relation, Row, SchemaError, SourceKind
from aspen.results.wire import encode_row
from aspen.runtime.own_relations import OWN_RELATIONS
from aspen.runtime.rows import RowCheck
from aspen.runtime.view import BrokenView, View
from aspen.runtime.views import Views
from aspen.views.circuit import Circuit
from aspen.views.compile import UnknownSource
from aspen.views.derivations import BaseRow
from aspen.views.node import Indices, Node
from aspen.views.pattern import ANY, Pattern, fits
from aspen.views.present import Facts, Moved
from aspen.views.repair import WhyNot
from aspen.views.weak_points import WeakPoints, weak_points
from aspen.views.what_if import HypotheticalFailed, Leaf, hypothetical
from aspen.views.why import Why, why
from aspen.views.why_not import why_not
from aspen.views.work import WorkExceeded

_NAMED = 5
_SHOWN = 200


class UnknownView(AspenError, code="aspen.runtime.unknown_view"):
    """A question about a view that is not maintained."""


class SuspendedView(AspenError, code="aspen.runtime.suspended_view"):
    """A question about a view that is kept on demand, while nobody looks at it."""


class NoSuchRow(AspenError, code="aspen.runtime.no_such_row"):
    """A question about a row that the view does not hold."""


class NoSuchBaseRow(AspenError, code="aspen.runtime.no_such_base_row"):
    """A hypothetical deletion of a row that is not there."""


class RowIsThere(AspenError, code="aspen.runtime.row_is_there"):
    """A question why a row is missing that is there."""


class ProvenanceQueries:
    """The answers of one lane, over its views and declared relations."""

    def __init__(self, views: Views, circuit: Circuit, relations: Mapping[str, Relation]) -> None:
        self._views = views
        self._circuit = circuit
        self._relations = relations
        self._lost: list[tuple[View, Delta]] = []

    def take_lost(self) -> list[tuple[View, Delta]]:
        """Returns the views that hypothetical updates broke for good, and the end of their rows."""
        lost, self._lost = self._lost, []
        return lost

    def why(self, view: str, row: Row) -> Why:
        """Returns the minimal sets of deletable base rows that each suffice for a row of a view.

        Raises:
            NoSuchRow: the view has no such row.
            AspenError: see `node`.
        """
        try:
            return why(self.node(view), row + self._views.by_name[view].values)
        except KeyError as error:
            raise self._no_such_row(view, row) from error

    def why_not(self, view: str, wanted: Pattern) -> WhyNot:
        """Returns what would have to come or go for a row of a pattern to appear in a view.

        Raises:
            RowIsThere: the view has such a row.
            SchemaError: the pattern has another shape than the view's rows.
            AspenError: see `node`.
        """
        self.node(view)
        rows = self._views.by_name[view].rows
        there = next((row for row in rows if fits(row, wanted)), None)
        if there is not None:
            raise RowIsThere(
                f"view {view} has such a row",
                found=repr(there)[:_SHOWN],
                attempt="ask why it is there",
            )
        plan = self._views.by_name[view].closed
        assert plan is not None
        if len(wanted) != len(plan.columns):
            raise SchemaError(
                f"view {view} has {len(plan.columns)} columns",
                found=f"{len(wanted)} values",
                exists=[column.name.split(".")[-1] for column in plan.columns],
            )
        for column, value in zip(plan.columns, wanted, strict=True):
            if value is not ANY and value is not None:
                column.check(value)  # type: ignore[arg-type]
        try:
            return why_not(plan, wanted, self._facts(view, wanted))
        finally:
            self._circuit.collect()

    def what_if(self, view: str, changes: Sequence[Change], wanted: Pattern = ()) -> Delta:
        """Returns a view's change under changes of base rows, which are not made.

        Args:
            changes: a stream row inserted counts as one that arrives now.
            wanted: rows of interest; empty for all.

        Raises:
            AspenError: see `node`.
            UnknownSource: a change of a relation that is not declared.
            SchemaError: a row of another shape than its relation's.
            NoSuchBaseRow: a row goes that is not there.
            HypotheticalFailed: an operator cannot process the change.
        """
        delta = self._hypothetical(view, self._leaves(changes))
        own = self._views.by_name[view].own(delta)
        return {row: w for row, w in own.items() if not wanted or fits(row, wanted)}

    def weak_points(
        self, view: str, wanted: Pattern = (), by: Indices = (), among: Collection[str] = ()
    ) -> WeakPoints:
        """Rank base rows by how many of a view's rows would go with each.

        Args:
            wanted: the rows in question; empty for all.
            by: columns counted by, empty for whole rows: see `aspen.views.weak_points`.
            among: base relations whose rows may be such points; empty for all.

        Raises:
            AspenError: see `node`.
            TooMuchToWeigh: the rows have too many derivations.
        """
        node, asked = self.node(view), self._views.by_name[view]
        rows = [row + asked.values for row in asked.rows if not wanted or fits(row, wanted)]
        return weak_points(node, rows, by, lambda base: self._without(view, base), among=among)

    def node(self, name: str) -> Node:
        """Returns the node that has a view's rows.

        Raises:
            UnknownView: there is no such view.
            SuspendedView: nobody looks at it.
            BrokenView: the view is in error.
        """
        view = self._views.by_name.get(name)
        if view is None:
            names = sorted(self._views.by_name)
            raise UnknownView(
                f"there is no view {name[:60]!r}",
                found=name[:60],
                exists=get_close_matches(name, names, n=_NAMED) or names[:_NAMED],
                attempt="ask about a view that is maintained",
            )
        if view.suspended:
            raise SuspendedView(
                f"nobody looks at view {name}, so it holds no rows",
                found=name,
                attempt="follow it, and ask again",
            )
        if view.node is None:
            raise BrokenView(
                f"view {name} is not maintained, so it holds no rows",
                found=name,
                attempt=f"mend {name} first",
            )
        return view.node

    def relation(self, name: str) -> Relation:
        """Returns a declared relation.

        Raises:
            UnknownSource: it is not declared.
        """
        relation = self._relations.get(name)
        if relation is None:
            raise UnknownSource(
                f"there is no relation {name[:60]!r}",
                found=name[:60],
                exists=get_close_matches(name, sorted(self._relations), n=_NAMED),
                attempt="name a base relation, not a view",
            )
        return relation

    def times(self, relation: str, row: Row) -> int:
        """Returns how often a base relation holds a row; a reading counts once."""
        source = self._circuit.sources.get(relation)
        return 1 if source is None else source.table.get(row, 0)

    def _facts(self, view: str, wanted: Pattern) -> Facts:
        def appears(changes: Sequence[Moved]) -> bool:
            try:
                delta = self.what_if(view, [Change(*change) for change in changes], wanted)
            except WorkExceeded:
                raise
            except AspenError:  # what cannot be maintained shows no row
                return False
            return any(weight > 0 for weight in delta.values())

        # Parts of a maintained plan are found as the plan is maintained.
        find, spend = self._views.find, self._circuit.meter.spend
        return Facts(find, self.relation, self.times, appears, OWN_RELATIONS, spend)

    def _no_such_row(self, name: str, row: Row) -> NoSuchRow:
        return NoSuchRow(
            f"view {name} has no such row now",
            found=encode_row(row)[:_SHOWN],
            exists=[f"{column} {kind}" for column, kind, _ in self._views.by_name[name].columns],
            attempt="take a row the view holds; it may have changed in the meantime",
        )

    def _without(self, view: str, base: BaseRow) -> Delta:
        change = Change(base[0], -self.times(*base), base[1])
        return self._hypothetical(view, self._leaves([change]))

    def _hypothetical(self, view: str, changes: Mapping[Leaf, Delta]) -> Delta:
        """Run a dry epoch; whatever it broke is built anew."""
        node = self.node(view)
        found = hypothetical(self._circuit, changes, node)
        if found.failed:
            errors = {node: node.failure for node in found.failed}
            self._mend(set(errors))
            reason = errors.get(node) or next(iter(errors.values()))
            if node in errors:
                raise HypotheticalFailed(
                    f"under that update {view} cannot be maintained: {reason}",
                    attempt="change fewer rows",
                )
        self._circuit.meter.spend(0, "supposing changes")
        return found.delta

    def _mend(self, broken: set[Node]) -> None:
        for view in list(self._views.by_name.values()):
            if view.node in broken:
                try:
                    self._views.reopen(view)
                except Exception as error:  # noqa: BLE001 - no question may stop the lane
                    self._lost.append((view, self._views.fail(view, as_aspen_error(error))))

    def _leaves(self, changes: Iterable[Change]) -> dict[Leaf, Delta]:
        """Returns what changes of base rows are at the leaves of the circuit."""
        tables: dict[str, Delta] = {}
        leaves: dict[Leaf, Delta] = {}
        for change in changes:
            relation = self.relation(change.relation)
            if relation.kind is SourceKind.STREAM:
                for window in self._circuit.windows():
                    if window.stream == relation.name:
                        row = self._stream_row(relation, change)
                        merge(
                            leaves.setdefault(window, {}), window.hypothetical(row, change.weight)
                        )
            else:
                row = RowCheck(relation)(change.row)
                accumulate(tables.setdefault(relation.name, {}), row, change.weight)
        for name, moves in tables.items():
            source = self._circuit.sources[name]
            for row, weight in moves.items():
                if source.table.get(row, 0) + weight < 0:
                    raise NoSuchBaseRow(
                        f"relation {name} has no such row to lose",
                        found=repr(row)[:_SHOWN],
                        exists=source.relation.names,
                        attempt="take a row as the answer to a question gives it",
                    )
            leaves[source] = moves
        for leaf, moves in leaves.items():
            held = leaf.contents()
            for row in [row for row, weight in moves.items() if held.get(row, 0) + weight < 0]:
                # It was pushed out by an arrival and named as going besides.
                moves[row] = -held.get(row, 0)
        return leaves

    @staticmethod
    def _stream_row(relation: Relation, change: Change) -> Row:
        # What goes may be a row as a window holds it, which need not be the whole stream row.
        return change.row if change.weight < 0 else RowCheck(relation)(change.row)
